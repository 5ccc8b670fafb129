"""compile_examples.py COILC EXAMPLES [--all]: compiles every example's kernels with NVRTC, float
sums with the simple protocol, out of place and for one of sm_75, sm_80, sm_90 and sm_100 in turn, as
far as NVRTC knows them; with --all for all of them, in place as well, which is for a nightly run. One
example is so compiled in any case, and with other types, operators and protocols. No kernel may spill
registers with the simple protocol, and none may take long to compile. Exits with 77 where there is no
NVRTC."""

import sys
from pathlib import Path

import resources

# The first that a program allows.
RANKS = (8, 9, 4, 2)
ARCHS = ("sm_75", "sm_80", "sm_90", "sm_100")
# Of processor time. The goal is 1.5 s; the rest is for slower and busier machines.
MOST_SECONDS = 6.0
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


def measure_allowed(coilc, program, *options):
    """Rows for the first number of ranks that the program's assertions do not refuse."""
    for ranks in RANKS:
        try:
            return resources.measure(coilc, program, ranks, *options)[1]
        except resources.Refused as error:
            if f"(with {ranks} ranks)" not in str(error):
                raise
    raise resources.Refused(f"{program} allows none of {', '.join(map(str, RANKS))} ranks")


def main():
    coilc = Path(sys.argv[1])
    every = "--all" in sys.argv[3:]
    programs = resources.examples(sys.argv[2])
    ring = Path(sys.argv[2]) / "allreduce" / "ring.coil"
    try:
        archs = known_archs(coilc, ring)
        rows = []
        for i, program in enumerate(programs):
            if every or program == ring:
                options = ["--arch=" + ",".join(archs)]
            else:
                options = [f"--arch={archs[i % len(archs)]}", "--out-of-place"]
            rows += [(program, row) for row in measure_allowed(coilc, program, *options)]
        for options in OTHERS:
            rows += [(ring, row) for row in measure_allowed(
                coilc, ring, "--arch=sm_90", "--out-of-place", *options)]
        rows += [(ring, row) for row in measure_allowed(
            coilc, ring, "--arch=sm_90", "--out-of-place", "--protocol=ll,ll128")]
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
    slowest = sorted(rows, key=lambda pair: pair[1]["seconds"])[-3:]
    print(f"{len(programs)} examples, {len(rows)} kernels compiled, {failures} failures; the slowest: "
          + ", ".join(f"{row['kernel']} {row['type']} {row['op']} {row['arch']} {row['seconds']:.2f} s"
                      for _, row in reversed(slowest)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
