#!/usr/bin/env python3
"""What the kernels of all examples ask of a GPU: registers, stack, spills and shared memory, for
every architecture of interest that NVRTC here knows, and how long they took to compile. No GPU is
needed.

usage: bench/cuda/resources.py [--build build/release] [-n 8] [--output FILE]
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "codegen" / "Inputs"))

import resources  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="build folder")
    parser.add_argument("-n", "--ranks", type=int, default=8)
    parser.add_argument("--arch", help="such as sm_80,sm_90; default: the usual ones")
    parser.add_argument("--type", default="f32,bf16")
    parser.add_argument("--op", default="sum")
    parser.add_argument("--protocol", default="simple,ll,ll128")
    parser.add_argument("--output", type=Path, help="file for the table; default: standard output")
    arguments = parser.parse_args()
    options = [f"--type={arguments.type}", f"--op={arguments.op}",
               f"--protocol={arguments.protocol}"]
    if arguments.arch:
        options.append(f"--arch={arguments.arch}")

    lines, slowest, spilling, kernels, compiler = [], 0.0, 0, 0, ""
    form = "{:<22} {:<46} {:<5} {:<4} {:<7} {:>4} {:>5} {:>6} {:>6} {:>5}"
    for program in resources.examples(ROOT / "examples"):
        name = str(program.relative_to(ROOT / "examples").with_suffix(""))
        try:
            head, rows = resources.measure(arguments.build / "bin" / "coilc", program,
                                           arguments.ranks, *options)
        except resources.NoNvrtc as error:
            print(error, file=sys.stderr)
            return 1
        except resources.Refused as error:
            lines.append(f"{name}: not for {arguments.ranks} ranks: {error}")
            continue
        compiler = head.removeprefix("# ").rsplit(", ", 1)[0]
        for row in rows:
            lines.append(form.format(name, row["kernel"], row["type"], row["op"], row["arch"],
                                     row["registers"], row["stack"], row["spills"], row["shared"],
                                     f"{row['seconds']:.2f}"))
            kernels += 1
            slowest = max(slowest, row["seconds"])
            spilling += row["spills"] > 0
    title = form.format("example", "kernel", "type", "op", "arch", "regs", "stack", "spills",
                        "shared", "s")
    text = "\n".join([
        f"# {compiler}, {arguments.ranks} ranks; bytes of stack and spills are of a thread, of shared "
        "memory of a block", title, *lines,
        f"# {kernels} kernels, {spilling} with spills, slowest to compile {slowest:.2f} s", ""])
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
