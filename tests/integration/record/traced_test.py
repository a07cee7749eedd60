#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""traced_test.py TRACED DYNAMIC: static programs recorded by ptrace (--static=trace) do as they do by themselves: status,
output, files, signals, job control; and what the trace says of them. DYNAMIC is the same program, linked dynamically."""

import ctypes
import glob
import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

from record_case import WHYIO, RecordCase, main, until

TRACED = os.path.abspath(sys.argv.pop(1))
DYNAMIC = os.path.abspath(sys.argv.pop(1))
UNPRIVILEGED = 65534
SYS_PTRACE = {"x86_64": 101, "aarch64": 117}
TRACE = ("-q", "--static=trace")
CAPTURE = os.environ.get("WHYIO_CAPTURE_LIB") or glob.glob(
    os.path.join(os.environ["WHYIO_BUILD"], "src", "capture", "libwhyio-capture.so"))[0]


def can_trace():
    with tempfile.TemporaryDirectory() as place:
        return subprocess.run([WHYIO, "record", "-q", "--static=trace", "-o", place + "/t", "--", "true"],
                              check=False, stderr=subprocess.DEVNULL).returncode == 0


if not can_trace():
    print("skipped: ptrace is forbidden here", file=sys.stderr)
    sys.exit(77)


def forbid_ptrace():
    """In a child: a filter of system calls that answers EPERM to ptrace."""
    number = SYS_PTRACE[os.uname().machine]
    filters = struct.pack("=" + "HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, number, 0x06, 0, 0, 0x00050001, 0x06, 0, 0, 0x7FFF0000)
    code = ctypes.create_string_buffer(filters)
    program = struct.pack("HxxxxxxP", 4, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        os._exit(90)


def content(name):
    with open(name, "rb") as file:
        return file.read()


def files_below(place):
    return {os.path.relpath(os.path.join(top, name), place): content(os.path.join(top, name))
            for top, _, names in os.walk(place) for name in names}


class Traced(RecordCase):
    def trace_of(self, *command, **more):
        return self.record(*command, options=TRACE, **more)

    def compared(self, *command, program=TRACED):
        """The same by itself and recorded: status, output, files. The status."""
        found = []
        for place in ("alone", "recorded"):
            os.mkdir(place)
            words = [program, *command]
            if place == "recorded":
                words = [WHYIO, "record", "-o", self.dir + "/t", *TRACE, "--", *words]
            answer = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False, timeout=60)
            found.append((answer.returncode, answer.stdout, answer.stderr, files_below(place)))
        if found[0][0] < 0:  # a signal: the recorder says 128 and its number
            found[0] = (128 - found[0][0], *found[0][1:])
        self.assertEqual(found[0], found[1])
        self.check()
        return found[0][0]

    def ops(self, *names):
        return [line for line in self.dump() if line["op"] in names]

    def assert_whole(self):
        info = self.info()
        self.assertEqual((info["unseen"], info["dropped"], info["complete"]), ({}, 0, True))

    # ---- the program does as it does without -------------------------------------------------

    def test_files(self):
        self.assertEqual(self.compared("files"), 5)
        self.assert_whole()
        place = os.path.realpath("recorded")
        lines = [(line["op"], (line["path"] or "").removeprefix(place + "/"), line["offset"], line["size"],
                  line["result"], line["errno"])
                 for line in self.dump() if (line["path"] or "").startswith(place)]
        data = [line for line in lines if line[1] == "data"]
        self.assertEqual(data[0][0], "open")
        self.assertEqual([line for line in data if line[0] in ("read", "write", "writev", "pread", "pwrite")], [
            ("write", "data", 0, 10, 10, 0), ("writev", "data", 10, 10, 10, 0), ("pwrite", "data", 3, 1, 1, 0),
            ("read", "data", 2, 5, 5, 0), ("pread", "data", 8, 4, 4, 0), ("read", "data", 7, 3, 3, 0),
            ("read", "data", 10, 2, 2, 0)])
        self.assertEqual([line[0] for line in data if line[0] in ("mmap", "munmap", "fsync", "ftruncate", "dup")],
                         ["fsync", "ftruncate", "dup", "mmap", "munmap"])
        self.assertIn(("open", "dir/none", None, None, -1, 2), lines)
        (moved,) = self.ops("rename")
        self.assertEqual(moved["path2"], place + "/dir/moved")
        if os.uname().machine == "x86_64":  # the line is that of the call, not one within the C library
            for line in self.ops("fsync", "writev", "mkdir", "symlink"):
                self.assertRegex(line["source"], r"^do_files \(.*traced\.c:\d+\)$")
        (end,) = self.ops("_exit")
        self.assertEqual(end["pid"], self.dump()[0]["pid"])

    def test_replay(self):
        self.assertEqual(self.compared("files"), 5)
        answer = self.whyio("replay", "--root=target", "--format=json", "t")
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)

    def test_threads(self):
        self.assertEqual(self.compared("threads"), 0)
        self.assert_whole()
        self.assertEqual(len(self.ops("pthread_create")), 8)
        self.assertEqual(len(self.ops("thread_start")), 8)
        self.assertEqual(len([line for line in self.ops("write") if line["size"] == 5]), 8 * 50)
        self.assertGreater(self.info()["edges"]["by_evidence"].get("thread", 0), 0)
        self.assertEqual(len({line["tid"] for line in self.ops("write") if line["size"] == 5}), 8)

    def test_signals(self):
        self.assertEqual(self.compared("signals"), 0)
        reads = [line for line in self.ops("read") if "pipe:" in (line["path"] or "")]
        self.assertEqual([(line["result"], line["errno"]) for line in reads], [(-1, 4), (1, 0)])

    def test_exec_by_the_handler_of_a_signal(self):
        """The read that the signal cut off is none of the program that the handler executes."""
        self.assertEqual(self.compared("handler-exec", TRACED, "signals"), 0)
        self.assertEqual(len([line for line in self.ops("read") if line["errno"] == 4]), 1)
        self.assert_whole()

    def test_end_by_signal(self):
        for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT, signal.SIGTERM):
            with self.subTest(number):
                self.assertEqual(self.compared("killed", str(int(number))), 128 + number)
                for name in ("alone", "recorded", "t"):
                    shutil.rmtree(name)

    def test_stop_and_continue(self):
        self.assertEqual(self.compared("stopped"), 0)

    def test_exec_by_another_thread(self):
        self.assertEqual(self.compared("thread-exec", TRACED, "files"), 5)
        self.assert_whole()
        self.assertEqual(len(self.ops("fsync")), 1)

    def test_exec_by_another_thread_of_a_dynamic_program(self):
        self.assertEqual(self.compared("thread-exec", DYNAMIC, "files", program=DYNAMIC), 5)
        shutil.rmtree("t")
        shutil.rmtree("alone")
        shutil.rmtree("recorded")
        self.assertEqual(self.compared("thread-exec", TRACED, "files", program=DYNAMIC), 5)
        self.assert_whole()
        self.assertEqual(len(self.ops("fsync")), 1)

    def test_vfork(self):
        self.assertEqual(self.compared("vfork", TRACED, "files"), 0)
        self.assertEqual(len(self.ops("fsync")), 1)
        self.assert_whole()

    def test_failed_exec(self):
        self.assertEqual(self.compared("exec", "/no/such/program"), 98)
        failed = [line for line in self.ops("execve") if line["errno"] != 0]
        self.assertEqual([(line["path"], line["errno"]) for line in failed], [("/no/such/program", 2)])
        self.assert_whole()

    @unittest.skipUnless(shutil.which("strace"), "no strace here")
    def test_beside_strace(self):
        """Every operation on a file that strace sees, with offset, size, result and error; nothing more."""
        source = os.environ["WHYIO_SOURCE"]
        compare = os.path.join(source, "tests", "integration", "strace_compare.py")
        strace = ["strace", "-f", "-y", "-v", "-s", "0", "-q", "-q", "-e", "signal=none", "-e",
                  "trace=%file,%desc,%process,msync,io_submit", "-o"]
        programs = [[TRACED, "files"], [TRACED, "threads"], [TRACED, "vfork", TRACED, "files"]]
        if shutil.which("busybox"):
            programs.append(["busybox", "sh", "-c", "echo one > a; cat a a > b; mkdir d; cp a d/x; mv b d/b; rm -r d; "
                             "dd if=/dev/zero of=z bs=1k count=5 2>/dev/null; tail -c 10 z >> a; cat none 2>/dev/null"])
        work = os.path.join(os.path.realpath(self.dir), "work")
        for i, program in enumerate(programs):
            with self.subTest(program=program):
                seen = []
                for how in ([*strace, f"{self.dir}/s"], [WHYIO, "record", "-o", f"{self.dir}/t{i}", *TRACE, "--"]):
                    shutil.rmtree(work, ignore_errors=True)
                    os.mkdir(work)
                    seen.append(subprocess.run([*how, *program], cwd=work, check=False, capture_output=True, text=True))
                self.assertEqual([seen[0].returncode, seen[0].stdout], [seen[1].returncode, seen[1].stdout])
                with open("dump", "w", encoding="utf-8") as dump:
                    dump.write(self.whyio("dump", f"t{i}").stdout)
                answer = subprocess.run([sys.executable, compare, f"--root={work}", f"--cwd={work}", "s", "dump"],
                                        check=False, capture_output=True, text=True)
                self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
                self.assertNotIn("\n0 operations", "\n" + answer.stdout)

    @unittest.skipUnless(shutil.which("rustc"), "no rustc here")
    def test_rust(self):
        with open("main.rs", "w", encoding="ascii") as source:
            source.write("""
use std::{fs, io::Write, thread};
fn main() {
    let threads: Vec<_> = (0..3).map(|i| thread::spawn(move || {
        let mut file = fs::File::create(format!("r{}", i)).unwrap();
        for _ in 0..10 { file.write_all(b"0123456789").unwrap(); }
        file.sync_all().unwrap();
    })).collect();
    for thread in threads { thread.join().unwrap(); }
    println!("{}", fs::read("r0").unwrap().len());
    std::process::exit(4)
}
""")
        built = subprocess.run(["rustc", "-C", "target-feature=+crt-static", "-o", "main", "main.rs"],
                               check=False, capture_output=True, text=True)
        if built.returncode != 0:
            self.skipTest("rustc cannot link statically here")
        answer = self.trace_of("./main")
        self.assertEqual((answer.returncode, answer.stdout), (4, "100\n"), answer.stderr)
        self.assert_whole()
        writes = [line for line in self.ops("write") if (line["path"] or "")[-2:] in ("r0", "r1", "r2")]
        self.assertEqual([(line["size"], line["result"]) for line in writes], [(10, 10)] * 30)
        self.assertEqual(sorted(line["offset"] for line in writes), sorted(10 * i for i in range(10) for _ in range(3)))

    @unittest.skipUnless(shutil.which("go"), "no go here")
    def test_go(self):
        with open("main.go", "w", encoding="ascii") as source:
            source.write("""
package main
import ("fmt"; "os"; "sync")
func main() {
    var group sync.WaitGroup
    for i := 0; i < 4; i++ {
        group.Add(1)
        go func(i int) {
            defer group.Done()
            file, _ := os.Create(fmt.Sprintf("g%d", i))
            for j := 0; j < 10; j++ { file.WriteString("0123456789") }
            file.Sync(); file.Close()
        }(i)
    }
    group.Wait()
    data, _ := os.ReadFile("g0")
    fmt.Println(len(data))
    os.Exit(4)
}
""")
        environment = dict(os.environ, CGO_ENABLED="0", GOCACHE=self.dir + "/cache", GOFLAGS="-mod=mod", GO111MODULE="off")
        built = subprocess.run(["go", "build", "-o", "main", "main.go"], check=False, capture_output=True, text=True,
                               env=environment)
        if built.returncode != 0:
            self.skipTest("go cannot build here")
        answer = self.trace_of("./main")
        self.assertEqual((answer.returncode, answer.stdout), (4, "100\n"), answer.stderr)
        writes = [line for line in self.ops("write") if os.path.basename(line["path"] or "")[:1] == "g"]
        self.assertEqual([(line["size"], line["result"]) for line in writes], [(10, 10)] * 40)
        self.assertEqual(len(self.ops("fsync")), 4)

    # ---- static and dynamic programs below each other ----------------------------------------

    def test_dynamic_below_static_is_recorded_once(self):
        self.assertEqual(self.compared("exec", DYNAMIC, "files"), 5)
        self.assert_whole()
        self.assertEqual(len(self.ops("fsync")), 1)
        self.assertNotIn("raw", self.ops("fsync")[0].get("flags") or [])

    def test_static_below_dynamic(self):
        for command in ("exec", "vfork"):
            with self.subTest(command):
                self.compared(command, TRACED, "files", program=DYNAMIC)
                self.assert_whole()
                self.assertEqual(len(self.ops("fsync")), 1)
                for name in ("alone", "recorded", "t"):
                    shutil.rmtree(name)

    def test_shell_and_spawn(self):
        code = f"import os; p = os.posix_spawn('{TRACED}', ['traced', 'files'], os.environ); print(os.waitpid(p, 0)[1])"
        answer = self.trace_of("sh", "-c", f"{TRACED} threads; '{sys.executable}' -c \"$CODE\"; {TRACED} identity",
                               env=dict(os.environ, CODE=code))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(f"files done\n{5 << 8}\neffective user", answer.stdout)
        self.assertEqual(self.info()["unseen"], {})
        self.assertEqual(len(self.ops("fsync")), 1)
        self.assertEqual(len(self.ops("thread_start")), 8)

    def test_search_through_path(self):
        """The program is not in the first directory: the exec that fails there is not the last."""
        os.mkdir("empty")
        path = os.pathsep.join((self.dir + "/empty", os.path.dirname(TRACED), os.environ["PATH"]))
        name = os.path.basename(TRACED)
        code = f"import os; p = os.posix_spawnp('{name}', ['{name}', 'files'], os.environ); print(os.waitpid(p, 0)[1])"
        for words, status in ((("env", name, "files"), 5), ((sys.executable, "-c", code), 0)):
            with self.subTest(words=words):
                answer = self.trace_of(*words, env=dict(os.environ, PATH=path))
                self.assertEqual(answer.returncode, status, answer.stderr)
                self.assertEqual(self.info()["unseen"], {})
                self.assertEqual(len(self.ops("fsync")), 1)
                for left in ("dir", "t"):
                    shutil.rmtree(left)

    def test_without_environment(self):
        """What the static program leaves out of the environment of a dynamic one does not matter."""
        answer = self.trace_of(TRACED, "exec", "/usr/bin/env", "-i", DYNAMIC, "files")
        self.assertEqual(answer.returncode, 5, answer.stderr)
        self.assertEqual(len(self.ops("fsync")), 1)

    @unittest.skipUnless(shutil.which("busybox"), "no busybox here")
    def test_static_shell(self):
        script = "echo one > a; cat a a > b; (cat b | wc -l); sleep 0.1 & wait; exit 9"
        answer = self.trace_of("busybox", "sh", "-c", script)
        self.assertEqual((answer.returncode, answer.stdout.strip()), (9, "2"), answer.stderr)
        self.assertEqual(content("b"), b"one\none\n")
        self.assertTrue([line for line in self.ops("write", "sendfile") if (line["path"] or "").endswith("/b")])

    @unittest.skipUnless(shutil.which("busybox"), "no busybox here")
    def test_job_control_of_a_static_shell(self):
        """An interactive shell with a terminal: a job stops, goes to the background, and comes back."""
        def run(words):
            pid, terminal = pty.fork()
            if pid == 0:
                os.execv(words[0], words)
            text = b""
            os.write(terminal, b"PS1=\n")
            os.write(terminal, f"{TRACED} until-told\n".encode())
            self.assertTrue(until(lambda: os.path.exists("lines")))
            job = os.tcgetpgrp(terminal)
            os.write(terminal, b"\x1a")
            self.assertTrue(until(lambda: os.tcgetpgrp(terminal) != job), "it does not stop")
            size = os.path.getsize("lines")
            os.write(terminal, b"bg\n")
            self.assertTrue(until(lambda: os.path.getsize("lines") > size), "it does not go on in the background")
            self.assertNotEqual(os.tcgetpgrp(terminal), job)
            os.write(terminal, b"fg\n")
            self.assertTrue(until(lambda: os.tcgetpgrp(terminal) == job), "it does not come back")
            with open("stop", "w", encoding="ascii"):
                pass
            os.write(terminal, b"exit $?\n")
            try:
                while True:
                    part = os.read(terminal, 4096)
                    if not part:
                        break
                    text += part
            except OSError:
                pass
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text

        shell = shutil.which("busybox")
        status, text = run([WHYIO, "record", "-o", "t", *TRACE, "--", shell, "sh", "-i"])
        self.assertEqual(status, 6, text)
        self.assertIn(b"Stopped", text)
        self.assertTrue(os.path.exists("ended"))

    # ---- the end of the recorder -------------------------------------------------------------

    def lines(self):
        return os.path.getsize("lines") if os.path.exists("lines") else 0

    def goes_on(self):
        before = self.lines()
        self.assertTrue(until(lambda: self.lines() > before + 50))

    def tracers(self, recorder):
        with open(f"/proc/{recorder}/task/{recorder}/children", encoding="ascii") as children:
            return [int(pid) for pid in children.read().split() if os.path.basename(os.readlink(f"/proc/{pid}/exe"))
                    .startswith("whyio")]

    def tracer_of_command(self):
        """Of the process that writes the lines: TracerPid."""
        for entry in glob.glob("/proc/[0-9]*/cwd"):
            try:
                if os.readlink(entry) != os.path.realpath(self.dir):
                    continue
                with open(os.path.join(os.path.dirname(entry), "status"), encoding="ascii") as status:
                    fields = dict(line.split(":\t", 1) for line in status.read().splitlines() if ":\t" in line)
                if fields["Name"].startswith("traced"):
                    return int(fields["TracerPid"])
            except OSError:
                continue
        return None

    def stop_and_wait(self):
        with open("stop", "w", encoding="ascii"):
            pass
        self.assertTrue(until(lambda: os.path.exists("ended")), "the program did not go on")

    def test_recorder_is_killed(self):
        child = self.start(TRACED, "until-told", options=TRACE)
        self.assertTrue(until(lambda: self.lines() > 50))
        self.assertNotEqual(self.tracer_of_command(), 0)
        child.kill()
        child.wait()
        self.goes_on()
        self.assertTrue(until(lambda: self.tracer_of_command() == 0))
        self.stop_and_wait()
        self.assertTrue(until(lambda: self.tracer_of_command() is None))
        self.assertGreater(len(self.ops("write")), 10)
        self.assertFalse(self.info()["complete"])

    def test_tracer_is_killed(self):
        child = self.start(TRACED, "until-told", options=TRACE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(until(lambda: self.lines() > 50))
        (tracer,) = self.tracers(child.pid)
        os.kill(tracer, signal.SIGKILL)
        self.goes_on()
        self.assertEqual(self.tracer_of_command(), 0)
        self.stop_and_wait()
        self.assertEqual(child.wait(), 6)
        self.assertGreater(len(self.ops("write")), 10)
        self.assertIn("the tracer was killed", child.stderr.read())
        self.assertFalse(self.info()["complete"])

    def test_tracer_outlives_signals_to_the_job(self):
        child = self.start(TRACED, "until-told", options=("--format=json", "--static=trace"), stderr=subprocess.PIPE, text=True)
        self.assertTrue(until(lambda: self.lines() > 50))
        (tracer,) = self.tracers(child.pid)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            os.kill(tracer, number)
        self.goes_on()
        self.stop_and_wait()
        self.assertEqual(child.wait(), 6)
        self.assertIs(self.assert_described(child.stderr.read())["tracer_killed"], False)
        self.assert_whole()
        self.assertEqual(len(self.ops("write")), self.lines() // 5)

    def test_rings_that_cannot_be_made_are_counted(self):
        script = f"until [ -e go ]; do sleep 0.05; done; {TRACED} files"
        child = self.start("sh", "-c", script, options=("--format=json", "--static=trace"), stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
        self.assertTrue(until(lambda: self.tracers(child.pid)))
        (tracer,) = self.tracers(child.pid)
        resource.prlimit(tracer, resource.RLIMIT_FSIZE, (0, 0))
        with open("go", "w", encoding="ascii"):
            pass
        self.assertEqual(child.wait(), 5)
        self.assertEqual(json.loads(child.stderr.read())["unseen"]["no_ring"], 1)
        self.assertEqual(self.ops("fsync"), [])

    def test_daemon_is_left_behind(self):
        child = self.start(TRACED, "daemon", options=TRACE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "daemon left\n")
        self.assertTrue(until(lambda: self.lines() > 50))
        self.assertIsNone(child.poll(), "the recorder waits for it")
        until(lambda: False, 0.3)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(timeout=20), 3)
        self.goes_on()
        self.assertEqual(self.tracer_of_command(), 0)
        self.stop_and_wait()
        self.assertTrue(until(lambda: self.tracer_of_command() is None))
        self.assertGreater(len([line for line in self.ops("write") if (line["path"] or "").endswith("/lines")]), 10)

    # ---- rights ------------------------------------------------------------------------------

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root can make a set-user-id program")
    def test_set_user_id_below_a_static_program(self):
        place = tempfile.mkdtemp(prefix="whyio-rights-", dir="/tmp")
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        os.chmod(place, 0o755)
        library = shutil.copy(CAPTURE, place)
        helper = shutil.copy(TRACED, place + "/helper")
        os.chmod(helper, 0o4755)
        os.mkdir("open")
        os.chmod("open", 0o777)
        os.chmod(self.dir, 0o755)
        whyio = shutil.copy(WHYIO, place + "/whyio")
        program = shutil.copy(TRACED, place + "/program")
        as_user = ["setpriv", f"--reuid={UNPRIVILEGED}", "--clear-groups"]
        if subprocess.run([*as_user, helper, "identity"], check=False, capture_output=True,
                          text=True).stdout != "effective user 0\n":
            self.skipTest("set-user-id programs have no effect here")
        environment = dict(os.environ, WHYIO_CAPTURE_LIB=library)
        for command in ("exec", "vfork", "thread-exec", "hidden-exec"):
            trace = f"open/{command}"
            answer = subprocess.run(
                [*as_user, whyio, "record", "-o", trace, "-q", "--static=trace", "--", program, command, helper, "identity"],
                check=False, capture_output=True, text=True, env=environment, timeout=60)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertTrue(answer.stdout.startswith("effective user 0\n") or command == "thread-exec" and
                            answer.stdout == "effective user 0\n", answer.stdout)
            self.assertEqual(self.info(trace)["unseen"], {"setuid_exec": 1})

    @unittest.skipUnless(shutil.which("sudo") and shutil.which("busybox"), "no sudo or busybox here")
    def test_sudo_below_a_static_shell(self):
        alone = subprocess.run(["busybox", "sh", "-c", "sudo -n id -u; echo $?"], check=False, capture_output=True, text=True)
        answer = self.trace_of("busybox", "sh", "-c", "sudo -n id -u; echo $?")
        self.assertEqual((answer.returncode, answer.stdout), (alone.returncode, alone.stdout), answer.stderr)

    # ---- where it cannot be done -------------------------------------------------------------

    @unittest.skipUnless(os.uname().machine in SYS_PTRACE, "the number of ptrace is not known here")
    def test_ptrace_is_forbidden(self):
        """As in a container: a filter of system calls answers EPERM."""
        plain = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")  # it traces, too
        answer = self.trace_of(TRACED, "files", preexec_fn=forbid_ptrace, env=plain)
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertIn("ptrace", answer.stderr)
        self.assertIn("SYS_PTRACE", answer.stderr)
        self.assertEqual(answer.stderr.count("\n"), 1)
        self.assertEqual(os.listdir(), [])

    def test_usage(self):
        answer = self.whyio("record", "--static=maybe", "-o", "t", "true")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("maybe", answer.stderr)
        answer = self.whyio("record", "--static=trace", "--causal=throttle", "-o", "t", "true")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--static=trace", answer.stderr)
        self.assertFalse(os.path.exists("t"))

    def test_default_is_an_error(self):
        for options in ((), ("--static=error",)):
            answer = self.record(TRACED, "files", options=options)
            self.assertEqual(answer.returncode, 3)
            self.assertIn("--static=trace", answer.stderr)
            self.assertFalse(os.path.exists("t"))


if __name__ == "__main__":
    main()
