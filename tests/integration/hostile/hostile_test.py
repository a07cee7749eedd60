#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Directories that nobody's recorder made: every command answers with status 0, 1 or 3, in bounded
memory, and changes nothing outside.

usage: hostile_test.py cases [NAME...]       each file of cases/, or these
       hostile_test.py mutations FROM TO     changes number FROM to TO - 1 of cases and seeds

A case is one file in cases/: its docstring says what is hostile, `make(world)` builds world.trace
(world.py), and `check(world, answers)`, where there is one, looks at what the commands answered.
COMMANDS, where there is one, replaces the commands of world.py (COMMANDS and MORE). A case that cannot be made here
raises Skip.
"""
import importlib.util
import os
import random
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mutate  # noqa: E402
import seeds  # noqa: E402
import world  # noqa: E402

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
SEEDS = ("sealed", "sealed", "sealed", "held", "held", "rings", "rings", "hidden")  # more of what has more to read


class Skip(Exception):
    """Why a case cannot be made on this machine."""


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(CASES, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    module.Skip = Skip
    spec.loader.exec_module(module)
    return module


def names_of_cases():
    return sorted(name[:-len(".py")] for name in os.listdir(CASES) if name.endswith(".py"))


def run_case(name, made):
    case = load(name)
    place = world.World(made)
    try:
        case.make(place)
        answers = place.run_all(getattr(case, "COMMANDS", world.COMMANDS + place.more()))
        if hasattr(case, "check"):
            case.check(place, answers)
    finally:
        place.close()


def run_mutation(number, made):
    rng = random.Random(number)
    cases = [name for name in names_of_cases() if not hasattr(load(name), "COMMANDS")]
    place = world.World(made)
    name = rng.choice(SEEDS if rng.random() < 0.6 else cases)
    try:
        if name in SEEDS:
            place.copy(name)
        else:
            load(name).make(place)
        mutate.mutate(rng, place)
        place.guarded.clear()
        place.run_all(world.COMMANDS + (rng.choice(place.more()),))
    finally:
        place.close()


def attempt(what, function, *args):
    """True: passed, or cannot be tried here."""
    try:
        function(*args)
    except Skip as reason:
        print(f"{what}: skipped: {reason}")
    except Exception:  # pylint: disable=broad-except
        print(f"{what}: failed", flush=True)
        traceback.print_exc()
        return False
    return True


def main(kind, *args):
    made = seeds.Seeds()
    try:
        if kind == "cases":
            tried = [attempt(name, run_case, name, made) for name in args or names_of_cases()]
        else:
            tried = []
            for i in range(int(args[0]), int(args[1])):
                tried.append(attempt(f"mutation {i}", run_mutation, i, made))
                if len(tried) % 100 == 0:
                    print(f"{len(tried)} tried, {tried.count(False)} failed", flush=True)
    finally:
        made.close()
    print(f"{len(tried)} tried, {tried.count(False)} failed")
    return 0 if all(tried) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
