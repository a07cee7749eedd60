#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bound_test.py BOUND: record --max-size keeps so many bytes of events and counts the others
(R-BOUND-2, R-BOUND-3, R-BOUND-4, R-META-3)."""

import json
import os
import signal
import sys
import unittest

from record_case import RecordCase, main, until

BOUND = os.path.abspath(sys.argv.pop(1))
MIB = 1 << 20
SLOT = 64


class Bound(RecordCase):
    def run_bound(self, *arguments, keep="last", size="1M", trace="t"):
        options = (f"--max-size={size}", f"--keep={keep}", "--format=json")
        answer = self.record(BOUND, *map(str, arguments), options=options, trace=trace)
        line = [text for text in answer.stderr.splitlines() if text.startswith("{")][-1]
        return answer, self.assert_described(line)

    def offsets_by_file(self, trace="t"):
        files = {}
        for event in self.dump("--op=pwrite", trace=trace):
            files.setdefault(os.path.basename(event["path"]), []).append(event["offset"])
        return files

    def offsets(self, path, trace="t"):
        return self.offsets_by_file(trace).get(path, [])

    def total(self, trace="t"):
        info = self.info(trace)
        return info["events"] + info["dropped"]

    def test_last_events_of_one_thread(self):
        """The tail without a gap, all others counted, the name known although its open is gone."""
        answer, record = self.run_bound(60000, 1, 1, "exit")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.check()
        self.assert_sealed()
        offsets = self.offsets("p0.t0")
        self.assertEqual(offsets, list(range(60000 - len(offsets), 60000)))
        self.assertLessEqual(len(offsets) * SLOT, MIB)
        self.assertGreater(len(offsets) * SLOT, MIB * 3 // 4)
        self.assertEqual([], self.dump("--op=open"))
        self.assertEqual((record["keep"], record["max_size"]), ("last", MIB))
        self.assertEqual(record["dropped"], record["evicted"])
        info = self.info()
        self.assertEqual(info["dropped"], record["dropped"])
        self.assertEqual(info["bound"]["processes"][0]["evicted"], record["evicted"])
        self.assertEqual(info["complete"], False)
        self.record(BOUND, "60000", "1", "1", "exit", trace="all")
        self.assertEqual(self.total(), self.info("all")["events"])

    def test_first_events(self):
        answer, record = self.run_bound(60000, 1, 1, "exit", keep="first")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.check()
        offsets = self.offsets("p0.t0")
        self.assertEqual(offsets, list(range(len(offsets))))
        self.assertLessEqual(len(offsets) * SLOT, MIB)
        self.assertEqual((record["keep"], record["evicted"]), ("first", 0))
        self.assertGreater(record["dropped"], 40000)
        self.assertEqual(self.info()["complete"], False)

    def test_room_for_all(self):
        """A bound that is not reached changes nothing."""
        for keep in ("first", "last"):
            answer, record = self.run_bound(1000, 2, 2, "exit", keep=keep, size="64M", trace=keep)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.check(keep)
            self.assertEqual((record["dropped"], record["evicted"]), (0, 0))
            self.assertEqual(self.info(keep)["complete"], True)
            whole = {name: list(range(1000)) for name in ("p0.t0", "p0.t1", "p1.t0", "p1.t1")}
            self.assertEqual(self.offsets_by_file(keep), whole)
            self.assertTrue(os.path.exists(os.path.join(keep, "trace.edges")))

    def test_threads_and_processes_share_it(self):
        """One bound for all; no gap within a thread; nothing is counted twice or not at all."""
        for end in ("exit", "kill", "exec"):
            answer, record = self.run_bound(8000, 3, 4, end, size="2M", trace=end)
            self.assertEqual(answer.returncode, 128 + signal.SIGKILL if end == "kill" else 0, answer.stderr)
            self.check(end)
            files = self.offsets_by_file(end)
            # of a thread whose process has ended the last chunk may go before older ones
            self.assertIn(7999, {offsets[-1] for offsets in files.values()}, end)
            if end != "exec":  # after that the same files are written again
                for offsets in files.values():
                    self.assertEqual(offsets, list(range(offsets[0], offsets[-1] + 1)), end)
            kept = sum(map(len, files.values()))
            self.assertLessEqual(kept * SLOT, 2 * MIB)
            self.assertGreater(kept * SLOT, MIB // 2)
            self.assertGreater(record["evicted"], 0)
            self.assertEqual(record["dropped"], record["evicted"])
            answer, _ = self.run_bound(8000, 3, 4, end, size="256M", trace=end + "-all")
            whole = self.info(end + "-all")
            self.assertEqual(whole["dropped"], 0)
            # locks that were contended make events of their own: the same in no two runs
            counts = {op: value["count"] for op, value in whole["ops"].items() if op in ("pwrite", "open", "exit")}
            self.assertAlmostEqual(self.total(end), whole["events"], delta=whole["events"] - sum(counts.values()) + 64)

    def test_many_short_processes(self):
        """Places of processes that have ended are used again: the last process is there."""
        script = f"for i in 1 2 3 4 5 6 7 8 9 10; do for j in 1 2 3 4 5 6 7 8; do {BOUND} 200 1 1 exit; done; done; {BOUND} 77 1 1 exit"
        answer = self.record("sh", "-c", script, options=("-q", "--max-size=1M", "--keep=last", "--causal=off"))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.check()
        self.assertEqual(self.offsets("p0.t0")[-77:], list(range(77)))
        self.assertEqual(self.info()["processes"], 82)
        self.record("sh", "-c", script, options=("-q", "--causal=off"), trace="all")
        self.assertEqual(self.total(), self.total("all"))

    def test_recorder_that_is_killed(self):
        """The rings and the file beside them are sealed by the next command."""
        child = self.start(BOUND, "300000", "1", "2", "exit", options=("-q", "--max-size=1M", "--keep=last"))
        self.assertTrue(until(lambda: os.path.exists("p0.t1") and os.path.getsize("p0.t1") > 100000))
        rings = os.path.join("t", "raw")
        files = [os.path.join(root, name) for root, _, names in os.walk(rings) for name in names]
        bound = [name for name in files if name.endswith(".bound")]
        self.assertEqual(len(bound), 1, files)
        self.assertLessEqual(os.stat(bound[0]).st_size, MIB + 2 * 4096)
        with open(bound[0] + ".1.2.tmp", "wb"):  # of a process that ended while it made one
            pass
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        self.check()
        info = self.info()
        self.assertGreater(info["dropped"], 100000)
        self.assertEqual(info["bound"]["keep"], "last")
        self.assertFalse(os.path.exists(rings))

    def test_trace_that_is_written(self):
        """Read while it is overwritten: sound at each moment."""
        self.start(BOUND, "400000", "1", "2", "exit", options=("-q", "--max-size=1M", "--keep=last"))
        self.assertTrue(until(lambda: os.path.exists("p0.t1") and os.path.getsize("p0.t1") > 50000))
        for _ in range(3):
            for offsets in self.offsets_by_file().values():
                self.assertEqual(offsets, sorted(set(offsets)))

    def test_analyses_say_so(self):
        self.run_bound(60000, 1, 1, "exit")
        explain = self.whyio("explain", "t")
        self.assertIn("from the begin of the run were overwritten", explain.stdout)
        edges = self.whyio("edges", "t")
        self.assertNotEqual(edges.returncode, 0)
        replay = self.whyio("replay", "--root", "below", "t")
        self.assertEqual(replay.returncode, 0, replay.stdout + replay.stderr)
        self.assertIn("of these events were overwritten", replay.stdout)
        check = json.loads(self.whyio("check", "--format=json", "t").stdout)
        self.assertGreater(check["evicted"], 40000)
        self.assertEqual((check["ok"], check["evicted"]), (True, check["dropped"]))

    def test_refused(self):
        for options, text in ((("--keep=last",), "--keep is for --max-size"),
                              (("--max-size=1M", "--keep=middle"), "first or last"),
                              (("--max-size=64K",), "from 1M"), (("--max-size=x",), "from 1M"),
                              (("--max-size=2T",), "from 1M"),
                              (("--max-size=1M", "--causal=throttle"), "needs all events")):
            answer = self.record("true", options=options)
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn(text, answer.stderr)
            self.assertFalse(os.path.exists("t"))

    @unittest.skipUnless(os.geteuid() == 0, "root alone may change its user")
    def test_user_and_root_are_given_up(self):
        """The file stays open: what comes after that is kept, too."""
        script = ("import os\nfd = os.open('out', os.O_RDWR | os.O_CREAT)\nos.chroot('.')\nos.setuid(65534)\n"
                  "for i in range(60000): os.pwrite(fd, b'x', i)\n")
        answer = self.record(sys.executable, "-c", script, options=("-q", "--max-size=1M", "--keep=last"))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.check()
        self.assertEqual(self.offsets("out")[-1], 59999)
        info = self.info()
        self.assertEqual(info["dropped"], info["bound"]["evicted"])

    def test_names_have_a_bound_too(self):
        """Definitions take as much room as the events may, and no more; what is left out is told."""
        script = "import os\nfor i in range(20000):\n    try: os.stat('/tmp/no-such-file-%d' % i)\n    except OSError: pass\n"
        answer = self.record(sys.executable, "-c", script, options=("--max-size=1M", "--keep=last", "--causal=off"))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("are not known", answer.stderr)
        self.check()


if __name__ == "__main__":
    main()
