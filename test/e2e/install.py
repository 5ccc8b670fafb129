#!/usr/bin/env python3
"""Installs the build into an empty folder, and builds and runs a small C project against it."""

import sys
import tempfile
from pathlib import Path

import support


def main():
    arguments = support.parser(__doc__)
    arguments.add_argument("--cmake", default="cmake", help="the cmake program")
    arguments.add_argument("--compiler", default="cc", help="the C compiler")
    arguments.add_argument("--flags", default="", help="compiler flags that the build needs")
    arguments = arguments.parse_args()
    source = Path(__file__).with_name("consumer")
    with tempfile.TemporaryDirectory() as directory:
        prefix, build = Path(directory, "prefix"), Path(directory, "build")
        support.run_well([arguments.cmake, "--install", arguments.build, "--prefix", prefix])
        for path in ("bin/coilc", "bin/coil-run", "bin/coil-plan", "include/coil/coil.h"):
            if not (prefix / path).exists():
                raise support.Failure(f"{path} was not installed")

        library = next(prefix.glob("lib*/**/libcoil.so"), None)
        if library is None:
            raise support.Failure("libcoil.so was not installed")
        needed = support.run_well(["readelf", "-d", library])
        if "LLVM" in needed or "MLIR" in needed:
            raise support.Failure(f"the runtime must not need LLVM or MLIR:\n{needed}")
        symbols = support.run_well(["nm", "-D", "--defined-only", library])
        for line in symbols.splitlines():
            if not line.split()[-1].startswith("coil"):
                raise support.Failure(f"the runtime exports more than its C API: {line}")

        configure = [arguments.cmake, "-S", source, "-B", build, "-G", "Ninja"]
        configure += [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_FLAGS={arguments.flags}"]
        configure += [f"-DCMAKE_C_COMPILER={arguments.compiler}"]
        support.run_well(configure)
        support.run_well([arguments.cmake, "--build", build])

        plan = Path(directory, "ring.plan")
        example = support.EXAMPLES / "allreduce" / "ring.coil"
        support.run_well([prefix / "bin" / "coilc", example, "-n", "3", "-o", plan])
        output = support.run_well([build / "consumer", plan, "3"])
        if output != "3 ranks agree\n":
            raise support.Failure(f"expected `3 ranks agree`, found: {output}")


if __name__ == "__main__":
    sys.exit(support.main(main))
