#!/usr/bin/env python3
"""detect.py COIL_TOPO DATA: machines as Linux's /sys describes them.

Reads two recorded trees of DATA, a tree made here with GPUs and cards behind PCI switches, and the machine
that the test runs on.
"""

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def run(tool, *arguments, code=0):
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: exit status {done.returncode}\n{done.stderr}{done.stdout}")
    return done


def expect(what, found, expected):
    if found != expected:
        raise AssertionError(f"{what}: expected {expected}, found {found}")


def check_recorded(tool, data, folder):
    for name in ("sysfs_ac922_6gpu", "sysfs_intel40_ib"):
        with tarfile.open(data / f"{name}.tar.bz2") as archive:
            archive.extractall(folder / name)
    power = json.loads(run(tool, "detect", "--sysfs", next((folder / "sysfs_ac922_6gpu").glob("*/sys"))).stdout)
    expect("POWER9's domains", power["numaids"], [0, 8])
    expect("POWER9's GPUs", [(gpu["busid"], gpu["numaid"]) for gpu in power["gpus"]],
           [("0004:05:00.0", 0), ("0004:06:00.0", 0), ("0006:00:00.0", 0),
            ("0007:00:00.0", 8), ("0035:04:00.0", 8), ("0035:05:00.0", 8)])

    done = run(tool, "detect", "--sysfs", next((folder / "sysfs_intel40_ib").glob("*/sys")))
    intel = json.loads(done.stdout)
    expect("Intel's domains", intel["numaids"], [0, 1, 2, 3])
    expect("Intel's cores", intel["cores"], 40)
    ports = {port["name"]: port["bandwidth"] for nic in intel["nics"] for port in nic["ports"]}
    expect("Intel's ports", {name: ports[name] for name in ("qib0", "eth0")}, {"qib0": 5, "eth0": 0.125})
    expect("who is reported", "0000:02:00.0" in done.stderr, True)


class Tree:
    """A /sys of Linux, with its links."""

    def __init__(self, root):
        self.root = root

    def write(self, path, **files):
        folder = self.root / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(f"{text}\n", encoding="utf-8")

    def link(self, path, target):
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(self.root / target)

    def pci(self, path, **files):
        """A PCI device at the end of a path of bus ids below devices/."""
        self.write(f"devices/{path}", **files)
        self.link(f"bus/pci/devices/{path.split('/')[-1]}", f"devices/{path}")


def make_tree(root):
    tree = Tree(root)
    for node, cpus in enumerate(("0-3", "4-7")):
        tree.write(f"devices/system/node/node{node}", cpulist=cpus)
    tree.write("devices/system/node/node2", cpulist="")  # memory alone
    for cpu in range(8):
        tree.write(f"devices/system/cpu/cpu{cpu}/topology", core_id=cpu // 2, physical_package_id=cpu // 4,
                   thread_siblings_list=f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}")
    fast = {"current_link_speed": "32.0 GT/s PCIe", "max_link_speed": "32.0 GT/s PCIe",
            "current_link_width": 16, "max_link_width": 16}
    switch = "pci0000:00/0000:00:01.0/0000:01:00.0"
    for bridge in ("pci0000:00/0000:00:01.0", switch, f"{switch}/0000:02:00.0", f"{switch}/0000:02:01.0",
                   "pci0000:00/0000:00:02.0", "pci0000:80/0000:80:01.0"):
        tree.pci(bridge, **{"class": "0x060400"}, **fast)
    gpu = {"class": "0x030200", "vendor": "0x10de", "device": "0x2330"}
    tree.pci(f"{switch}/0000:02:00.0/0000:03:00.0", numa_node=0, **gpu, **fast)
    tree.pci(f"{switch}/0000:02:01.0/0000:04:00.0", numa_node=0, **{"class": "0x020700"}, **fast)
    tree.pci("pci0000:00/0000:00:02.0/0000:05:00.0", numa_node=0, **gpu, **fast)
    # Idle, with half of its lanes.
    tree.pci("pci0000:80/0000:80:01.0/0000:81:00.0", numa_node=1, current_link_speed="2.5 GT/s PCIe",
             max_link_speed="32.0 GT/s PCIe", current_link_width=8, max_link_width=16, **gpu)
    # What shows the console is no GPU.
    tree.pci("pci0000:80/0000:82:00.0", numa_node=1, **{"class": "0x030000", "vendor": "0x1a03"})
    nic = f"devices/{switch}/0000:02:01.0/0000:04:00.0"
    tree.write(f"{nic}/infiniband/mlx5_0/ports/1", rate="400 Gb/sec (4X NDR)")
    tree.link("class/infiniband/mlx5_0", f"{nic}/infiniband/mlx5_0")
    tree.write(f"{nic}/net/ib0", speed=100000)
    tree.link("class/net/ib0", f"{nic}/net/ib0")
    tree.write("devices/virtual/net/lo", speed=10)
    tree.link("class/net/lo", "devices/virtual/net/lo")


def check_made(tool, folder):
    root = folder / "made" / "sys"
    make_tree(root)
    facts = json.loads(run(tool, "detect", "--sysfs", root).stdout)
    expect("GPUs", [(gpu["busid"], gpu["numaid"]) for gpu in facts["gpus"]],
           [("0000:03:00.0", 0), ("0000:05:00.0", 0), ("0000:81:00.0", 1)])
    expect("cards", facts["nics"],
           [{"busid": "0000:04:00.0", "numaid": 0, "ports": [{"name": "mlx5_0", "bandwidth": 50}]}])
    expect("domains, switches, cores", (facts["numaids"], facts["pci_switches"], facts["cores"]), ([0, 1], 1, 0))
    rows = [line.split() for line in run(tool, "matrix", root).stdout.splitlines()[1:5]]
    expect("matrix", [row[1:5] for row in rows],
           [["X", "PHB", "SYS", "PIX"], ["PHB", "X", "SYS", "PHB"], ["SYS", "SYS", "X", "SYS"],
            ["PIX", "PHB", "SYS", "X"]])
    concerns = run(tool, "check", root, code=1).stdout
    expect("narrow", "gpu2 has 8 of 16 PCI lanes" in concerns, True)
    expect("far", "gpu2 has no network card on its socket" in concerns, True)
    # The idle GPU's link counts as fast as it can be, with the lanes that it has: 8 of 3 GB/s.
    rings = json.loads(run(tool, "rings", root, "--json", "--devices", "0,2").stdout)
    expect("ring", rings["kind"], "mixed")
    bound = json.loads(run(tool, "bound", root, "--json").stdout)
    expect("bound of three GPUs", (bound["devices"], bound["rate"]), (3, 5.0))


def main():
    tool, data = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        check_recorded(tool, data, Path(folder))
        check_made(tool, Path(folder))
        refused = run(tool, "detect", "--sysfs", folder, code=1).stderr
        expect("an empty folder's error", "found no processors" in refused, True)
    here = json.loads(run(tool, "detect").stdout)
    expect("this machine's kind", here["kind"], "sysfs")
    expect("whether this machine has devices", len(here["gpus"]) + here["cores"] > 0, True)
    run(tool, "bound", "host")
    print("detected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
