#!/usr/bin/env python3
"""expected.py COIL_TOPO DATA: compares what coil-topo reads from recorded topologies with known facts.

DATA/expected.json holds, for each file of DATA, facts that a script independent of Coil computed from
it. `coil-topo show` must print members of the same names with the same values. Files that are no
topologies must be refused with an error that says why.
"""

import json
import subprocess
import sys
from pathlib import Path

# What is computed from a topology and not read from it.
DERIVED = {"edge_disjoint_directed_rings", "edge_disjoint_directed_rings_nvlink_only",
           "undirected_hamiltonian_cycles", "isomorphic_to"}
REFUSED = {"nccl-graph": "found the result of a graph search"}
# What is not read yet, and must be refused too.
REFUSED_FILES = {"hwloc_dgx2.xml": "expected a topology",
                 "smi_nvlink_R_h100_gpu0.txt": "expected a topology",
                 "smi_nvlink_s_threestates.txt": "expected a topology",
                 "smi_nvlink_s_v100x4.txt": "expected a topology",
                 "smi_p2p_8gpu_ok.txt": "expected a matrix of nvidia-smi topo -m"}


def problems_of(tool, path, expected):
    done = subprocess.run([tool, "show", path], capture_output=True, text=True, timeout=60, check=False)
    if reason := REFUSED.get(expected["kind"]) or REFUSED_FILES.get(path.name):
        if done.returncode != 1 or reason not in done.stderr:
            yield f"expected an error with '{reason}', found exit status {done.returncode} and:\n{done.stderr}"
        return
    if done.returncode != 0:
        yield f"expected a topology, found exit status {done.returncode} and:\n{done.stderr}"
        return
    found = json.loads(done.stdout)
    for name, value in expected.items():
        if name not in DERIVED and found.get(name) != value:
            yield f"'{name}': expected {json.dumps(value)}, found {json.dumps(found.get(name))}"


def main():
    tool, data = sys.argv[1], Path(sys.argv[2])
    facts = json.loads((data / "expected.json").read_text(encoding="utf-8"))
    failures = 0
    for name, expected in sorted(facts.items()):
        for problem in problems_of(tool, data / name, expected):
            failures += 1
            print(f"{name}: {problem}")
    print(f"{len(facts)} files, {failures} failures")
    return 1 if failures or not facts else 0


if __name__ == "__main__":
    sys.exit(main())
