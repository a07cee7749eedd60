#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail on a cycle of files within a room: a file uses, directly or through others, a symbol of a
file that uses a symbol of it. Objects are read (nm), not text: what the linker sees decides.

usage: cycles.py BUILD             check the objects of src/ that are in the build directory BUILD
       cycles.py --why BUILD ROOM  print which symbols close the cycles of a room
       cycles.py --self-test       check the checker
"""
import json
import os
import subprocess
import sys


def objects(build):
    """{source below src/: object}, one object for each source."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    found = {}
    for command in commands:
        path = os.path.join(command["directory"], command["file"])
        path = os.path.relpath(path, os.path.join(build, os.pardir))
        output = os.path.join(build, command.get("output", ""))
        if path.startswith("src/") and path.endswith(".c") and os.path.isfile(output):
            found.setdefault(path[len("src/"):], output)
    return found


def symbols(text):
    """[(object, defined, wanted)] from the output of nm -A: external names of each object."""
    rows = {}
    for line in text.splitlines():
        name, rest = line.split(":", 1)
        fields = rest.split()
        defined, wanted = rows.setdefault(name, (set(), set()))
        if fields[-2] in ("U", "w", "v"):
            wanted.add(fields[-1])
        elif fields[-2].isupper():
            defined.add(fields[-1])
    return rows


def read_symbols(files):
    """{source: (defined, wanted)}"""
    if not files:
        return {}
    text = subprocess.run(["nm", "-A", *files.values()], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    rows = symbols(text)
    return {source: rows.get(file, (set(), set())) for source, file in files.items()}


def room(source):
    return source.split("/")[0]


def arrows(table):
    """{source: {source it uses: names}} within rooms."""
    home = {}
    for source, (defined, _) in table.items():
        for name in defined:
            home[(room(source), name)] = source
    graph = {}
    for source, (_, wanted) in table.items():
        uses = graph.setdefault(source, {})
        for name in wanted:
            other = home.get((room(source), name))
            if other and other != source:
                uses.setdefault(other, set()).add(name)
    return graph


def reached(graph, start):
    seen, left = set(), [start]
    while left:
        for other in graph[left.pop()]:
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def cycles(graph):
    """Sorted groups of files that reach each other."""
    below = {source: reached(graph, source) for source in graph}
    groups, done = [], set()
    for source in sorted(graph):
        if source in below[source] and source not in done:
            group = sorted(other for other in below[source] if source in below[other])
            groups.append(group)
            done.update(group)
    return groups


def faults(groups):
    for group in groups:
        yield f"cycle of {', '.join(group)}"


def print_why(graph, groups):
    for group in groups:
        print("cycle:", " ".join(group))
        for source in group:
            for other in sorted(graph[source]):
                if other in group:
                    print(f"  {source} -> {other}: {' '.join(sorted(graph[source][other]))}")


def self_test():
    text = """
a.o: U r_b
a.o:0000000000000000 T r_a
a.o:0000000000000000 t helper
b.o: U r_c
b.o:0000000000000000 T r_b
c.o: U r_b
c.o: U helper
c.o:0000000000000000 T r_c
d.o: U r_a
d.o:0000000000000010 D r_d""".strip()
    rows = symbols(text)
    table = {f"room/{name[0]}.c": pair for name, pair in rows.items()}
    table["other/e.c"] = ({"r_e"}, {"r_a"})
    graph = arrows(table)
    groups = cycles(graph)
    checks = (
        ("defined", rows["a.o"][0] == {"r_a"}),
        ("wanted", rows["c.o"][1] == {"r_b", "helper"}),
        ("a static name is not external", "room/a.c" not in graph["room/c.c"]),
        ("rooms apart", graph["other/e.c"] == {}),
        ("cycle", groups == [["room/b.c", "room/c.c"]]),
        ("faults", len(list(faults(groups))) == 1),
        ("of itself", not cycles({"room/x.c": {}})))
    for name, ok in checks:
        if not ok:
            print(f"self-test: {name}: the wrong answer", file=sys.stderr)
    return 0 if all(ok for _, ok in checks) else 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    why = sys.argv[1] == "--why"
    build = sys.argv[2] if why else sys.argv[1]
    table = read_symbols(objects(build))
    if not table:
        print(f"{build}: no objects of src/", file=sys.stderr)
        return 1
    graph = arrows(table)
    groups = cycles(graph)
    if why:
        print_why(graph, [group for group in groups if room(group[0]) == sys.argv[3]])
        return 0
    found = list(faults(groups))
    for text in found:
        print(text, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
