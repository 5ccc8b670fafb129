#!/usr/bin/env python3
"""Runs the CUDA kernels of every example on the host, with every element checked.

coil-run --target cuda-emulated generates the kernels, has the host's compiler compile their very
text, and executes it with blocks and threads emulated. Runs are in registered and in plain memory,
in place and out of place, with counts that divide nothing and take several tiles.

Every example that there is runs on one of 2, 3, 4 and 8 ranks, with one of the protocols and one of
the types f32, bf16, i32 and f8e4m3, all in turn. --all runs every example on all those ranks with all protocols and all types, which takes an
hour or more and is for a nightly run. --track holds every access against the memory model of PTX;
--sample is a third of the examples on few ranks, for sanitizers.
"""

import concurrent.futures
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import support

TYPES = ("f32", "bf16", "i32", "f8e4m3")
PROTOCOLS = ("simple", "ll", "ll128")
RANKS = (2, 3, 4, 8)
COUNTS = "1,17,1003,4099"


def compile_plan(arguments, example, ranks, folder):
    """The example's plan, or none if an assertion of it refuses so many ranks."""
    plan = Path(folder) / "algorithm.plan"
    words = [support.tool(arguments.build, "coilc"), example, "-n", ranks, "-o", plan]
    code, output = support.run(words)
    if code == 0:
        return plan
    if f"(with {ranks} ranks)" in output:
        return None
    raise support.Failure(f"{' '.join(str(word) for word in words)}: exit code {code}\n{output}")


class Turns:
    """What each run has: protocols and types in turn, in every pairing over twelve examples."""

    def __init__(self, everything):
        self.everything = everything
        self.number = 0

    def next(self):
        if self.everything:
            return [(protocol, list(TYPES)) for protocol in PROTOCOLS]
        number, self.number = self.number, self.number + 1
        return [(PROTOCOLS[number % len(PROTOCOLS)], [TYPES[number % len(TYPES)]])]


def command(arguments, plan, ranks, protocol, types, counts):
    """coil-run with tiles and blocks so small that a few thousand elements are many."""
    words = [support.tool(arguments.build, "coil-run"), plan]
    words += ["--target", "cuda-emulated", "--ranks-per-gpu", ranks, "--protocol", protocol]
    words += ["--memory", "both", "--direct-bytes", "0", "--slot-bytes", "1024"]
    words += ["--instances", "2", "--threads-per-block", "64"]
    words += ["--count", counts, "--type", ",".join(types), "--check", "--json"]
    words += ["--warmup", "0", "--iters", "1", "--timeout", "120"]
    return words


def check(arguments, plan, ranks, protocol, types, counts):
    """One run; gives the number of results that were checked."""
    output = support.run_well(command(arguments, plan, ranks, protocol, types, counts), timeout=900)
    results = json.loads(output[output.index("{") :])["results"]
    wrong = [result for result in results if result["errors"] != 0]
    if wrong or not results:
        raise support.Failure(f"wrong elements: {wrong[:1]}")
    return len(results)


def runs_of(arguments, example, turned, ranks_of, turns, folder):
    """Plans of the example with what each is run with: of the first number of ranks that it allows, or
    with --all of every one."""
    runs, plans = [], 0
    for ranks in turned + [ranks for ranks in RANKS if ranks not in ranks_of]:
        if not arguments.all and plans == 1:
            break
        place = folder / str(ranks)
        place.mkdir(parents=True)
        if plan := compile_plan(arguments, example, ranks, place):
            plans += 1
            runs += [(plan, ranks, protocol, types) for protocol, types in turns.next()]
    return runs


def check_example(arguments, example, runs, counts):
    """Gives the number of results that were checked, and what failed."""
    start, checked, failures = time.monotonic(), 0, []
    name = example.relative_to(support.EXAMPLES)
    for plan, ranks, protocol, types in runs:
        try:
            checked += check(arguments, plan, ranks, protocol, types, counts)
        except support.Failure as failure:
            failures.append(f"{name} on {ranks} ranks, {protocol}, {','.join(types)}: {failure}")
            print(f"FAILED: {failures[-1]}", flush=True)
    print(f"{name}: {checked} checked, {time.monotonic() - start:.1f} s", flush=True)
    if checked == 0 and not failures:
        failures.append(f"{name}: nothing was checked")
    return checked, failures


def main():
    arguments = support.parser(__doc__)
    arguments.add_argument("--all", action="store_true",
                           help="every protocol, type and number of ranks for every example")
    arguments.add_argument("--track", action="store_true", help="look for races, too")
    arguments.add_argument("--sample", action="store_true", help="every third example on 2 or 3 ranks")
    arguments = arguments.parse_args()
    os.environ.setdefault("COIL_CACHE_DIR", str(arguments.build.resolve() / "test-kernels"))
    if arguments.track:
        os.environ["COIL_EMULATED_TRACK"] = "1"

    examples = sorted(support.EXAMPLES.rglob("*.coil"))[::3 if arguments.sample else 1]
    ranks_of = (2, 3) if arguments.sample else RANKS
    counts = "1003" if arguments.sample or arguments.track else COUNTS
    turns = Turns(arguments.all)
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for number, example in enumerate(examples):
            # The next example begins with other ranks; some may be refused, and of a sample all.
            turned = [ranks_of[(i + number) % len(ranks_of)] for i in range(len(ranks_of))]
            place = Path(folder, str(number))
            jobs.append((example, runs_of(arguments, example, turned, ranks_of, turns, place)))
        # Compiling a kernel keeps one core busy.
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            done = list(pool.map(lambda job: check_example(arguments, *job, counts), jobs))
    total = sum(checked for checked, _ in done)
    failures = [failure for _, found in done for failure in found]
    print(f"{total} results checked, {len(failures)} runs failed")
    if failures:
        raise support.Failure(failures[0])


if __name__ == "__main__":
    sys.exit(support.main(main))
