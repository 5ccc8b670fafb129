#!/usr/bin/env python3
"""Schedules change how algorithms run and nothing of what they compute.

Applies algorithms of the library under a schedule with slices and parallel workers: each must be
proved for several numbers of ranks and run right, one of them also as a kernel on the emulated GPU.
A schedule's transport must leave a plan with variants of that transport only, which say so where they
cannot run.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

import support

IN_PLACE = "data[0]"
# Example, the numbers of ranks that it allows, and the view that it is applied to.
ALGORITHMS = (
    ("allreduce/ring", (2, 3, 6), IN_PLACE),
    ("allreduce/recursive_doubling", (2, 4, 8), IN_PLACE),
    ("allreduce/double_binary_tree", (3, 8), IN_PLACE),
    ("allreduce/allpairs", (2, 5), IN_PLACE),
    ("reduce_scatter/recursive_halving", (4, 8), "data[0..ranks]"),
    ("allgather/bruck", (3, 6), "data[0..ranks]"),
    ("alltoall/two_step", (4, 6), "input[0..ranks] -> output[0..ranks]"),
    ("alltoall/bruck", (5,), "input[0..ranks] -> output[0..ranks]"),
)


def scheduled(folder, example, view, schedule):
    """The path of a program that applies the example to all ranks."""
    collective, name = example.split("/")
    path = Path(folder) / f"{collective}_{name}.coil"
    path.write_text(f'import "{example}.coil"\n'
                    f"algorithm scheduled : {collective} {{\n"
                    f"  schedule {{ {schedule} }}\n"
                    f"  apply {collective}.{name} over [0..ranks] on {view}\n"
                    "}\n", encoding="utf-8")
    return path


def check_cuts(build, folder):
    coil_run = support.tool(build, "coil-run")
    for example, all_ranks, view in ALGORITHMS:
        path = scheduled(folder, example, view, "slices 3 parallel 2")
        nodes = ["--nodes", "2"] if "two_step" in example else []
        for ranks in all_ranks:
            support.run_well([coil_run, path, "-n", ranks, *nodes, "--count", "0,1,37,1023", "--memory",
                              "both", "--iters", "2", "--warmup", "1", "--check", "--quiet"])
    example, _, view = ALGORITHMS[0]
    support.run_well([coil_run, scheduled(folder, example, view, "slices 2 parallel 3"), "-n", "3",
                      "--target", "cuda-emulated", "--count", "1,37,1023", "--iters", "1", "--warmup",
                      "0", "--check", "--quiet"], timeout=300)


def check_transports(build, folder):
    coilc, coil_plan, coil_run = (support.tool(build, name) for name in ("coilc", "coil-plan", "coil-run"))
    for transport in ("p2p", "staged"):
        path = scheduled(folder, "allreduce/ring", IN_PLACE, f"transport {transport}")
        plan = Path(folder) / f"{transport}.plan"
        support.run_well([coilc, path, "-n", "3", "-o", plan])
        variants = json.loads(support.run_well([coil_plan, "dump", plan, "--json"]))["variants"]
        found = {variant["transport"] for variant in variants}
        if found != {transport}:
            raise support.Failure(f"a schedule over {transport}: found variants over {found}")
        command = [coil_run, plan, "--count", "1023", "--iters", "2", "--check", "--quiet", "--memory"]
        support.run_well([*command, "registered"])
        if transport == "staged":
            support.run_well([*command, "plain"])
        elif "between registered buffers only" not in (said := support.expect_clean_error([*command, "plain"])):
            raise support.Failure(f"expected an error on buffers that are not registered, found {said}")


def check_protocols(build, folder):
    coilc, coil_plan, coil_run = (support.tool(build, name) for name in ("coilc", "coil-plan", "coil-run"))
    for protocol in ("simple", "ll", "ll128"):
        path = scheduled(folder, "allreduce/ring", IN_PLACE, f"protocol {protocol}")
        plan = Path(folder) / f"{protocol}.plan"
        support.run_well([coilc, path, "-n", "3", "-o", plan])
        if (found := json.loads(support.run_well([coil_plan, "dump", plan, "--json"]))["protocol"]) != protocol:
            raise support.Failure(f"a schedule with protocol {protocol}: found {found}")
        kernels = support.run_well([coilc, path, "-n", "3", "--emit=cuda"])
        expected = {"Protocol::Simple", {"simple": "Protocol::Simple", "ll": "Protocol::Ll",
                                         "ll128": "Protocol::Ll128"}[protocol]}
        if (found := set(re.findall(r"Protocol::\w+", kernels))) != expected:
            raise support.Failure(f"kernels with protocol {protocol}: expected {expected}, found {found}")
        # On CPUs it means nothing.
        support.run_well([coil_run, plan, "--count", "1023", "--iters", "1", "--check", "--quiet"])
        support.run_well([coil_run, plan, "--target", "cuda-emulated", "--count", "5,1023", "--memory", "plain",
                          "--iters", "1", "--warmup", "0", "--check", "--quiet"], timeout=300)


def main():
    arguments = support.parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check_cuts(arguments.build, folder)
        check_transports(arguments.build, folder)
        check_protocols(arguments.build, folder)
    print("schedules keep every result")


if __name__ == "__main__":
    sys.exit(support.main(main))
