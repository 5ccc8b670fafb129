"""compile_examples.py COILC EXAMPLES: compiles every example's kernels with NVRTC for sm_75, sm_80,
sm_90 and sm_100, as far as NVRTC knows them: float sums with the simple protocol, and one example
with other types, operators and protocols. No kernel of the simple protocol may spill registers, and
none may take long to compile. Exits with 77 where there is no NVRTC."""

import sys
from pathlib import Path

import resources

RANKS = 8
ARCHS = ("sm_75", "sm_80", "sm_90", "sm_100")
# The goal is 1.5 s; the rest is for slower machines, since a test must not fail for those.
MOST_SECONDS = 4.0
OTHERS = (("--type=bf16,f16", "--op=avg,max"), ("--type=f8e4m3", "--op=premulsum"),
          ("--type=i32,u8,f64", "--op=prod,min"))


def known_archs(coilc, program):
    known = []
    for arch in ARCHS:
        try:
            resources.measure(coilc, program, 2, f"--arch={arch}", "--variant=0")
            known.append(arch)
        except resources.Refused as error:
            if "does not know" not in str(error):
                raise
            print(f"{arch} is left out: {error}")
    return known


def main():
    coilc = Path(sys.argv[1])
    programs = resources.examples(sys.argv[2])
    ring = Path(sys.argv[2]) / "allreduce" / "ring.coil"
    try:
        archs = "--arch=" + ",".join(known_archs(coilc, ring))
        rows = []
        for program in programs:
            rows += [(program, row) for row in resources.measure(coilc, program, RANKS, archs)[1]]
        for options in OTHERS:
            rows += [(ring, row) for row in resources.measure(
                coilc, ring, RANKS, "--arch=sm_90", "--out-of-place", *options)[1]]
        rows += [(ring, row) for row in resources.measure(
            coilc, ring, RANKS, "--arch=sm_90", "--out-of-place", "--protocol=ll,ll128")[1]]
    except resources.NoNvrtc as error:
        print(f"skipped: {error}")
        return 77
    except resources.Refused as error:
        print(error)
        return 1

    failures = 0
    for program, row in rows:
        packets = row["kernel"].endswith(("_ll", "_ll128"))
        problems = []
        if row["spills"] and not packets:
            problems.append(f"{row['spills']} bytes of spills")
        if row["seconds"] > MOST_SECONDS:
            problems.append(f"{row['seconds']} s to compile")
        if problems:
            failures += 1
            print(f"{program}: {row['kernel']} {row['type']} {row['op']} for {row['arch']}: "
                  + ", ".join(problems))
    slowest = max(row["seconds"] for _, row in rows)
    print(f"{len(programs)} examples, {len(rows)} kernels compiled, slowest {slowest:.2f} s of "
          f"processor time, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
