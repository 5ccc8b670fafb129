#!/usr/bin/env python3
"""Holds the layers of the source tree and the form of its files.

layering.py ROOT: reads every C, C++ and TableGen file below ROOT's source
folders and prints each break of a rule as `file:line: what is wrong`. Includes
are followed through Coil's own headers, so a layer cannot reach a forbidden one
in a roundabout way either.
"""

import re
import sys
from pathlib import Path

SOURCE_FOLDERS = ("runtime", "dialect", "compiler", "passes", "tools", "test", "examples", "bench")
SOURCE_SUFFIXES = {".h", ".c", ".cpp", ".inc", ".td"}
MOST_LINES = 700

# What the files of a folder must never include, themselves or through another
# of Coil's headers: path prefixes of Coil's own folders, or of foreign headers.
FORBIDDEN = {
    "runtime": ("compiler/", "dialect/", "passes/", "tools/", "mlir/", "mlir-c/", "llvm/", "llvm-c/"),
    "dialect": ("compiler/", "passes/", "tools/"),
    "compiler": ("tools/",),
    "compiler/explain": ("mlir/", "dialect/", "passes/"),
    "compiler/schedule": ("mlir/", "dialect/", "passes/"),
    "compiler/topology": ("mlir/", "dialect/", "passes/"),
    "compiler/target/plan": ("mlir/", "llvm/", "dialect/", "passes/"),
    "compiler/frontend": ("passes/",),
    "passes": ("compiler/frontend/", "compiler/pipeline/", "tools/"),
}

NAMESPACE = re.compile(r"^namespace ([\w:]+) {")
# A type of a namespace, defined: such lines stand at the beginning of a line.
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (?:alignas\([^)]*\) )?(\w+)\b(?!::)[^;]*{")
INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s*(["<])([^">]+)[">]')
GUARD = re.compile(r"^#ifndef (COIL_\w+)$")


class Source:
    """One file: its path below the root, its lines, and its includes."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.includes = []  # of (line number, path as written)
        for number, line in enumerate(self.lines, start=1):
            if match := INCLUDE.match(line):
                self.includes.append((number, match.group(2)))


def read_sources(root):
    sources = {}
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                source = Source(root, path)
                sources[source.path] = source
    return sources


def resolve(included, sources):
    """The source that an include names, or none for a foreign or generated header."""
    return sources.get(included) or sources.get(f"runtime/include/{included}")


def reached_headers(source, sources):
    """Every (line in source, chain of includes) that starts in `source`."""
    seen = {source.path}
    pending = [(line, [included]) for line, included in source.includes]
    while pending:
        line, chain = pending.pop()
        if chain[-1] in seen:
            continue
        seen.add(chain[-1])
        yield line, chain
        if header := resolve(chain[-1], sources):
            pending.extend((line, chain + [included]) for _, included in header.includes)


def layer_breaks(source, sources):
    rules = {
        prefix: folder
        for folder, prefixes in FORBIDDEN.items()
        if source.path.startswith(folder + "/")
        for prefix in prefixes
    }
    if not rules:
        return
    for line, chain in reached_headers(source, sources):
        for prefix, folder in rules.items():
            if chain[-1].startswith(prefix):
                way = " -> ".join(chain)
                yield line, f"{folder} must not include {prefix.rstrip('/')}: {way}"


def expected_guard(path):
    name = path.removeprefix("runtime/include/coil/").removesuffix(".h")
    return "COIL_" + re.sub(r"\W", "_", name).upper() + "_H"


def form_breaks(source):
    if len(source.lines) > MOST_LINES:
        yield len(source.lines), f"expected at most {MOST_LINES} lines, found {len(source.lines)}"
    name = source.path.rsplit("/", 1)[-1]
    if f"===- {name} - " not in (source.lines or [""])[0]:
        yield 1, f"expected a banner that begins `===- {name} - `"
    if source.path.endswith(".h"):
        found = next((m.group(1) for line in source.lines if (m := GUARD.match(line))), "none")
        if found != expected_guard(source.path):
            yield 1, f"expected the header guard {expected_guard(source.path)}, found {found}"
    for number, line in enumerate(source.lines, start=1):
        # A statistic's size depends on NDEBUG here, its code on NDEBUG in libMLIR.
        if source.path.endswith(".td") and re.search(r"\blet\s+statistics\b", line):
            yield number, "a pass has statistics, which prebuilt MLIR libraries cannot count; use remarks"
        if line != line.rstrip():
            yield number, "trailing white space"


def double_types(sources):
    """Types that two headers, those of tests aside, define under one name. Of a program that links
    both, the linker keeps some functions of each."""
    first = {}
    for source in sources.values():
        namespace = ""
        is_shared = source.path.endswith(".h") and not source.path.startswith("test/")
        for number, line in enumerate(source.lines, start=1):
            if match := NAMESPACE.match(line):
                namespace = match.group(1)
            elif is_shared and (match := TYPE.match(line)):
                name = f"{namespace}::{match.group(1)}"
                if name in first:
                    yield source.path, number, f"{name} is defined in {first[name]} too"
                first.setdefault(name, source.path)


def main():
    root = Path(sys.argv[1]).resolve()
    sources = read_sources(root)
    if not sources:
        print(f"{root}: no source file found", file=sys.stderr)
        return 1
    breaks = 0
    for source in sources.values():
        for line, text in (*layer_breaks(source, sources), *form_breaks(source)):
            print(f"{source.path}:{line}: {text}")
            breaks += 1
    for path, line, text in double_types(sources):
        print(f"{path}:{line}: {text}")
        breaks += 1
    print(f"{len(sources)} files read, {breaks} breaks of the rules")
    return 1 if breaks else 0


if __name__ == "__main__":
    sys.exit(main())
