#!/usr/bin/env python3
"""Proves every algorithm of examples/ and holds what its header says against what the compiler counts.

A header says, in the algorithm's comment before its text,

    // Parameters:         rows = divisor(ranks, root(ranks, 2)); also 1, ranks
    //                     where columns = ranks / rows
    // Steps:              2 * (rows - 1) + 2 * (columns - 1)
    // Bytes sent a rank:  at most 2, the root more than others
    // Ranks:              a power of two

A formula ends at a comma or with its line. Steps are messages on the longest chain; bytes are those
of the rank that sends most, in units of the message, the larger of a rank's two buffers. Formulas know
ranks, the parameters, what FUNCTIONS below lists and Python's arithmetic, which is exact. Ranks is a
condition; numbers of ranks that do not meet it must be refused by an assertion of the program's own.

Parameters have a line each: the default, and for which other values of this one the algorithm is to be
proved too, up to 17 ranks.

Algorithms that speak of nodes are held for every number of nodes up to 8 that divides the ranks; their
formulas know nodes and ranks_per_node too.

--run also runs each algorithm on 2 to 8 ranks, and on 6 with the other values of its parameters: in
place and out of place, odd counts, every result checked. --table writes the table of docs/algorithms.md from what was measured, --check-table compares.
"""

import argparse
import ast
import concurrent.futures
import json
import operator
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
FEW_RANKS = range(1, 18)
RANKS = [*FEW_RANKS, 32]
MORE_RANKS = [64, 100, 128]
COUNTS = "0,1,37,1023"
TABLE = ROOT / "docs" / "algorithms.md"

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: lambda a, b: Fraction(a) / Fraction(b), ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: lambda a, b: int(a) & int(b),
    ast.USub: operator.neg, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}


def root(x, n):
    """The largest whole number whose n-th power is not above x."""
    return max(number for number in range(int(x) + 1) if number ** int(n) <= x)


def digits(number, base):
    """A number's digits in a base, the last first; none of 0."""
    return [number // base ** place % base for place in range(log(number, base) + 1)] if number else []


def log(x, base):
    """The largest whole number that base, to its power, is not above x with."""
    return max(number for number in range(int(x).bit_length()) if base ** number <= x)


# log2, log and root are rounded down; divisor is the largest divisor of n that is not above `most`;
# nonzero_digits are the digits other than 0 of all the numbers below n.
FUNCTIONS = {
    "log2": lambda x: int(x).bit_length() - 1, "ceil_log2": lambda x: (int(x) - 1).bit_length(),
    "log": log, "root": root, "min": min, "max": max,
    "divisor": lambda n, most: max(each for each in range(1, int(most) + 1) if n % each == 0),
    "nonzero_digits": lambda n, base: sum(digit > 0 for number in range(int(n))
                                          for digit in digits(number, int(base))),
}
CONDITIONS = {
    "a power of two": "ranks & (ranks - 1) == 0", "even": "ranks % 2 == 0",
    "at least 2": "ranks >= 2",
}


class Failure(Exception):
    """What is wrong with an algorithm."""


def evaluate(text, names):
    """The value of a formula: only numbers, names, and what is listed above."""
    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return Fraction(node.value) if not isinstance(node.value, bool) else node.value
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp):
            return OPERATORS[type(node.op)](value(node.operand))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return OPERATORS[type(node.ops[0])](value(node.left), value(node.comparators[0]))
        if isinstance(node, ast.BoolOp):
            values = [value(each) for each in node.values]
            return all(values) if isinstance(node.op, ast.And) else any(values)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return FUNCTIONS[node.func.id](*[value(each) for each in node.args])
        raise Failure(f"the header's formula '{text}' is none that is known here")
    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, KeyError, TypeError) as error:
        raise Failure(f"the header's formula '{text}' cannot be read: {error}") from error


def split_commas(text):
    """The parts of a text between commas that stand in no parentheses."""
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    return [each.strip() for each in [*parts, part]]


class Header:
    """What the comment of an algorithm promises."""

    def __init__(self, path):
        self.path = path
        self.fields, last = {}, None
        text = path.read_text(encoding="utf-8")
        code = re.sub("//[^\n]*", "", text)
        self.uses_nodes = re.search(r"\b(nodes|ranks_per_node|node|local|rank)\b", code) is not None
        comment = re.match(r"(//[^\n]*\n)+", text)
        if not comment:
            raise Failure("the file does not begin with a comment")
        for line in comment.group(0).splitlines():
            if field := re.match(r"// (Parameters|Steps|Bytes sent a rank|Ranks|Source): +(.*)", line):
                last = field.group(1)
                self.fields[last] = [field.group(2)]
            elif last and re.match(r"//  +\S", line):
                self.fields[last].append(line[2:].strip())
            else:
                last = None
        for name in ("Steps", "Bytes sent a rank", "Source"):
            if name not in self.fields:
                raise Failure(f"the header has no line '{name}:'")

    def parameters(self):
        """Name, formula of the default, and formulas of other values of each parameter."""
        for line in self.fields.get("Parameters", []):
            if not line.startswith("where "):
                default, *others = line.split("; also ")
                name, formula = default.split(" = ", 1)
                yield name, formula, split_commas(others[0]) if others else []

    def choices(self, ranks, few=True):
        """Parameters to give: none, and where there are few ranks each other value."""
        yield {}
        defaults = self.where(ranks)
        for name, _, others in self.parameters() if few else ():
            for value in {evaluate(other, defaults) for other in others} - {defaults[name]}:
                yield {name: value}

    def where(self, ranks, nodes=1, given=()):
        names = {"true": True, "false": False, "ranks": Fraction(ranks), "nodes": Fraction(nodes),
                 "ranks_per_node": Fraction(ranks, nodes)}
        for name, default, _ in self.parameters():
            names[name] = given[name] if name in given else evaluate(default, names)
        for lines in self.fields.values():
            for line in lines[1:]:
                if line.startswith("where "):
                    for definition in split_commas(line.removeprefix("where ")):
                        name, formula = definition.split("=", 1)
                        names[name.strip()] = evaluate(formula.strip(), names)
        return names

    def formula(self, name):
        """The formula's text, and whether it is a bound."""
        text = split_commas(self.fields[name][0])[0]
        return text.removeprefix("at most "), text.startswith("at most ")

    def expect(self, name, ranks, nodes, given, found):
        text, is_bound = self.formula(name)
        expected = evaluate(text, self.where(ranks, nodes, given))
        if found > expected if is_bound else found != expected:
            chosen = "".join(f", {option}" for option in options(given)[1::2])
            raise Failure(f"{ranks} ranks, {nodes} nodes{chosen}: the header's {name.lower()} are {text} = "
                          f"{expected}, the compiler counts {found}")

    def node_counts(self, ranks):
        return [nodes for nodes in range(1, 9 if self.uses_nodes else 2) if ranks % nodes == 0]

    def allows(self, ranks):
        if "Ranks" not in self.fields:
            return True
        text = split_commas(self.fields["Ranks"][0])[0]
        return bool(evaluate(CONDITIONS.get(text, text), self.where(ranks)))


def options(given):
    """The tools' options for values of parameters."""
    return [word for name, value in given.items() for word in ("--param", f"{name}={str(value).lower()}")]


def explain(coilc, path, ranks, nodes, given):
    """What coilc counts, or none where an assertion of the program refuses."""
    command = [coilc, path, "-n", str(ranks), "--nodes", str(nodes), *options(given), "--explain=json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if f"(with {ranks} ranks)" in done.stderr:
        return None
    raise Failure(f"{' '.join(map(str, command[1:]))}: coilc's exit code is {done.returncode}\n{done.stderr}")


def prove(coilc, path, all_ranks):
    """The numbers of ranks that the algorithm was proved for."""
    header, proved = Header(path), []
    for ranks in all_ranks:
        for nodes, given in [(nodes, given) for nodes in header.node_counts(ranks)
                             for given in header.choices(ranks, ranks in FEW_RANKS)]:
            facts = explain(coilc, path, ranks, nodes, given)
            if (facts is not None) != header.allows(ranks):
                raise Failure(f"{ranks} ranks are " + ("refused, but the header allows them"
                              if facts is None else "accepted, but the header excludes them"))
            if facts is None:
                break
            header.expect("Steps", ranks, nodes, given, facts["steps"])
            header.expect("Bytes sent a rank", ranks, nodes, given, Fraction(facts["bytes_sent_fraction"]))
        else:
            proved.append(ranks)
    if not any(ranks > 1 for ranks in proved):
        raise Failure("no number of ranks was proved")
    return proved


def run(coil_run, path, header):
    """Runs the algorithm on up to 8 ranks and has every element checked."""
    for ranks in range(2, 9):
        if not header.allows(ranks):
            continue
        for nodes, given in [(nodes, given) for nodes in header.node_counts(ranks)
                             for given in header.choices(ranks, ranks == 6)]:
            command = [coil_run, path, "-n", str(ranks), "--nodes", str(nodes), *options(given),
                       "--count", COUNTS, "--memory", "both", "--iters", "2", "--warmup", "1",
                       "--check", "--quiet"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
            if done.returncode != 0:
                raise Failure(f"{' '.join(map(str, command[1:]))}: coil-run's exit code is "
                              f"{done.returncode}\n{done.stdout}{done.stderr}")


def lines_of_code(path):
    lines = [line.split("//")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return sum(1 for line in lines if line)


def describe(numbers):
    """1 to 17, 32: runs of numbers made short."""
    text, i = [], 0
    while i < len(numbers):
        end = i
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        if end - i > 1:
            text.append(f"{numbers[i]} to {numbers[end]}")
        else:
            text += [str(number) for number in numbers[i:end + 1]]
        i = end + 1
    return ", ".join(text)


def table(rows):
    lines = ["| Algorithm | Steps | Bytes sent a rank | Proved for ranks | Lines |",
             "| --- | --- | --- | --- | --- |"]
    for path, proved in rows:
        header = Header(path)
        name = path.relative_to(EXAMPLES).with_suffix("").as_posix()
        parameters = ", ".join(f"`{name} = {default}`" for name, default, _ in header.parameters())
        shared = [line for line in header.fields.get("Parameters", []) if line.startswith("where ")]
        cells = []
        for field in ("Steps", "Bytes sent a rank"):
            formula, is_bound = header.formula(field)
            wheres = [line for line in header.fields[field][1:] + shared if line.startswith("where ")
                      and re.search(rf"\b{line.split()[1]}\b", formula)]
            cells.append(" ".join((["at most"] if is_bound else []) + [f"`{formula}`", *wheres]))
        lines.append(f"| [`{name}`](../examples/{name}.coil)"
                     f"{' with ' + parameters if parameters else ''} | {cells[0]} | {cells[1]} | "
                     f"{describe(proved)} | {lines_of_code(path)} |")
    return "\n".join(lines) + "\n"


def replace_table(text, new):
    begin, end = "<!-- table: test/library/library.py --table -->\n", "<!-- end of the table -->\n"
    head, rest = text.split(begin)
    return head + begin + new + end + rest.split(end)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "dev", help="build folder")
    parser.add_argument("--all", action="store_true",
                        help="up to 128 ranks, which takes minutes; default: up to 32")
    parser.add_argument("--run", action="store_true", help="run the algorithms too")
    parser.add_argument("--table", action="store_true", help="write the table (implies --all)")
    parser.add_argument("--check-table", action="store_true",
                        help="compare the table but for its numbers of ranks")
    parser.add_argument("names", nargs="*", help="such as allreduce/ring; default: all")
    arguments = parser.parse_args()
    coilc, coil_run = arguments.build / "bin" / "coilc", arguments.build / "bin" / "coil-run"
    paths = [EXAMPLES / f"{name}.coil" for name in arguments.names] or sorted(EXAMPLES.rglob("*.coil"))
    ranks = RANKS + MORE_RANKS if arguments.all or arguments.table else RANKS

    failures, rows = 0, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        proofs = [pool.submit(prove, coilc, path, ranks) for path in paths]
        for path, proof in zip(paths, proofs):
            name = path.relative_to(EXAMPLES).with_suffix("").as_posix()
            try:
                proved = proof.result()
                if arguments.run:
                    run(coil_run, path, Header(path))
                rows.append((path, proved))
                print(f"{name}: {describe(proved)} ranks", flush=True)
            except Failure as failure:
                failures += 1
                print(f"{name}: {failure}", flush=True)
    if not failures and (arguments.table or arguments.check_table):
        text = TABLE.read_text(encoding="utf-8")
        if arguments.table:
            TABLE.write_text(replace_table(text, table(rows)), encoding="utf-8")
        else:
            def cells(lines):
                return [line.split("|")[1:4] + line.split("|")[5:] for line in lines.splitlines()
                        if line.startswith("| [`")]
            if cells(text) != cells(table(rows)):
                print("docs/algorithms.md's table is stale: test/library/library.py --table")
                failures += 1
    print(f"{len(paths)} algorithms, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
