"""Kernels of the examples, measured by coilc --emit=resources; for a test and a benchmark."""

import subprocess
from pathlib import Path


class NoNvrtc(Exception):
    """NVRTC is not here; the message says what was tried."""


class Refused(Exception):
    """coilc does not compile the program for that many ranks, or not at all."""


def examples(folder):
    return sorted(Path(folder).rglob("*.coil"))


def measure(coilc, program, ranks, *options):
    """Rows of the table for a program, as dictionaries, and the table's first line. A collective
    with roots is measured for root 0."""
    command = [str(coilc), str(program), "-n", str(ranks), "--emit=resources", *options]
    result = subprocess.run([*command, "--root=0"], capture_output=True, text=True, check=False)
    if "has no root" in result.stderr:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if "no NVRTC" in result.stderr:
        raise NoNvrtc(result.stderr.strip())
    if result.returncode != 0:
        raise Refused(result.stderr.strip())
    head, _, *lines = result.stdout.splitlines()
    rows = []
    for line in lines:
        kernel, kind, op, arch, registers, stack, stores, loads, shared, seconds = line.split()
        rows.append({"kernel": kernel, "type": kind, "op": op, "arch": arch,
                     "registers": int(registers), "stack": int(stack), "spills": int(stores) + int(loads),
                     "shared": int(shared), "seconds": float(seconds)})
    return head, rows
