#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When operations start: modes, think times, lateness, phases, comparison."""
import json
import os
import shutil
import subprocess

from replay_case import WHYIO, ReplayCase, main

MS = 1000000
SLACK_S = 0.25


class Modes(ReplayCase):
    """Two processes: one starts 40 ms after the other, each with pauses; a wait of 500 ms in a pipe."""

    def setUp(self):
        super().setUp()
        self.script(f"""
            process 10
            process 20
            stream 0 10
            stream 1 20
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            pwrite stream=0 t={51 * MS} fd=3 path=/a off=0 size=4096
            read stream=0 t={61 * MS} dur={500 * MS} fd=4 path=pipe:[1] size=10
            pwrite stream=0 t={571 * MS} fd=3 path=/a off=4096 size=4096
            open stream=1 t={41 * MS} path=/b a0=0x42 a1=0644 res=3
            pwrite stream=1 t={141 * MS} fd=3 path=/b off=0 size=4096""")

    def replay_that_takes(self, least, *options):
        result = self.replay_within(least + SLACK_S, *options)
        self.assertGreaterEqual(result["time_s"], least - 0.03)  # the first operation may begin late
        self.assertAlmostEqual(result["traced_s"], 0.5700001, 6)
        self.assertAlmostEqual(result["time_error"], (result["time_s"] - result["traced_s"]) / result["traced_s"], 9)
        return result

    def test_afap(self):
        result = self.replay_within(SLACK_S, "--mode=afap")
        self.assertEqual(result["late"], {"p50_us": None, "p99_us": None, "max_us": None})

    def test_think_keeps_think_times_and_drops_waits(self):
        result = self.replay_that_takes(0.140, "--mode=think")  # the second process: 40 + 100; the first: 50 + 10 + 10
        self.assertGreaterEqual(result["late"]["p99_us"], 0)
        self.assertLessEqual(result["late"]["p50_us"], result["late"]["p99_us"])

    def test_timed_keeps_start_times(self):
        self.replay_that_takes(0.570, "--mode=timed")

    def test_think_is_the_default_without_edges(self):
        self.assertEqual(self.replay()["mode"], "think")

    def test_compute_is_scaled(self):
        self.replay_that_takes(0.280, "--scale-compute=2")
        self.replay_within(SLACK_S, "--scale-compute=0")

    def test_phases_are_between_pauses(self):
        result = self.replay("--mode=timed")
        self.assertEqual([phase["ops"] for phase in result["phases"]], [1, 2, 1, 1])
        self.assertEqual(sum(phase["bytes"] for phase in result["phases"]), result["bytes"])

    def test_comparison(self):
        answer = self.run_replay("--mode=afap", "--compare")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        result, comparison = (json.loads(line) for line in answer.stdout.splitlines())
        self.assertEqual(comparison["schema"], "whyio.compare/1")
        writes = next(row for row in comparison["ops"] if row["op"] == "pwrite")
        self.assertEqual(writes["a"]["count"], writes["b"]["count"])
        self.assertEqual(result["ops"], 5)
        self.assertEqual(self.tree(), {"/a", "/b"}, "nothing of the comparison is left")

    def test_what_was_not_read_is_not_compared_as_read(self):
        self.script("""
            open path=/c a0=0x242 a1=0644 res=3
            pread fd=3 path=/c off=0 size=100 res=100
            close fd=3 path=/c""", name="empty")
        answer = self.run_replay("--mode=afap", "--compare", trace=os.path.join(self.dir, "empty"))
        self.assertEqual(answer.returncode, 1, answer.stderr)
        comparison = json.loads(answer.stdout.splitlines()[1])
        reads = next(row for row in comparison["ops"] if row["op"] == "pread")
        self.assertEqual((reads["a"]["bytes"], reads["b"]["bytes"]), (100, 0))

    def test_text(self):
        answer = subprocess.run([WHYIO, "replay", self.trace, "--root=" + self.target, "--mode=afap", "--compare"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("replayed  5 operations, 0 B read, 12.0 KiB written, mode afap", answer.stdout)
        self.assertIn("skipped   1 operation: pipes and fifos", answer.stdout)


class Waiting(ReplayCase):
    """Who waits is behind nobody: he does nothing before that is over, whatever another one looks for in vain."""

    def test_a_parent_that_waits_for_its_child(self):
        self.script(f"""
            process 10
            process 11 parent=0 start=50
            stream 0 10
            stream 1 11
            fork stream=0 t=1000 res=11
            wait stream=0 t=2000 dur={500 * MS} res=11
            unlink stream=0 t={600 * MS} path=/a
            open stream=1 t={1 * MS} path=/a a0=0x242 a1=0644 res=3
            truncate stream=1 t={2 * MS} path=/a size=10
            stat stream=1 t={3 * MS} path=/a a1=0100644 a2=999""")
        for mode in ("afap", "think"):
            self.replay_within(1, f"--mode={mode}", status=1)

    def test_a_handler_of_a_signal_makes_a_file_meanwhile(self):
        # the other process comes for it at once, long before it is there
        self.script(f"""
            process 10
            process 11 parent=0 start=50
            process 20
            stream 0 10
            stream 1 11
            stream 2 20
            fork stream=0 t=1000 res=11
            wait stream=0 t=2000 dur={500 * MS} res=11
            open stream=0 t={400 * MS} path=/a a0=0x42 a1=0644 res=3
            open stream=1 t={1 * MS} path=/b a0=0x42 a1=0644 res=3
            close stream=1 t={460 * MS} fd=3 path=/b
            read stream=2 t=1000 dur={449 * MS} fd=4 path=pipe:[1] size=10
            open stream=2 t={450 * MS} path=/a a0=0x2 res=3""")
        self.assertEqual(self.replay("--mode=think")["mismatch_count"], 0)


class Order(ReplayCase):
    """Modes without the recorded waits keep the order that files need; --no-order does not."""

    BUSY = "\n".join(f"mkdir stream=1 t={1000 + i} path=/busy/{i}" for i in range(600))

    def check(self, first, then, before=""):
        """Stream 1 does a lot, then what is `first`; stream 0 has nothing to do before `then`."""
        self.script(f"""
            process 10
            process 11
            stream 0 10
            stream 1 11
            {before}
            {self.BUSY}
            {first.format(at="stream=1 t=50000000")}
            {then.format(at="stream=0 t=60000000")}""")
        self.assertEqual(self.replay("--mode=afap")["mismatch_count"], 0)
        self.assertGreater(self.replay("--mode=afap", "--no-order", status=1)["mismatch_count"], 0)
        shutil.rmtree(self.trace)

    def test_a_lookup_precedes_the_removal(self):
        self.check("open {at} path=/a a0=0 res=3", "unlink {at} path=/a")
        self.check("stat {at} path=/a a1=0100644 a2=0", "rename {at} path=/a path2=/b")
        self.check("mkdir {at} path=/d/x", "rename {at} path=/d path2=/e")

    def test_a_failed_lookup_precedes_the_making(self):
        self.check("open {at} path=/a a0=0 err=2", "open {at} path=/a a0=0x42 a1=0644 res=3")
        self.check("access {at} path=/a err=2", "mkdir {at} path=/a")

    def test_a_length_is_read_before_it_changes(self):
        self.check("read {at} fd=3 path=/a off=0 size=100 res=10", "write {at} fd=3 path=/a off=10 size=50",
                   "open stream=1 t=1 path=/a a0=0 res=3\nopen stream=0 t=2 path=/a a0=1 res=3")
        self.check("stat {at} path=/a a1=0100644 a2=10", "truncate {at} path=/a size=0")

    def test_what_a_mode_permits_precedes_its_change(self):
        """Execution: root may do everything else with any mode."""
        self.check("access {at} path=/a a0=1", "chmod {at} path=/a a0=0")

    def test_a_race_is_told_and_is_no_divergence(self):
        """Whether the third process finds the file depends on which of the two calls that overlap came first."""
        self.script("""
            process 10
            process 11
            process 12
            stream 0 10
            stream 1 11
            stream 2 12
            open stream=0 t=1000 dur=9000 path=/d/a a0=0x42 a1=0644 res=3
            unlink stream=1 t=5000 dur=1000 path=/d/a
            stat stream=2 t=20000 path=/d/a a1=0100644 a2=0
            stat stream=2 t=30000 path=/d/b err=2
            stat stream=2 t=40000 path=/d/c err=20""")
        result = self.replay("--mode=afap")
        self.assertEqual([(m["pid"], m["op"], m["is_race"]) for m in result["mismatches"]], [(12, "stat", True)])
        self.assertEqual((result["mismatch_count"], result["race_count"]), (1, 1))
        text = self.run_replay("--mode=afap", "--format=text").stdout
        self.assertIn("1 operation had another size, success or errno than in the trace; all of them by races, "
                      "which the trace does not order:", text)

    def test_overlapping_calls_are_as_their_results_say(self):
        self.script("""
            process 10
            process 11
            stream 0 10
            stream 1 11
            open stream=0 t=1000 dur=5000 path=/a a0=0xc2 a1=0644 err=17
            open stream=1 t=2000 dur=3000 path=/a a0=0xc2 a1=0644 res=3""")
        self.assertEqual(self.replay("--mode=afap")["mismatch_count"], 0)


class Forks(ReplayCase):
    """Processes are forked by the fork server, with the descriptors of the process that forks in the trace."""

    def test_a_chain_of_forks_is_flat(self):
        depth = 40
        lines = ["process 10"] + [f"process {11 + i} parent={i} start={1000 * i + 50}" for i in range(depth)]
        lines += [f"stream {i} {10 + i}" for i in range(depth + 1)]
        lines.append("open stream=0 t=20 path=/a a0=0x241 a1=0644 res=3")
        lines += [f"fork stream={i} t={1000 * i + 40} res={11 + i}" for i in range(depth)]
        lines += [f"write stream={i} t={100000 + i} fd=3 path=/a size=10" for i in range(depth + 1)]
        self.script("\n".join(lines))
        log = os.path.join(self.dir, "strace")
        command = [WHYIO, "replay", self.trace, "--root=" + self.target, "--mode=afap"]
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        subprocess.run(["strace", "-f", "-qq", "-o", log, "-e", "signal=none", "-e", "trace=clone,clone3,fork,vfork",
                        *command], check=True, stdout=subprocess.DEVNULL, timeout=60)
        with open(log, encoding="utf-8") as file:
            callers = [line.split()[0] for line in file if "clone" in line and "resumed" not in line]
        self.assertEqual(len(callers), depth + 2)  # the root, the server, and one for each recorded fork
        self.assertEqual(len(set(callers)), 2)  # none of the recorded processes forks itself
        self.assertEqual(os.path.getsize(self.target + "/a"), 10 * (depth + 1))  # one position for all

    def test_many_descriptors_are_inherited(self):
        count = 600
        lines = ["process 10", "process 11 parent=0 start=5000", "stream 0 10", "stream 1 11"]
        lines += [f"open stream=0 t={1000 + i} path=/d/f{i} a0=0x241 a1=0644 res={3 + i}" for i in range(count)]
        lines += ["fork stream=0 t=4000 res=11"]
        lines += [f"write stream=1 t={6000 + i} fd={3 + i} path=/d/f{i} size=5" for i in range(count)]
        self.script("\n".join(lines))
        self.assertEqual(self.replay("--mode=afap")["mismatch_count"], 0)
        sizes = [os.path.getsize(f"{self.target}/d/f{i}") for i in range(count)]
        self.assertEqual(sizes, [5] * count)


class Cache(ReplayCase):
    def test_drop_and_keep(self):
        self.script("open path=/a res=3\npread fd=3 path=/a off=0 size=4194304")
        for option in ("drop", "keep"):
            result = self.replay("--mode=afap", "--cache=" + option)
            self.assertEqual(result["mismatch_count"], 0)
            self.assertEqual((result["cache"]["asked"], result["cache"]["chosen"]), (option, option))
            self.assertEqual(os.path.getsize(self.path("/a")), 4194304)

    def chosen(self, name, *reads):
        """By how long the first reads of bytes from before the run took: [keep|drop, bytes from memory, from a device]"""
        trace = self.script("open path=/a a0=2 res=3\n" + "\n".join(reads), name=name)
        cache = self.replay("--mode=afap", trace=trace, target=os.path.join(self.dir, "target-" + name))["cache"]
        self.assertEqual(cache["asked"], "auto")
        return [cache["chosen"], cache["memory_bytes"], cache["device_bytes"]]

    def test_auto_is_by_the_first_reads(self):
        read = "pread fd=3 path=/a off={} size={} dur={}".format
        self.assertEqual(self.chosen("memory", read(0, 4096, 3000)), ["keep", 4096, 0])
        self.assertEqual(self.chosen("device", read(0, 4096, 90000)), ["drop", 0, 4096])
        # what was read ahead, what is read again, what the run wrote: they say nothing
        self.assertEqual(self.chosen("ahead", read(0, 4096, 90000), *[read(4096 * i, 4096, 900) for i in range(1, 9)],
                                     *[read(0, 65536, 900)] * 9), ["drop", 0, 9 * 4096])
        self.assertEqual(self.chosen("wrote", "pwrite fd=3 path=/a off=0 size=100000", read(0, 100000, 900)),
                         ["drop", 0, 0])
        # each jump is asked anew, and the most bytes decide
        jumps = [read(0, 4096, 90000), read(1 << 20, 4096, 900), read((1 << 20) + 4096, 4096, 90000)]
        self.assertEqual(self.chosen("jumps", *jumps), ["keep", 8192, 4096])
        # large reads take longer, from memory too
        self.assertEqual(self.chosen("large", read(0, 3 << 20, 1000000)), ["keep", 3 << 20, 0])
        self.assertEqual(self.chosen("slow", read(0, 3 << 20, 1100000)), ["drop", 0, 3 << 20])
        self.assertEqual(self.chosen("none", "close fd=3 path=/a"), ["drop", 0, 0])

    def test_what_was_chosen_is_said(self):
        self.script("open path=/a res=3\npread fd=3 path=/a off=0 size=4096 dur=3000")
        text = self.run_replay("--mode=afap", "--format=text").stdout
        self.assertIn("cache     kept: of 4.00 KiB that the run read first, 4.00 KiB came as fast as from memory\n", text)
        self.assertIn("of data, in the page cache\n", text)
        self.assertIn("cache     dropped: as asked\n",
                      self.run_replay("--mode=afap", "--format=text", "--cache=drop").stdout)


if __name__ == "__main__":
    main()
