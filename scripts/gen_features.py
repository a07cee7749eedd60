#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate what binds capture's core and its features from src/capture/features.def.

    gen_features.py hooks features.def features.h features_gen.c    cap_on_HOOK of features.h
    gen_features.py parts features.def thread_parts_gen.h           the parts of struct cap_thread, cap_image

A hook without a result calls all of its functions; one whose last parameter has the type of its
result gives each function what the one before it gave; any other stops at the first result that is
not 0.
"""
import re
import sys

HOOK = re.compile(r"^([\w ]+?) ?cap_on_(\w+)\(([^)]*)\)\s*CAP_HIDDEN;", re.M)


def read_table(path):
    """[(hook, function, header)]"""
    with open(path, encoding="ascii") as lines:
        rows = [[part.strip() for part in line.split("|")] for line in lines
                if line.strip() and not line.startswith("#")]
    for row in rows:
        if len(row) != 3:
            sys.exit(f"features.def: {' | '.join(row)}: hook | function | header expected")
    return rows


def read_hooks(path):
    """{hook: (result, [parameters as declared])}, in the order of the header."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    return {name: (result, [" ".join(part.split()) for part in params.split(",")])
            for result, name, params in HOOK.findall(text)}


def body(result, params, functions):
    """Lines of the function that calls them."""
    names = [] if params == ["void"] else [re.search(r"\w+$", part).group() for part in params]
    calls = [f"{function}({', '.join(names)})" for function in functions]
    if result == "void":
        return [f"(void){name};" for name in names if not calls] + [f"{call};" for call in calls]
    if names and params[-1] == f"{result} {names[-1]}":
        return [f"{names[-1]} = {call};" for call in calls] + [f"return {names[-1]};"]
    if len(calls) == 1:
        return [f"return {calls[0]};"]
    lines = [f"{result} answer = 0;"]
    for call in calls:
        lines += ["if (answer == 0) {", f"    answer = {call};", "}"]
    return lines + ["return answer;"]


def write_parts(rows, out):
    """The members as macros, and what makes all of a thread's zero."""
    parts = [(row[0].split(), row[1], row[2]) for row in rows if " " in row[0]]
    out.write("/* Generated from features.def by gen_features.py. */\n"
              "#ifndef WIO_CAPTURE_THREAD_PARTS_GEN_H\n#define WIO_CAPTURE_THREAD_PARTS_GEN_H\n\n")
    out.writelines(f'#include "capture/{header}"\n' for header in sorted({part[2] for part in parts}))
    for owner in ("thread", "image"):
        members = [f"    {struct} {name};" for (kind, name), struct, _ in parts if kind == owner]
        out.write(f"\n#define CAP_{owner.upper()}_PARTS \\\n" + " \\\n".join(members) + "\n")
    resets = [f"    (thread)->{name} = ({struct}){{0}};" for (kind, name), struct, _ in parts if kind == "thread"]
    out.write("\n#define CAP_RESET_PARTS(thread) \\\n    do { \\\n    " + " \\\n    ".join(resets)
              + " \\\n    } while (0)\n\n#endif\n")


def write_hooks(rows, hooks, out):
    """One function per hook."""
    rows = [row for row in rows if " " not in row[0]]
    for hook, function, _ in rows:
        if hook not in hooks:
            sys.exit(f"features.def: {function}: features.h has no cap_on_{hook}")
    out.write("/* Generated from features.def by gen_features.py. */\n")
    out.write('#include "capture/core/features.h"\n')
    out.writelines(f'#include "capture/{header}"\n' for header in sorted({row[2] for row in rows}))
    for hook, (result, params) in hooks.items():
        functions = [function for name, function, _ in rows if name == hook]
        out.write(f"\n{result} cap_on_{hook}({', '.join(params)})\n{{\n")
        out.writelines(f"    {line}\n" for line in body(result, params, functions))
        out.write("}\n")


def main(what, table, *paths):
    rows = read_table(table)
    with open(paths[-1], "w", encoding="ascii") as out:
        if what == "hooks":
            write_hooks(rows, read_hooks(paths[0]), out)
        else:
            write_parts(rows, out)


if __name__ == "__main__":
    if [*sys.argv, "", ""][1] not in ("hooks", "parts") or len(sys.argv) != (5 if sys.argv[1] == "hooks" else 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
