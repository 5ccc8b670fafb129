#!/usr/bin/env python3
"""Compiles a plan with coilc and runs it with coil-run, on 1, 2, 3, 4, 7 and 8 processes; the plan
must be the same bytes each time it is compiled."""

import sys
import tempfile
from pathlib import Path

import support


def main():
    build = support.parser(__doc__).parse_args().build
    coilc, coil_run = support.tool(build, "coilc"), support.tool(build, "coil-run")
    coil_plan = support.tool(build, "coil-plan")
    example = support.EXAMPLES / "allreduce" / "ring.coil"
    with tempfile.TemporaryDirectory() as directory:
        plan, again = Path(directory, "ring.plan"), Path(directory, "again.plan")
        for ranks in (1, 2, 3, 4, 7, 8):
            support.run_well([coilc, example, "-n", ranks, "-o", plan])
            support.run_well([coilc, example, "-n", ranks, "-o", again])
            if plan.read_bytes() != again.read_bytes():
                raise support.Failure(f"two compilations for {ranks} ranks gave different plans")
            support.run_well([coil_plan, "check", plan])
            print(support.run_well([coil_run, plan, "--bytes", "1K:64K:x4", "--iters", 20, "--check"]))


if __name__ == "__main__":
    sys.exit(support.main(main))
