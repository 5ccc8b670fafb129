"""compile_scale.py [--coilc COILC] [--rounds N] [--most-ranks N]: how long coilc takes, and how much
memory, from a program to a plan, everything proved: a table of the median time, the largest memory
and the plan's size for algorithms of different shapes on 64, 256 and 1,024 ranks.

The last columns are what MSCCLang (Azure's version of msccl-tools, CPython 3.11, two cores) took for
the same algorithm and ranks, where it was measured, and the ratio. It emits programs that it does
not prove. Use a release build, and a machine that does nothing else."""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Example, ranks a node or None for one node, and the most ranks that are asked for.
PROGRAMS = (
    ("allreduce/ring", None, 1024),
    ("allreduce/allpairs", None, 256),
    ("allreduce/halving_doubling", None, 1024),
    ("allreduce/hierarchical", 8, 1024),
    ("allgather/ring", None, 1024),
    ("alltoall/two_step", 8, 256),
    ("alltoall/direct", None, 256),
)
RANKS = (8, 16, 32, 64, 128, 256, 1024)
SHOWN = (64, 256, 1024)
# Seconds of MSCCLang, whole process.
MSCCLANG = {
    ("allreduce/ring", 8): 0.42, ("allreduce/ring", 16): 0.32, ("allreduce/ring", 32): 0.52,
    ("allreduce/ring", 64): 0.97, ("allreduce/ring", 128): 4.28,
    ("allreduce/allpairs", 8): 0.37, ("allreduce/allpairs", 16): 1.07,
    ("allreduce/allpairs", 32): 6.79,
    ("allreduce/halving_doubling", 64): 0.57,
    ("allreduce/hierarchical", 64): 1.42,
    ("alltoall/two_step", 16): 0.32, ("alltoall/two_step", 64): 0.87,
    ("alltoall/two_step", 256): 15.1,
}


def run(command):
    """Seconds, peak memory in bytes and the exit status of a program."""
    start = time.monotonic()
    child = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    return time.monotonic() - start, usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)


def measure(coilc, example, ranks, ranks_per_node, rounds):
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "program.plan"
        command = [str(coilc), str(ROOT / "examples" / f"{example}.coil"), "-n", str(ranks),
                   "-o", str(plan)]
        if ranks_per_node:
            command += ["--nodes", str(max(1, ranks // ranks_per_node))]
        results = [run(command) for _ in range(rounds)]
        if any(status != 0 for _, _, status in results):
            sys.exit(f"failed: {' '.join(command)}")
        return (statistics.median(seconds for seconds, _, _ in results),
                max(memory for _, memory, _ in results), plan.stat().st_size)


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--coilc", type=Path, default=ROOT / "build/release/bin/coilc")
    arguments.add_argument("--rounds", type=int, default=3, help="runs of each; default: 3")
    arguments.add_argument("--most-ranks", type=int, default=1024, help="leave out more ranks")
    arguments = arguments.parse_args()
    if not arguments.coilc.is_file():
        sys.exit(f"no coilc at {arguments.coilc}: build it, or name it by --coilc")
    print(f"{'algorithm':<28}{'ranks':>6}{'seconds':>9}{'MiB':>7}{'plan KiB':>10}"
          f"{'MSCCLang s':>12}{'ratio':>7}")
    for example, ranks_per_node, most in PROGRAMS:
        if not (ROOT / "examples" / f"{example}.coil").is_file():
            continue
        for ranks in RANKS:
            theirs = MSCCLANG.get((example, ranks))
            if ranks > min(most, arguments.most_ranks) or (ranks not in SHOWN and not theirs):
                continue
            seconds, memory, size = measure(arguments.coilc, example, ranks, ranks_per_node,
                                            arguments.rounds)
            compared = f"{theirs:>12.2f}{theirs / seconds:>7.0f}" if theirs else ""
            print(f"{example:<28}{ranks:>6}{seconds:>9.2f}{memory / 2**20:>7.0f}"
                  f"{size / 2**10:>10.0f}{compared}", flush=True)


if __name__ == "__main__":
    main()
