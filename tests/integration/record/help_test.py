#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The options of each command's --help are those of its manual page, and of the completion."""

import os
import re
import subprocess
import unittest

from record_case import WHYIO

SOURCE = os.environ["WHYIO_SOURCE"]
OPTION = re.compile(r"(?<![\w-])(-[a-zA-Z?]|--[a-z][a-z-]*)(?![\w-])")


def commands():
    text = subprocess.run([WHYIO, "--help"], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^  ([a-z]+) +\S", text, re.MULTILINE)


def help_options(command):
    """{option: argument} of --help; argp prints the argument behind the long name only."""
    text = subprocess.run(
        [WHYIO, command, "--help"], check=True, capture_output=True, text=True
    ).stdout
    options = {}
    for line in re.findall(r"^ {2,6}(-.*?)(?:  |$)", text, re.MULTILINE):
        argument = re.search(r"\[?=(\w+)\]?", line)
        for option in OPTION.findall(line):
            options[option] = argument.group(1) if argument else None
    return options


def page_options(command):
    """The same of the OPTIONS section of the page's source: lines that begin with *-."""
    for name in (f"whyio-{command}.1.scd", f"whyio-{command}.1.scd.in"):
        path = os.path.join(SOURCE, "man", name)
        if os.path.exists(path):
            break
    with open(path, encoding="utf-8") as page:
        section = page.read().split("\n# OPTIONS\n", 1)[1].split("\n# ", 1)[0]
    options = {}
    for line in re.findall(r"^\*-.*$", section, re.MULTILINE):
        line = re.sub(r"(?<!\\)[*_]", "", line)
        argument = re.search(r"\[?=(\w+)\]?", line)
        for option in OPTION.findall(line):
            options[option] = argument.group(1) if argument else None
    return options


def complete(*words):
    """What the completion offers for the last of the words."""
    script = (
        f"source {SOURCE}/completions/whyio.bash; compopt() {{ :; }}; "
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _whyio "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    answer = subprocess.run(
        ["bash", "-c", script, "-", WHYIO, *words], check=True, capture_output=True, text=True
    )
    return set(answer.stdout.split())


class Help(unittest.TestCase):
    def test_there_are_commands(self):
        self.assertIn("record", commands())

    def test_options_equal_the_manual_page(self):
        for command in commands():
            with self.subTest(command):
                self.assertEqual(help_options(command), page_options(command))

    def test_common_options_are_everywhere(self):
        for command in commands():
            with self.subTest(command):
                options = help_options(command)
                self.assertLessEqual({"-q", "--quiet", "--format", "--help"}, set(options))

    def test_overview_lists_all_commands(self):
        with open(os.path.join(SOURCE, "man", "whyio.1.scd"), encoding="utf-8") as page:
            listed = re.findall(r"^\*whyio ([a-z]+)\*", page.read(), re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(commands()))


class Completion(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(complete(""), set(commands()) | {"--help", "--version"})
        self.assertEqual(complete("rec"), {"record"})

    def test_options(self):
        for command in commands():
            with self.subTest(command):
                offered = {option.rstrip("=") for option in complete(command, "--")}
                long_names = {option for option in help_options(command) if option[:2] == "--"}
                self.assertEqual(offered, long_names)

    def test_values(self):
        self.assertEqual(complete("info", "--format=t"), {"text"})
        self.assertEqual(complete("info", "--format", "=", "js"), {"json"})
        self.assertEqual(complete("record", "--causal", "="), {"observe", "throttle", "off"})
        self.assertEqual(complete("predict", "--model", "=", ""), {"kernel", "cawl", "naive"})
        self.assertEqual(complete("predict", "--direct=o"), {"on", "off"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
