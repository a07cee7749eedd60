# SPDX-License-Identifier: Apache-2.0
"""The ways to run a program: without a tracer, under strace, LTTng-UST, perf trace, whyio.

Each is a class with `name`, `available()` (a reason why not, or None), `command(argv)` and
`environment()`. `scale` says how many calls it manages in the time that the program alone needs:
slow tracers get fewer, so that a round does not take minutes.
"""
import os
import shutil
import subprocess
import time


class Alone:
    name = "no tracer"
    scale = 1.0

    def __init__(self, place):
        self.place = place

    def available(self):
        return None

    def start(self):
        pass

    def stop(self):
        pass

    def command(self, argv):
        return argv

    def environment(self):
        return {}


class Strace(Alone):
    name = "strace -f"
    scale = 0.02

    def available(self):
        return None if shutil.which("strace") else "strace is not installed"

    def command(self, argv):
        return ["strace", "-f", "-o", os.path.join(self.place, "strace.out"), *argv]


class PerfTrace(Alone):
    name = "perf trace"
    scale = 0.05

    def available(self):
        if not shutil.which("perf"):
            return "perf is not installed"
        trial = subprocess.run(self.command(["true"]), capture_output=True, check=False)
        return None if trial.returncode == 0 else "perf trace does not work here"

    def command(self, argv):
        return ["perf", "trace", "-o", os.path.join(self.place, "perf.out"), *argv]


class Lttng(Alone):
    """LTTng-UST, with the preloaded library of bench/lttng: LTTng wraps no file calls itself."""
    name = "LTTng-UST"
    session = f"whyio-bench-{os.getpid()}"

    def __init__(self, place, library):
        super().__init__(place)
        self.library, self.daemon = library, None

    def available(self):
        if not os.path.exists(self.library):
            return "liblttng-ust-dev was not installed when bench was built"
        return None if shutil.which("lttng-sessiond") else "lttng-tools is not installed"

    def lttng(self, *args):
        return subprocess.run(["lttng", "--no-sessiond", "-q", *args], timeout=20, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def start(self):
        if not self.lttng("list"):
            self.daemon = subprocess.Popen(
                ["lttng-sessiond", "--no-kernel"], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(50):
                time.sleep(0.1)
                if self.lttng("list"):
                    break
        output = os.path.join(self.place, "lttng")
        if not (self.lttng("create", self.session, f"--output={output}")
                and self.lttng("enable-event", "-u", "whyio_bench:*") and self.lttng("start")):
            raise RuntimeError("lttng: the session does not start")

    def stop(self):
        self.lttng("destroy", self.session)
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()

    def environment(self):
        return {"LD_PRELOAD": self.library}


class Whyio(Alone):
    name = "whyio"

    def __init__(self, place, command):
        super().__init__(place)
        self.whyio = command

    @property
    def trace(self):
        return os.path.join(self.place, "trace")

    def available(self):
        return None if shutil.which(self.whyio) else f"{self.whyio} is not there"

    def command(self, argv):
        return [self.whyio, "record", "-q", "--force", "-o", self.trace, "--", *argv]
