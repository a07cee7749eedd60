#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Under mpirun: one rank per recorded process, waits between ranks by shared memory and by messages, ends together."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import mpi_environment  # noqa: F401
from replay_case import WHYIO, ReplayCase, main

MS = 1000000
RANKS = 3
ROUNDS = 20
HELPERS = os.path.join(os.environ["WHYIO_BUILD"], "tools", "whyio")
FAMILIES = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "-n"],
    "mpich": ["mpiexec.mpich", "-n"],
}
# Kept waiting by a launcher, not by us: a machine that is busy with other tests.
LIMIT_S = 60


def launcher(family):
    command = FAMILIES[family]
    if shutil.which(command[0]) is None or not os.path.exists(os.path.join(HELPERS, "whyio-replay-mpi-" + family)):
        raise unittest.SkipTest(f"no {command[0]}, or whyio was built without it")
    return command


def environment(**more):
    return dict(os.environ, **more)


def in_turn():
    """Each rank in its turn computes for 2 ms and writes; then a barrier; in the end rank 0 gets a message of each."""
    lines = [f"process {10 + i} rank={i}" for i in range(RANKS)] + [f"stream {i} {10 + i}" for i in range(RANKS)]
    lines += [f"open stream={i} t={MS} path=/{i} a0=0x42 a1=0644 res=3" for i in range(RANKS)]
    for turn in range(ROUNDS):
        base = (2 + 3 * turn) * MS
        for i in range(RANKS):
            is_turn = turn % RANKS == i
            begin = base + (2 * MS if is_turn else 0)
            lines.append(f"pwrite stream={i} t={begin} dur=1000 fd=3 path=/{i} off={turn * 4096} size=4096")
            lines.append(f"MPI_Barrier stream={i} t={begin + 5000} dur={base + 2 * MS + 9000 - begin}")
        lines.append("collective " + " ".join(f"{i}:{2 + 2 * turn}" for i in range(RANKS)))
    last = 2 * ROUNDS + 1
    end = (3 + 3 * ROUNDS) * MS
    for i in range(1, RANKS):
        lines.append(f"MPI_Send stream={i} t={end} a1=0")
        lines.append(f"MPI_Recv stream=0 t={end} dur=5000 a1={i}")
        lines.append(f"edge {i}:{last - 1} 0:{last + i - 1}")
    lines.append(f"pwrite stream=0 t={end + MS} fd=3 path=/0 off=0 size=4096")
    return "\n".join(lines)


class Ranks(ReplayCase):
    family = "openmpi"

    def setUp(self):
        super().setUp()
        self.command = launcher(self.family)
        self.script(in_turn())

    def run_ranks(self, *options, ranks=RANKS, **more):
        return subprocess.run([*self.command, str(ranks), WHYIO, "replay", self.trace, "--root=" + self.target,
                               "--format=json", *options], env=environment(**more), capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)

    def result(self, *options, **more):
        answer = self.run_ranks(*options, **more)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        return [json.loads(line) for line in answer.stdout.splitlines()]

    def assert_all(self, result):
        self.assertEqual(result["mode"], "causal")
        self.assertEqual(result["ops"], RANKS * (1 + ROUNDS) + 1)
        self.assertEqual(result["mismatch_count"], 0)
        self.assertEqual(result["waits"], {"hard": RANKS - 1, "collective": RANKS * ROUNDS, "mutex": 0, "queue": 0})
        self.assertEqual([row["ops"] for row in result["per_rank"]], [2 + ROUNDS] + [1 + ROUNDS] * (RANKS - 1))
        # the turns cannot overlap, whichever rank is where
        self.assertGreater(result["time_s"], 0.002 * ROUNDS)

    def test_ranks_that_share_memory(self):
        self.assert_all(self.result()[0])
        self.assertEqual(self.tree(), {f"/{i}" for i in range(RANKS)})

    def test_ranks_that_send_messages(self):
        self.assert_all(self.result(WHYIO_REPLAY_MACHINE_RANKS="1")[0])

    def test_machines_with_several_ranks(self):
        self.assert_all(self.result(WHYIO_REPLAY_MACHINE_RANKS="2")[0])

    def test_other_modes_and_comparison(self):
        result, comparison = self.result("--mode=afap", "--compare", WHYIO_REPLAY_MACHINE_RANKS="2")
        self.assertEqual(result["ops"], RANKS * (1 + ROUNDS) + 1)
        writes = next(row for row in comparison["ops"] if row["op"] == "pwrite")
        self.assertEqual(writes["a"]["count"], writes["b"]["count"])

    def test_another_number_of_ranks_touches_nothing(self):
        answer = self.run_ranks(ranks=2)
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("the trace has 3 ranks, and the launcher has started 2", answer.stderr)
        self.assertEqual(answer.stderr.count("the trace has"), 1, "one rank speaks for all")
        self.assertFalse(os.path.exists(self.target))

    def test_a_failure_is_told_once(self):
        os.mkdir(self.target)
        with open(self.path("/1"), "w", encoding="ascii") as foreign:
            foreign.write("somebody's")
        answer = self.run_ranks()
        self.assertNotEqual(answer.returncode, 0)
        self.assertEqual(answer.stderr.count("whyio:"), 1, answer.stderr)


class Knots(ReplayCase):
    """Threads of a rank that wait for each other's locks, as they did not in the trace."""

    def setUp(self):
        super().setUp()
        self.command = launcher("openmpi")
        # one after the other in the trace; without computing both take their first lock at once, and write
        # for longer than that takes before they ask for the other's
        self.script("process 10 rank=0\nstream 0 10\nstream 0 11\nprocess 20 rank=1\nstream 1 20\n" + "".join(
            f"open stream={i} t={(1 + 100 * i) * MS} path=/{i} a0=0x42 a1=0644 res={3 + i}\n"
            f"pthread_mutex_lock stream={i} t={(2 + 100 * i) * MS} a0={7 + i}\n"
            + "".join(f"pwrite stream={i} t={(3 + n + 100 * i) * MS} dur=1000 fd={3 + i} path=/{i} off=0 size=1048576\n"
                      for n in range(32)) +
            f"pthread_mutex_lock stream={i} t={(51 + 100 * i) * MS} a0={8 - i}\n"
            f"pthread_mutex_unlock stream={i} t={(52 + 100 * i) * MS} a0={8 - i}\n"
            f"pthread_mutex_unlock stream={i} t={(53 + 100 * i) * MS} a0={7 + i}\n" for i in range(2)) + f"""
            MPI_Recv stream=2 t={MS} dur={200 * MS}
            MPI_Send stream=1 t={190 * MS}
            edge 0:34 1:1 class=mutex evidence=thread object=1
            edge 0:35 1:34 class=mutex evidence=thread object=2
            edge 1:36 2:0""")

    def untied(self, **more):
        answer = subprocess.run([*self.command, "2", WHYIO, "replay", self.trace, "--root=" + self.target, "--format=json",
                                 "--scale-compute=0"], env=environment(**more), capture_output=True, text=True,
                                timeout=LIMIT_S, check=False)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        result = json.loads(answer.stdout)
        self.assertEqual(result["mismatch_count"], 0)
        self.assertEqual(result["ops"], 2 * 33)
        return result["untied"]

    def test_ranks_that_share_memory(self):
        self.assertLessEqual(self.untied(), 1)  # none where they did not meet

    def test_ranks_that_send_messages(self):
        self.assertLessEqual(self.untied(WHYIO_REPLAY_MACHINE_RANKS="1"), 1)


class MpichRanks(Ranks):
    family = "mpich"


class Programs(ReplayCase):
    """A real program, recorded with its launcher, which has no rank."""

    def test_turns(self):
        command = launcher("openmpi")
        program = os.path.join(os.environ["WHYIO_EXAMPLES"], "turns")
        if not os.access(program, os.X_OK):
            self.skipTest("the examples were not built")
        work = os.path.join(self.dir, "work")
        os.mkdir(work)
        self.record(*command, "4", program, "-d", work, "-n", "4", env=environment(OMPI_MCA_mpi_yield_when_idle="1"))
        alone = self.replay()
        answer = subprocess.run([*command, "4", WHYIO, "replay", "-q", self.trace, "--root=" + self.target,
                                 "--format=json"], env=environment(WHYIO_REPLAY_MACHINE_RANKS="2"),
                                capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        result = json.loads(answer.stdout)
        self.assertEqual(result["mode"], "causal")
        for key in ("ops", "bytes", "waits", "mismatch_count"):
            self.assertEqual(result[key], alone[key], key)


class Deaths(ReplayCase):
    """A worker or a rank that is killed ends all, soon."""

    def setUp(self):
        super().setUp()
        self.command = launcher("openmpi")
        self.script(f"""
            process 10 rank=0
            process 20 rank=1
            stream 0 10
            stream 1 20
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            MPI_Send stream=0 t={100000 * MS} a1=1
            close stream=0 t={100001 * MS} fd=3 path=/a
            open stream=1 t={1 * MS} path=/b a0=0x42 a1=0644 res=3
            MPI_Recv stream=1 t={2 * MS} dur={100000 * MS} a1=0
            close stream=1 t={100003 * MS} fd=3 path=/b
            edge 0:0 1:1""")

    def children(self, pid):
        return [int(child) for child in subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout.split()]

    def start(self, **more):
        """The launcher, its ranks, and the workers of each, once all have begun."""
        replay = subprocess.Popen([*self.command, "2", WHYIO, "replay", "-q", self.trace, "--root=" + self.target],
                                  env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(replay.communicate)
        self.addCleanup(replay.kill)
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            ranks = self.children(replay.pid)
            workers = [self.children(rank) for rank in ranks]
            if len(ranks) == 2 and all(workers) and self.tree() >= {"/a", "/b"}:
                return replay, ranks, [worker for some in workers for worker in some]
            time.sleep(0.05)
        self.fail("the replay has not begun")

    def assert_ends(self, replay, within_s):
        begun = time.monotonic()
        _, message = replay.communicate(timeout=LIMIT_S)
        self.assertLess(time.monotonic() - begun, within_s)
        self.assertNotEqual(replay.returncode, 0)
        return message

    def assert_gone(self, pids):
        end = time.monotonic() + 10
        while any(os.path.exists(f"/proc/{pid}/exe") for pid in pids) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertFalse([pid for pid in pids if os.path.exists(f"/proc/{pid}/exe")])

    def test_a_killed_worker(self):
        for ranks_of_machine in ("2", "1"):
            with self.subTest(ranks_of_machine):
                replay, ranks, workers = self.start(WHYIO_REPLAY_MACHINE_RANKS=ranks_of_machine)
                os.kill(workers[-1], signal.SIGKILL)
                message = self.assert_ends(replay, 20)
                self.assertRegex(message, "the process that replays (10|20) .* was killed by signal 9")
                self.assert_gone(ranks + workers)

    def test_a_killed_rank(self):
        replay, ranks, workers = self.start()
        os.kill(ranks[1], signal.SIGKILL)
        message = self.assert_ends(replay, 30)
        self.assertIn("signal 9", message)
        self.assert_gone(ranks + workers)

    def test_a_rank_that_stands_still(self):
        # no signal, no error: only its silence tells
        replay, ranks, workers = self.start(WHYIO_REPLAY_SILENCE="3s")
        os.kill(ranks[1], signal.SIGSTOP)
        try:
            message = self.assert_ends(replay, 30)
        finally:
            for pid in ranks:
                if os.path.exists(f"/proc/{pid}"):
                    os.kill(pid, signal.SIGCONT)
        self.assertIn("has heard nothing from the other ranks for 3 seconds", message)
        self.assert_gone(ranks + workers)


if __name__ == "__main__":
    main()
