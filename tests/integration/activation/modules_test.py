#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modules_test.py tcl|lua LIBRARY: the module file is evaluated by its language, in which the commands of
environment-modules or Lmod are defined here; a program runs in the environment that it asks for."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import scripts

SKIPPED = 77
INTERPRETERS = {"tcl": ["tclsh"], "lua": ["lua5.4", "lua5.3", "lua5.1", "lua", "luajit"]}
# What a module file may call; each prints what it was asked for.
COMMANDS = {
    "tcl": """proc module-whatis {text} { puts "whatis $text" }
proc setenv {name value} { puts "set $name $value" }
proc prepend-path {name value} { puts "prepend $name $value" }
foreach _once {1} { source [lindex $argv 0] }
if {[llength [info procs ModulesHelp]] != 1} { exit 1 }
ModulesHelp
""",
    "lua": """function help(text) io.stderr:write(text, "\\n") end
function whatis(text) print("whatis " .. text) end
function setenv(name, value) print("set " .. name .. " " .. value) end
function prepend_path(name, value) print("prepend " .. name .. " " .. value) end
function pathJoin(a, b) return a .. "/" .. b end
function isFile(name) local file = io.open(name) ; if file then file:close() end ; return file ~= nil end
function LmodError(text) io.stderr:write(text, "\\n") ; os.exit(1) end
dofile(arg[1])
""",
}


def evaluate(interpreter, language, place, library, environment):
    module = scripts.install("whyio." + language, place, library)
    driver = os.path.join(place, "driver." + language)
    with open(driver, "w", encoding="ascii") as file:
        file.write(COMMANDS[language])
    return subprocess.run([interpreter, driver, module], cwd=place, env=dict(environment, PWD=place), check=False,
                          capture_output=True, text=True, timeout=60)


def environment_of(answer, environment):
    """What the module makes of an environment."""
    made = dict(environment)
    for line in answer.stdout.splitlines():
        words = line.split(" ", 2)
        if words[0] == "set":
            made[words[1]] = words[2]
        elif words[0] == "prepend":
            made[words[1]] = words[2] + (":" + made[words[1]] if made.get(words[1]) else "")
        else:
            assert words[0] == "whatis", line
    return made


def main(language, library):
    interpreter = next((name for name in INTERPRETERS[language] if shutil.which(name)), None)
    if interpreter is None:
        print(f"skipped: none of {', '.join(INTERPRETERS[language])} is installed", file=sys.stderr)
        return SKIPPED
    clean = {name: text for name, text in os.environ.items()
             if name not in ("LD_PRELOAD", "WHYIO_TRACE", "SLURM_JOB_ID")}
    with tempfile.TemporaryDirectory(prefix="whyio-module.") as place:
        place = os.path.realpath(place)
        answer = evaluate(interpreter, language, place, library, dict(clean, SLURM_JOB_ID="4711"))
        assert answer.returncode == 0, answer.stderr
        made = environment_of(answer, clean)
        assert made["WHYIO_TRACE"] == os.path.join(place, "whyio-4711.whyio"), made["WHYIO_TRACE"]
        assert made["LD_PRELOAD"] == library
        subprocess.run(["ls", place], env=made, check=True, stdout=subprocess.DEVNULL)
        info = json.loads(subprocess.run([os.environ["WHYIO"], "info", "--format=json", made["WHYIO_TRACE"]], check=True,
                                         stdout=subprocess.PIPE).stdout)
        assert info["events"] > 0 and info["processes"] == 1, info
        # a directory of the user's own stays, and so does a library
        answer = evaluate(interpreter, language, place, library, dict(clean, WHYIO_TRACE="/own"))
        assert "WHYIO_TRACE" not in answer.stdout, answer.stdout
        assert environment_of(answer, dict(clean, LD_PRELOAD="libx.so"))["LD_PRELOAD"] == library + ":libx.so"
        # without a job there is a name, too; a library that is not there is told
        answer = evaluate(interpreter, language, place, library, clean)
        assert f"set WHYIO_TRACE {place}/whyio-20" in answer.stdout, answer.stdout
        answer = evaluate(interpreter, language, place, "/no/such.so", clean)
        assert "cannot read /no/such.so" in answer.stderr and "prepend" not in answer.stdout, answer
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], os.path.abspath(sys.argv[2])))
