#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fill whyio-env.1.scd.in with the table of variables that `whyio env` prints."""

import json
import subprocess
import sys


def escape(text):
    """scdoc takes * and _ for markup."""
    return text.replace("\\", "\\\\").replace("_", "\\_").replace("*", "\\*")


def paragraph(variable):
    return "*{}*\n\t{}. Default: {}.\n\n".format(
        escape(variable["name"]), escape(variable["meaning"]), escape(variable["default"])
    )


def main(whyio, template, output):
    answer = subprocess.run(
        [whyio, "env", "--format=json"], check=True, capture_output=True, env={}
    ).stdout
    table = "".join(paragraph(variable) for variable in json.loads(answer)["variables"])
    with open(template, encoding="utf-8") as source:
        page = source.read().replace("@VARIABLES@\n", table)
    with open(output, "w", encoding="utf-8") as target:
        target.write(page)


if __name__ == "__main__":
    main(*sys.argv[1:])
