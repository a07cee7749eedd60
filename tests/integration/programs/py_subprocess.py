# SPDX-License-Identifier: Apache-2.0
"""subprocess: children with files, pipes, another directory and their own environment."""
import os
import subprocess

with open("data", "rb") as source, open("sorted", "wb") as target:
    subprocess.run(["sort"], stdin=source, stdout=target, check=True)
print(subprocess.run(["wc", "-c", "sorted"], capture_output=True, check=True).stdout)
print(subprocess.run("head -c 5 data > piece; cat piece", shell=True, capture_output=True,
                     check=True).stdout)
os.mkdir("d")
subprocess.run(["cp", "../data", "copy"], cwd="d", check=True)
subprocess.run(["/bin/cp", "d/copy", "d/again"], env={"ONLY": "this"}, check=True)
print(subprocess.run(["cat", "missing"], stderr=subprocess.DEVNULL, check=False).returncode)
pid = os.fork()
if pid == 0:
    os.execv("/bin/sh", ["sh", "-c", "echo child > child; exit 7"])
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
pid = os.posix_spawn("/bin/cp", ["cp", "child", "spawned"], {})
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
