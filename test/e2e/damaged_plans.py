#!/usr/bin/env python3
"""Gives damaged plans to coil-run and coil-plan: each must end with a message and an error code,
never with a crash, a hang or a run."""

import random
import sys
import tempfile
from pathlib import Path

import support

FLIPS = 200
SEED = 20


def damaged(plan):
    """Every (what was done, bytes) to try: cut, flipped and extended plans."""
    yield "empty", b""
    for size in (1, 4, 8, len(plan) // 2, len(plan) - 1):
        yield f"cut to {size} bytes", plan[:size]
    yield "one byte longer", plan + b"\0"
    yield "all zeros", bytes(len(plan))
    generator = random.Random(SEED)
    for _ in range(FLIPS):
        offset = generator.randrange(len(plan))
        bits = generator.randrange(1, 256)
        flipped = plan[:offset] + bytes([plan[offset] ^ bits]) + plan[offset + 1 :]
        yield f"byte {offset} of {len(plan)} xor {bits:#04x}", flipped


def main():
    build = support.parser(__doc__).parse_args().build
    coil_run, coil_plan = support.tool(build, "coil-run"), support.tool(build, "coil-plan")
    example = support.EXAMPLES / "allreduce" / "ring.coil"
    tried = 0
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "ring.plan")
        support.run_well([support.tool(build, "coilc"), example, "-n", "2", "-o", path])
        plan = path.read_bytes()
        for what, contents in damaged(plan):
            path.write_bytes(contents)
            for command in ([coil_plan, "check", path], [coil_run, path, "--bytes", "1K", "--check"]):
                try:
                    output = support.expect_clean_error(command)
                except support.Failure as failure:
                    raise support.Failure(f"{what}: {failure}") from failure
            if tried % 50 == 0:
                print(f"{what}: {output.strip()}")
            tried += 1
    print(f"{tried} damaged plans, each refused by coil-plan and coil-run")


if __name__ == "__main__":
    sys.exit(support.main(main))
