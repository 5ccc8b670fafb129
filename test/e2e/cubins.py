#!/usr/bin/env python3
"""Compiles a plan's kernels ahead of time and runs them where NVRTC is missing. The stand-in for
CUDA compiles here, so that this needs no toolkit and no GPU."""

import os
import sys
import tempfile
from pathlib import Path

import support


def main():
    build = support.parser(__doc__).parse_args().build
    coilc, coil_run = support.tool(build, "coilc"), support.tool(build, "coil-run")
    stand_in = (Path(build) / "lib" / "libcoil-emulated-cuda.so").resolve()
    example = support.EXAMPLES / "allreduce" / "ring.coil"
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        # Caches of their own, so that nothing compiled before can serve.
        compiling = os.environ | {
            "COIL_NVRTC_LIBRARY": str(stand_in),
            "COIL_CACHE_DIR": str(folder / "cache"),
        }
        without_nvrtc = os.environ | {
            "COIL_NVRTC_LIBRARY": str(folder / "nowhere.so"),
            "COIL_CACHE_DIR": str(folder / "empty"),
        }
        plan, other = folder / "ring.plan", folder / "other.plan"
        cubins = folder / "ring.plan.cubins"
        support.run_well([coilc, example, "-n", 2, "-o", plan])
        support.run_well([coilc, example, "-n", 3, "-o", other])
        kernels = ["--cubin", "sm_90", "--type", "f32", "--protocol", "simple"]
        support.run_well([coilc, plan, *kernels], environment=compiling)

        trusting = ["--cubins", cubins]
        emulated = ["--target", "cuda-emulated", "--ranks-per-gpu", 3, "--protocol", "simple"]

        def expect(words, *command):
            command = [coil_run, *command, "--bytes", "4K", "--check"]
            output = support.expect_clean_error(command, environment=without_nvrtc)
            if words not in output:
                raise support.Failure(f"expected an error that says '{words}', found\n{output}")

        run = [coil_run, plan, *emulated, *trusting, "--bytes", "4K", "--check"]
        print(support.run_well(run, environment=without_nvrtc))
        expect("NVRTC", plan, *emulated)
        expect("the plan's cubins have none", plan, *emulated, *trusting, "--type", "bf16")
        expect("is of another plan", other, *emulated, *trusting)
        expect("expected --target cuda or cuda-emulated, found cpu", plan, *trusting)
        whole = cubins.read_bytes()
        cubins.write_bytes(whole[: len(whole) // 2])
        expect(str(cubins), plan, *emulated, *trusting)


if __name__ == "__main__":
    sys.exit(support.main(main))
