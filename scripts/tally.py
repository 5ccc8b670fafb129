#!/usr/bin/env python3
"""Adds up test results: tally.py NAME=DIRECTORY ...

Each directory holds ctest's JUnit report `ctest.xml`, and beside it a report of
the single cases of some of its tests: `lit.xml` for the test `lit`, `X.xml` for
the GoogleTest program `unit/X`. Such a test counts as its cases, any other as
one. A directory without ctest.xml (the build failed) counts as one failure.

The last line printed is `N passed, N failed`; the exit code is 0 only if
something passed and nothing failed.
"""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def has_failed(case):
    """Whether a test case of a JUnit report failed."""
    if case.get("status") == "fail":
        return True
    return case.find("failure") is not None or case.find("error") is not None


def was_skipped(case):
    """Whether a test case of a JUnit report did not run."""
    if case.get("status") in ("notrun", "disabled"):
        return True
    return case.find("skipped") is not None


class Tally:
    def __init__(self):
        self.passed = 0
        self.failures = []

    def add_cases(self, prefix, cases):
        for case in cases:
            if has_failed(case):
                self.failures.append(f"{prefix}{case.get('classname')}.{case.get('name')}")
            elif not was_skipped(case):
                self.passed += 1


def tally_directory(directory):
    """The tally of one ctest run."""
    tally = Tally()
    report = directory / "ctest.xml"
    if not report.exists():
        tally.failures.append("the build")
        return tally
    for test in xml.parse(report).getroot().iter("testcase"):
        name = test.get("name")
        detail = directory / f"{name.removeprefix('unit/')}.xml"
        failures_before = len(tally.failures)
        if detail.exists():
            tally.add_cases(f"{name}: ", xml.parse(detail).getroot().iter("testcase"))
        elif not has_failed(test) and not was_skipped(test):
            tally.passed += 1
        # A crash or a time-out leaves a report without its failure, or none.
        if has_failed(test) and len(tally.failures) == failures_before:
            tally.failures.append(name)
    return tally


def main():
    passed = failed = 0
    for argument in sys.argv[1:]:
        name, _, directory = argument.partition("=")
        tally = tally_directory(Path(directory))
        for failure in tally.failures:
            print(f"failed in {name}: {failure}")
        print(f"== {name}: {tally.passed} of {tally.passed + len(tally.failures)} tests passed")
        passed += tally.passed
        failed += len(tally.failures)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
