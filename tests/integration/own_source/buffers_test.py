#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""buffers_test.py STREAMS: small writes are told with the buffer of the library that made them.

CAWL, section 4.5: "IO operations of other libraries or languages (e.g., fstream of C++) buffer the
data up to several kilobytes, as well".
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PYTHON = "with open('out', 'wb') as file:\n for i in range(20000): file.write(b'x' * 100)\n"
JAVA = """import java.io.*;
public class Out {
    public static void main(String[] args) throws Exception {
        try (OutputStream out = new BufferedOutputStream(new FileOutputStream("out"))) {
            for (int i = 0; i < 20000; i++) out.write(new byte[100]);
        }
    }
}
"""


def finding(command):
    """Of the small writes into the file `out`."""
    subprocess.run([os.environ["WHYIO"], "record", "-q", "--force", "-o", "t", "--", *command], check=True,
                   timeout=100)
    text = subprocess.run([os.environ["WHYIO"], "explain", "--all", "--format=json", "t"], check=True,
                          stdout=subprocess.PIPE).stdout
    found = json.loads(text)["findings"]
    return [one for one in found if one["kind"] == "small_writes" and os.path.basename(one["path"] or "") == "out"]


def faults(streams):
    with open("Out.java", "w", encoding="ascii") as file:
        file.write(JAVA)
    programs = {"C++ streams (8 KiB by default): rdbuf()->pubsetbuf": [streams],
                "Python (8 KiB or a block by default): open(.., buffering=": [sys.executable, "-c", PYTHON]}
    if shutil.which("java") and shutil.which("javac"):
        programs["Java (8 KiB, or none by default): new BufferedOutputStream"] = ["java", "Out.java"]
    for words, command in programs.items():
        found = finding(command)
        if len(found) != 1 or words not in found[0]["change"]["text"]:
            yield f"{command}: expected a change with '{words}', found {found}"
        elif found[0]["change"]["predict_options"] != "--aggregate=1M":
            yield f"{command}: {found[0]['change']}"
    plain = finding([sys.executable, "-c", "import os\nfd = os.open('out', 1 | 64)\n"
                     "for i in range(2000): os.write(fd, b'x' * 9)\n"])
    if len(plain) != 1 or "open(.., buffering=" not in plain[0]["change"]["text"]:
        yield f"os.write: {plain}"


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="whyio-buffers.") as scratch:
        os.chdir(scratch)
        found = list(faults(program))
        os.chdir("/")
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
