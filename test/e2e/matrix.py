#!/usr/bin/env python3
"""Runs the examples over ranks, sizes, types, operators, in place and out of place, in registered
and in plain memory, with every element of every rank's result checked.

Sizes are 0, 1 and 17 elements a rank, 4 KiB, 1 MiB and one word, and 64 MiB. One coil-run is
started for each example, number of ranks and width of the types; it sweeps over all the rest,
every root included.

The whole matrix takes about 20 minutes on two cores. --sample is the fixed part of it that stands
for the whole in CI; --max-bytes leaves out the larger sizes. With either, every root has its turn on
up to four ranks only, and on more ranks each width of the types has one.
"""

import json
import sys
import time
from dataclasses import dataclass

import support

KIB, MIB = 1 << 10, 1 << 20
OPERATORS = ("sum", "max")

# Types by the bytes of one element, and the sample's part of them.
TYPES = {1: ["u8"], 2: ["f16", "bf16"], 4: ["f32", "i32"], 8: ["f64", "i64"]}
SAMPLE_TYPES = {1: ["u8"], 2: ["bf16"], 4: ["f32"], 8: ["i64"]}
SAMPLE_RANKS = (1, 2, 3, 4, 7, 8)


@dataclass(frozen=True)
class Example:
    path: str
    power_of_two: bool = False  # of the number of ranks; others must be refused
    rooted: bool = False
    reduces: bool = True
    segmented: bool = False  # the whole vector is one segment a rank
    in_place: bool = True  # calls may be in place


EXAMPLES = (
    Example("allreduce/ring.coil"),
    Example("allreduce/allpairs.coil"),
    Example("allreduce/recursive_doubling.coil", power_of_two=True),
    Example("allgather/ring.coil", reduces=False, segmented=True),
    Example("reduce_scatter/ring.coil", segmented=True),
    Example("broadcast/chain.coil", rooted=True, reduces=False),
    Example("reduce/binomial.coil", rooted=True),
    Example("gather/linear.coil", rooted=True, reduces=False, segmented=True),
    Example("scatter/linear.coil", rooted=True, reduces=False, segmented=True),
    Example("alltoall/direct.coil", reduces=False, segmented=True, in_place=False),
    Example("sendrecv/ring_shift.coil", reduces=False, in_place=False),
    Example("scan/chain.coil", in_place=False),
)


def sizes(example, ranks, width, most_bytes):
    """The matrix's sizes, in bytes of the whole vector, for elements of `width` bytes."""
    element = width * (ranks if example.segmented else 1)
    wanted = (0, element, 17 * element, 4 * KIB, MIB + max(4, width), 64 * MIB)
    return [size for size in wanted if size <= most_bytes]


def roots(arguments, ranks, width):
    """What coil-run is told of the roots, and how many it then runs."""
    if ranks <= 4 or not (arguments.sample or arguments.max_bytes < 64 * MIB):
        return "all", ranks
    return {1: 0, 2: ranks // 2, 4: ranks - 1, 8: 1}[width], 1


def sweep(arguments, example, ranks, width, types):
    """One run of coil-run over all operators, sizes, roots, memories, both places, and types of
    one width; gives the number of checked results."""
    swept = sizes(example, ranks, width, arguments.max_bytes)
    command = [support.tool(arguments.build, "coil-run"), support.EXAMPLES / example.path]
    command += ["-n", ranks, "--bytes", ",".join(str(size) for size in swept)]
    command += ["--type", ",".join(types), "--memory", "both", "--check", "--json"]
    command += ["--warmup", 0, "--iters", arguments.iters]
    expected = len(swept) * len(types) * 2  # memories
    if example.in_place:
        expected *= 2
    if example.reduces:
        command += ["--op", ",".join(OPERATORS)]
        expected *= len(OPERATORS)
    if example.rooted:
        root, number = roots(arguments, ranks, width)
        command += ["--root", root]
        expected *= number
    results = json.loads(support.run_well(command, timeout=3600))["results"]
    wrong = [result for result in results if result["errors"] != 0]
    if wrong:
        raise support.Failure(f"wrong elements: {wrong[0]}")
    if len(results) != expected:
        raise support.Failure(f"expected {expected} results, found {len(results)}")
    return len(results)


def check_refused(coil_run, example, ranks):
    """An example whose contract does not allow this number of ranks must say so."""
    path = support.EXAMPLES / example.path
    output = support.expect_clean_error([coil_run, path, "-n", ranks, "--bytes", "4", "--check"])
    if "power of two" not in output:
        raise support.Failure(f"expected a message about a power of two, found: {output}")


def main():
    arguments = support.parser(__doc__)
    arguments.add_argument("--example", action="append", help="run this one alone; may be repeated")
    arguments.add_argument("--max-bytes", type=int, default=64 * MIB, help="leave out larger sizes")
    arguments.add_argument("--iters", type=int, default=2, help="timed calls for each result")
    arguments.add_argument("--sample", action="store_true", help="run a fixed part of the matrix")
    arguments = arguments.parse_args()
    coil_run = support.tool(arguments.build, "coil-run")
    known = {example.path for example in EXAMPLES}
    for path in arguments.example or []:
        if path not in known:
            raise support.Failure(f"{path}: expected one of {', '.join(sorted(known))}")
    examples = [e for e in EXAMPLES if not arguments.example or e.path in arguments.example]
    types = SAMPLE_TYPES if arguments.sample else TYPES

    summary, failures = [], []
    for example in examples:
        for ranks in SAMPLE_RANKS if arguments.sample else range(1, 9):
            start, checked = time.monotonic(), 0
            if example.power_of_two and ranks & (ranks - 1):
                check_refused(coil_run, example, ranks)
                continue
            for width, of_width in types.items():
                try:
                    checked += sweep(arguments, example, ranks, width, of_width)
                except support.Failure as failure:
                    where = f"{example.path} on {ranks} ranks, {','.join(of_width)}"
                    failures.append(f"{where}: {failure}")
                    print(f"FAILED: {failures[-1]}", flush=True)
            seconds = time.monotonic() - start
            summary.append((example.path, ranks, checked, seconds))
            print(f"{example.path} on {ranks} ranks: {checked} checked, {seconds:.1f} s", flush=True)

    print(f"\n{'example':36} {'ranks':>5} {'checked':>8} {'seconds':>8}")
    for path, ranks, checked, seconds in summary:
        print(f"{path:36} {ranks:5} {checked:8} {seconds:8.1f}")
    print(f"{sum(row[2] for row in summary)} results checked, {len(failures)} runs failed")
    if failures:
        raise support.Failure("; ".join(failures))


if __name__ == "__main__":
    sys.exit(support.main(main))
