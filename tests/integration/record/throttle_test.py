#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio record --causal=throttle: waits that nobody can observe, and runs that go wrong."""

import fcntl
import glob
import json
import os
import signal
import subprocess
import sys
import time

import record_case

HELD = os.path.abspath(sys.argv.pop(1))
WRITES = {"1": "write, x86-64", "20": "writev, x86-64", "64": "write, others", "66": "writev, others"}


def alive(session):
    """Processes of a session that have not ended."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="ascii", errors="replace") as stat:
                state, _, _, its = stat.read().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(its) == session and state not in "ZX":
            found.append(path)
    return found


def stands_in_write(pid):
    """To its standard error."""
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            words = file.read().split()
    except OSError:
        return False
    return len(words) > 1 and WRITES.get(words[0]) is not None and int(words[1], 16) == 2


class Throttle(record_case.RecordCase):
    def throttle(self, *arguments, options=(), status=0):
        """The closing line's object, and all that was said."""
        answer = self.record(
            HELD, *arguments, options=("--causal=throttle", "--format=json", *options)
        )
        self.assertEqual(answer.returncode, status, answer.stderr)
        closing = answer.stderr.splitlines()[-1]
        self.assert_described(closing)
        return json.loads(closing)["throttle"], answer.stderr

    def assert_proven(self, throttle):
        self.assertEqual(throttle["end"], "proven")
        self.assertEqual(throttle["unproven"], 0)
        self.assertEqual(throttle["contradicted"], 0)
        self.check()
        self.assertEqual([], [name for name in os.listdir(".") if ".run" in name])

    def assert_turns(self, members):
        """Held are exactly the edges from each write to the one whose turn is next."""
        numbers = {}  # (tid, seq) -> how many-th write of all
        rounds = {}
        for line in self.dump("--op=pwrite"):
            member = int(line["path"].rsplit(".", 1)[1])
            numbers[line["tid"], line["seq"]] = rounds.get(member, 0) * members + member
            rounds[member] = rounds.get(member, 0) + 1
        found = set()
        for edge in self.edges():
            if edge["evidence"] == "held":
                ends = [numbers[edge[end]["tid"], edge[end]["seq"]] for end in ("from", "to")]
                found.add(tuple(ends))
        self.assertEqual(found, {(i, i + 1) for i in range(len(numbers) - 1)})

    def edges(self):
        answer = self.whyio("edges", "t")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return [json.loads(line) for line in answer.stdout.splitlines()[:-1]]

    def test_flag_in_shared_memory(self):
        for how in ("spin", "nap", "thread"):
            with self.subTest(how):
                throttle, said = self.throttle(how, "3", options=("--force",))
                self.assert_proven(throttle)
                self.assertEqual(throttle["edges"], 8)
                self.assert_turns(3)
                self.assertRegex(said, r"none for longer than [0-9.]+ (s|min)")

    def test_who_waits_for_nobody_gets_no_edge(self):
        throttle, _ = self.throttle("free", "3")
        self.assertIn(throttle["end"], ("proven", "explained"))
        self.assertEqual(throttle["edges"], 0)

    def test_looking_for_a_file_may_take_any_number_of_looks(self):
        throttle, _ = self.throttle("look")
        self.assert_proven(throttle)
        looks = [line for line in self.dump("--op=stat") if line["path"].endswith("/there")]
        if len(looks) > 1:
            self.assertEqual(throttle["edges"], 0)  # what was observed says it all
            return
        # the first look found it: only holding shows that another one would have waited
        paths = {(line["tid"], line["seq"]): line["path"] for line in self.dump()}
        held = [edge for edge in self.edges() if edge["evidence"] == "held"]
        ends = [os.path.basename(paths[edge[end]["tid"], edge[end]["seq"]])
                for edge in held for end in ("from", "to")]
        self.assertEqual(ends, ["there", "seen"] * throttle["edges"])

    def test_what_is_observed_needs_no_holding(self):
        throttle, said = self.throttle("relay", "3")
        self.assert_proven(throttle)
        self.assertEqual((throttle["runs"], throttle["edges"]), (1, 0), said)

    def test_looks_for_several_files_are_several(self):
        """FORMAT.md R-HOLD-1: only the same call on the same file is one I/O with the last."""
        self.throttle("miss", options=("--runs=1",))
        looks = [line for line in self.dump() if "missed" in (line["path"] or "")]
        self.assertEqual(len(looks), 5 * 2)
        self.assertEqual([], [line["op"] for line in looks if "hold" not in line["flags"]])

    def test_as_trace_does(self):
        throttle, said = self.throttle("spin", "3", options=("--method=trace",))
        self.assertEqual(throttle["end"], "merged", said)
        self.assertEqual((throttle["runs"], throttle["period"]), (4, 1))
        self.check()
        self.assertEqual([], [name for name in os.listdir(".") if ".run" in name])
        # each write but the first waits at least for the one before it
        before = {}
        for edge in self.edges():
            self.assertEqual(edge["evidence"], "held")
            source = before.setdefault((edge["to"]["tid"], edge["to"]["seq"]), [])
            source.append((edge["from"]["tid"], edge["from"]["seq"]))
        writes = sorted(self.dump("--op=pwrite"), key=lambda line: line["t_ns"])
        tids = [line["tid"] for line in writes]
        self.assertEqual(tids, tids[:3] * 3)  # time made anew keeps the turns
        for this, last in zip(writes[1:], writes):
            found = before[this["tid"], this["seq"]]
            reached = [seq for tid, seq in found if tid == last["tid"]]
            self.assertTrue(reached and max(reached) >= last["seq"], (this, last, found))

    def test_who_is_being_made_may_wait_too(self):
        throttle, said = self.throttle("born", options=("--method=trace", "--runs=1"))
        self.assertIn(throttle["end"], ("merged", "limited"), said)
        names = {(line["tid"], line["seq"]): (line["op"], os.path.basename(line["path"] or ""))
                 for line in self.dump()}
        ends = [[names[edge[end]["tid"], edge[end]["seq"]] for end in ("from", "to")] for edge in self.edges()]
        self.assertEqual(ends, [[("close", "first"), ("open", "second")]])

    def test_waiting_is_computing_where_each_is_held(self):
        """//TRACE's Approach 1 with period 1, else Approach 2."""
        for period, waits in (("1", False), ("2", True)):
            options = ("--force", "--method=trace", f"--period={period}")
            throttle, said = self.throttle("nap", "2", options=options)
            self.assertEqual(throttle["end"], "merged", said)
            self.assertEqual(bool(self.dump("--op=usleep")), waits)

    def test_period_is_searched(self):
        throttle, said = self.throttle(
            "spin", "2", options=("--method=trace", "--target-error=1000")
        )
        self.assertEqual(throttle["end"], "merged", said)
        self.assertEqual(throttle["period"], 1000)
        self.assertGreaterEqual(throttle["time_error"], 0)
        self.assertFalse(os.path.exists("t.replay"))

    def test_the_way_to_tell_computing_can_be_chosen(self):
        """//TRACE: "the compute time since the last I/O is determined (using Approach 1 or 2)"."""
        for period, how, waits in (("1", "unblocked", True), ("2", "think", False)):
            options = ("--force", "--method=trace", f"--period={period}", f"--compute={how}")
            throttle, said = self.throttle("nap", "2", options=options)
            self.assertEqual(throttle["end"], "merged", said)
            self.assertEqual(bool(self.dump("--op=usleep")), waits)

    def test_the_worst_of_several_storage_systems_decides(self):
        """//TRACE: "no one sampling period should be expected to work best for all" of them."""
        roots = [os.path.join(self.dir, name) for name in ("fast", "slow")]
        for root in roots:
            os.mkdir(root)
        goals = ("--method=trace", "--target-error=1000")
        throttle, said = self.throttle("spin", "2", options=(
            *goals, *(f"--target-root={root}" for root in roots)))
        self.assertEqual(throttle["period"], 1000, said)
        self.assertIn(throttle["time_root"], roots)
        # on one of them the command is said to take next to no time: no replay comes near that
        throttle, said = self.throttle("spin", "2", options=(
            "--force", *goals, f"--target-root={roots[0]}", "--target-time=1ns", f"--target-root={roots[1]}"))
        self.assertEqual((throttle["end"], throttle["period"]), ("merged", 1), said)
        self.assertEqual(throttle["time_root"], roots[0])
        self.assertGreater(throttle["time_error"], 1000)
        self.assertEqual([os.listdir(root) for root in roots], [[], []])
        self.assertFalse(os.path.exists("t.replay"))

    def test_wrong_targets_are_refused_before_anything_runs(self):
        traced = ("--causal=throttle", "--method=trace")
        for options, word in (
                (("--target-error=1", "--target-root=none"), "'none': --target-root: expected a directory"),
                (("--target-root=.",), "--target-root is for --target-error and --budget"),
                (("--target-error=1", "--target-time=1s"), "a --target-root is expected before each"),
                (("--compute=some",), "expected think or unblocked")):
            answer = self.record("sh", "-c", "touch ran", options=(*traced, *options))
            self.assert_refused_as(answer, 2, word)
        self.assert_refused_as(self.record("true", options=("--compute=think",)), 2, "--method=trace")
        self.assertFalse(os.path.exists("ran"))

    def test_a_period_that_comes_to_nothing_takes_nothing_away(self):
        with open("n", "w", encoding="ascii") as number:
            number.write("0\n")
        script = f"read n < n; echo $((n + 1)) > n; [ $n -lt 2 ] || exit 5; {HELD} spin 2"
        answer = self.record("sh", "-c", script, options=(
            "--causal=throttle", "--format=json", "--method=trace", "--runs=1", "--target-error=1e-9"))
        self.assertEqual(answer.returncode, 5, answer.stderr)
        throttle = json.loads(answer.stderr.splitlines()[-1])["throttle"]
        self.assertEqual((throttle["end"], throttle["period"]), ("merged", 1000), answer.stderr)
        self.check()
        self.assertEqual(sorted(name for name in os.listdir(".") if name.startswith("t")), ["t"])

    def test_nodes_are_sampled_and_runs_merged(self):
        for trace, node in (("a", "1"), ("b", "2")):
            answer = self.record(
                HELD,
                *("spin", "2"),
                options=("-q", "--causal=throttle", "--method=trace", f"--nodes={node}"),
                trace=trace,
            )
            self.assertEqual(answer.returncode, 0, answer.stderr)
        answer = self.whyio("merge", "--format=json", "-o", "m", "a", "b")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        merged = self.assert_described(answer.stdout)
        self.assertTrue(merged["same"])
        self.assertGreaterEqual(merged["edges"], 5)
        self.check("m")
        again = self.whyio("merge", "-o", "m", "a", "b")
        self.assert_refused_as(again, 2, "exists")

    def test_a_rank_is_known_also_if_its_program_was_told_late(self):
        """A launcher does this and that between fork and exec, where the rank is not known yet."""
        script = f"for r in 0 1; do PMI_RANK=$r PMI_SIZE=2 {HELD} free 1 > log.$r & done; wait"
        answer = self.record("sh", "-c", script, options=(
            "--causal=throttle", "--method=trace", "--nodes=1"))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        throttled = [line for line in answer.stderr.splitlines() if "throttling" in line]
        self.assertTrue(throttled, answer.stderr)
        self.assertEqual([], [line for line in throttled if "throttling rank 1," not in line])

    def test_what_can_be_held_is_numbered_alike(self):
        """FORMAT.md R-HOLD-1: in every run, whoever is held in it."""
        numbered = []
        for trace, node in (("a", "1"), ("b", "2")):
            options = ("-q", "--causal=throttle", "--method=trace", f"--nodes={node}")
            answer = self.record(HELD, *("spin", "2"), options=options, trace=trace)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            threads = {}
            for line in self.dump(trace=trace):
                threads.setdefault(line["tid"], []).append(line)
            runs = []
            for lines in threads.values():
                for hold, held in zip(lines, lines[1:]):
                    if hold["op"] == "hold" and hold["dur_ns"] > 0:
                        self.assertIn("hold", held["flags"])
                runs.append([(line["op"], line["path"], line["offset"]) for line in lines
                             if "hold" in line["flags"]])
            numbered.append(sorted(run for run in runs if run))
        self.assertEqual(len(numbered[0]), 2)
        self.assertEqual(numbered[0], numbered[1])

    def test_other_programs_are_not_merged(self):
        options = ("-q", "--causal=throttle", "--method=trace", "--runs=1")
        for trace, mode in (("a", ("spin", "2")), ("b", ("spin", "3")), ("c", ("differ",))):
            answer = self.record(HELD, *mode, options=options, trace=trace)
            self.assertIn(answer.returncode, (0, 1), answer.stderr)
        answer = self.record(HELD, "spin", "2", trace="plain")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_refused_as(self.whyio("merge", "-o", "m", "a", "b"), 3, "command")
        self.assert_refused_as(self.whyio("merge", "-o", "m", "a", "plain"), 3, "throttle")
        self.assert_refused_as(self.whyio("merge", "-o", "m", "a", "none"), 3, "none")
        self.assert_refused_as(self.whyio("merge", "-o", "m"), 2, "run")
        self.assert_refused_as(self.whyio("merge", "a"), 2, "-o")
        # what the failed merge of `differ` left: two runs that part
        answer = self.whyio("merge", "--format=json", "-o", "m", "c.run1", "c.run2")
        self.assertEqual(answer.returncode, 1, answer.stderr)
        merged = self.assert_described(answer.stdout)
        self.assertEqual(merged["difference"]["first"]["op"], "pwrite")
        self.assertFalse(os.path.exists("m"))

    def assert_refused_as(self, answer, status, word):
        self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)
        self.assertIn(word, answer.stderr)

    def test_runs_can_be_limited(self):
        throttle, _ = self.throttle("spin", "3", options=("--runs=1",))
        self.assertEqual(throttle["runs"], 2)
        self.assertIn(throttle["end"], ("proven", "unproven"))

    def test_what_differs_is_located(self):
        throttle, said = self.throttle("differ", status=1)
        self.assertEqual(throttle["end"], "differs")
        difference = throttle["difference"]
        self.assertEqual(difference["runs"], [1, 2])
        first, second = difference["first"], difference["second"]
        self.assertEqual((first["op"], second["op"]), ("pwrite", "pwrite"))
        self.assertEqual(first["path"], os.path.join(self.dir, "out"))
        self.assertEqual(first["offset"], second["offset"])
        self.assertNotEqual(first["size"], second["size"])
        self.assertIn("not deterministic", said)
        self.check("t.run2")

    def test_who_comes_first_is_served(self):
        """Behind an observed lock other I/O is no fault of the program."""
        throttle, said = self.throttle("workers", "3")
        self.assertEqual(throttle["end"], "first_come", said)
        self.assertIn("any order is right", said)
        self.assertTrue(any(edge["class"] == "mutex" for edge in self.edges()))
        self.check()

    def test_a_death_ends_all_holds(self):
        begin = time.monotonic()
        throttle, said = self.throttle("die", status=1)
        self.assertEqual(throttle["end"], "failed")
        self.assertEqual((throttle["runs"], throttle["found"]), (2, 0))
        self.assertIn("was killed while others were held", said)
        self.assertLess(time.monotonic() - begin, 25)  # the limit of a hold is 30 s and more
        self.check()

    def test_a_group_that_is_interrupted_is_told_as_such(self):
        writes = "i=0; while :; do echo $((i += 1)); done > out"
        child = self.start("sh", "-c", writes, options=("--causal=throttle",))
        size = 200000  # enough that sealing takes longer than the signal's way here
        self.assertTrue(record_case.until(lambda: os.path.exists("out") and os.path.getsize("out") > size))
        os.killpg(child.pid, signal.SIGINT)
        self.assertEqual(child.wait(60), 128 + signal.SIGINT)
        self.assert_sealed()
        self.check()

    def test_a_group_that_is_interrupted_between_runs_is_told_as_such(self):
        """The recorder stands in a write to a pipe that is full: run 1 is over, run 2 has not begun."""
        first = b"whyio: run 1: no thread is held\n"
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        room = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, bytes(room - len(first) - 4))
        recorder = self.start(HELD, "nap", "3", options=("--causal=throttle",), stderr=writer)
        os.close(writer)
        self.assertTrue(record_case.until(lambda: stands_in_write(recorder.pid)))
        os.killpg(recorder.pid, signal.SIGINT)
        said = b""
        while data := os.read(reader, 65536):
            said += data
        self.assertIn(first, said)
        self.assertEqual(recorder.wait(60), 130, said.lstrip(b"\0"))
        self.assertEqual(alive(recorder.pid), [])

    def test_an_interrupted_run_that_holds_ends_them_all(self):
        child = self.start(HELD, "spin", "8", options=("--causal=throttle",),
                           stderr=subprocess.PIPE, text=True)
        line = next(line for line in child.stderr if "run 2 of" in line)
        self.assertIn("run 2 of", line)
        # two recorders, the program and one child at least
        self.assertTrue(record_case.until(lambda: len(alive(child.pid)) >= 4))
        os.killpg(child.pid, signal.SIGINT)
        said = child.stderr.read()
        self.assertEqual(child.wait(60), 128 + signal.SIGINT, said)
        self.assertIn("run 2 failed", said)
        self.assertEqual([], [name for name in os.listdir(".") if ".run" in name])
        self.assert_sealed()

    def test_a_killed_recorder_holds_nobody(self):
        child = self.start(HELD, "spin", "8", options=("--causal=throttle",),
                           stderr=subprocess.PIPE, text=True)
        for line in child.stderr:
            if "run 2 of" in line:
                break
        self.assertIn("run 2 of", line)
        # two recorders, the program and one child at least
        self.assertTrue(record_case.until(lambda: len(alive(child.pid)) >= 4))
        child.kill()
        child.stderr.close()
        self.assertTrue(record_case.until(lambda: not alive(child.pid), seconds=60))

    def test_who_cannot_be_held_is_named(self):
        """As on another host: a board that is not reached by its path."""
        inside = ("unshare", "--fork", "--pid", "--mount-proc")
        can = subprocess.run([*inside, "true"], capture_output=True, check=False)
        if can.returncode != 0:
            self.skipTest("no namespaces here")
        answer = self.record(*inside, HELD, "spin", "2", options=("--causal=throttle",))
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertRegex(answer.stderr, r"found process \d+ of host \S+ elsewhere")
        self.check()

    def test_a_command_that_fails_is_not_repeated(self):
        answer = self.record("sh", "-c", "exit 7", options=("--causal=throttle",))
        self.assertEqual(answer.returncode, 7, answer.stderr)
        self.assertNotIn("run 2", answer.stderr)

    def test_standard_input_is_put_back(self):
        with open("in", "w", encoding="ascii") as text:
            text.write("x" * 1000)
        script = "(sleep 0.05; head -c 500 > a) ; head -c 500 > b"
        with open("in", "rb") as text:
            answer = self.record(
                "sh", "-c", script, options=("--causal=throttle", "--format=json"), stdin=text
            )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(os.path.getsize("b"), 500)
        throttle = json.loads(answer.stderr.splitlines()[-1])["throttle"]
        self.assertIn(throttle["end"], ("proven", "explained"))

    def test_output_that_goes_on_is_no_difference(self):
        """Standard output in a file, and a log that is appended to: each run writes behind the one before."""
        script = f"{HELD} spin 2; echo said; echo logged >> log"
        with open("out", "wb") as out:
            answer = self.record(
                "sh",
                "-c",
                script,
                options=("--causal=throttle", "--format=json"),
                capture_output=False,
                stdout=out,
                stderr=subprocess.PIPE,
            )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        throttle = json.loads(answer.stderr.splitlines()[-1])["throttle"]
        self.assertGreater(throttle["runs"], 1)
        self.assertEqual(os.path.getsize("out"), len("said\n") * throttle["runs"])


if __name__ == "__main__":
    record_case.main()
