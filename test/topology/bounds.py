#!/usr/bin/env python3
"""bounds.py COIL_TOPO DATA: compares the bounds of `coil-topo bound` with known optima.

DATA/allgather_optimum_bounds.csv holds the optimal all-gather rates that ForestColl's search finds for
the topologies in DATA. Coil's must be the same to 0.1 %, from the machine's own cut: the capacity out of
it by its devices, which this script counts again in the file.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

# The table's names of TE-CCL's topologies say chassis where the files do not.
TECCL = {"teccl_NDv2_2chassis": "teccl_NDv2_2", "teccl_NDv2_4chassis": "teccl_NDv2_4",
         "teccl_DGX2_2chassis": "teccl_DGX2_2", "teccl_DGX1_1chassis": "teccl_DGX1_1",
         "teccl_AMD_1chassis": "teccl_AMD_1", "teccl_AMD_2chassis": "teccl_AMD_2"}


def problems_of(tool, path, gpus, optimum):
    done = subprocess.run([tool, "bound", "--json", path], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        yield f"exit status {done.returncode}: {done.stderr}"
        return
    bound, file = json.loads(done.stdout), json.loads(path.read_text(encoding="utf-8"))
    if bound["devices"] != gpus:
        yield f"expected {gpus} devices, found {bound['devices']}"
    if abs(bound["all_gather"] / optimum - 1) > 0.001:
        yield f"expected {optimum} GB/s, found {bound['all_gather']}"
    nodes = file["nodes"]
    names = nodes if isinstance(nodes, list) else [f"node{i}" for i in range(nodes)]
    inside = {names.index(name) for name in bound["cut"]["vertices"]}
    out = sum(link[2] for link in file["links"] if link[0] in inside and link[1] not in inside)
    devices = len(inside & set(file["gpus"]))
    if devices == 0 or abs(out / devices - bound["rate"]) > 1e-6:
        yield f"the cut lets {out} GB/s out of {devices} devices, which is no rate of {bound['rate']}"


def main():
    tool, data = sys.argv[1], Path(sys.argv[2])
    with open(data / "allgather_optimum_bounds.csv", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    failures = 0
    for row in rows:
        path = data / f"{TECCL.get(row['topology'], row['topology'])}.json"
        for problem in problems_of(tool, path, int(row["gpus"]), float(row["optimal_allgather_algbw_GBps"])):
            failures += 1
            print(f"{path.name}: {problem}")
    print(f"{len(rows)} bounds, {failures} failures")
    return 1 if failures or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
