#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mode causal: waits of the trace are kept, whatever the storage; knots end with a message, never a hang."""
import json
import os
import signal
import subprocess
import time

from replay_case import SCRIPT, TIMEOUT, WHYIO, ReplayCase, main

MS = 1000000
SLACK_S = 0.25


class Causal(ReplayCase):
    def replay_that_takes(self, least, *options, **more):
        result = self.replay_within(least + SLACK_S, *options, **more)
        self.assertEqual(result["mode"], "causal")
        self.assertEqual(result["mismatch_count"], 0)
        self.assertGreaterEqual(result["time_s"], least - 0.03)  # the first operation may begin late
        return result


TWO = "process 10 rank=0\nprocess 20 rank=1\nstream 0 10\nstream 1 20\n"


class Edges(Causal):
    def test_is_the_default_with_edges(self):
        self.script(TWO + """
            open stream=0 path=/a a0=0x42 a1=0644 res=3
            MPI_Barrier stream=0
            MPI_Barrier stream=1
            collective 0:1 1:0""")
        result = self.replay()
        self.assertEqual(result["mode"], "causal")
        self.assertEqual(result["edges"], {"hard": 0, "collective": 1, "mutex": 0, "queue": 0})

    def test_nobody_waits_for_anybody(self):
        self.script("open path=/a a0=0x42 a1=0644 res=3\nedges")
        self.assertEqual(self.replay()["mode"], "think")
        self.assertEqual(self.replay("--mode=causal")["edges"], {"hard": 0, "collective": 0, "mutex": 0, "queue": 0})

    def test_edges_are_found_where_none_are_stored(self):
        self.script("""
            process 10
            process 11 parent=0 start=1500
            stream 0 10
            stream 1 11
            fork stream=0 t=1000 res=11
            open stream=1 t=2000 path=/c a0=0x42 a1=0644 res=3
            waitpid stream=0 t=3000 res=11
            open stream=0 t=4000 path=/p a0=0x42 a1=0644 res=3""")
        self.assertEqual(self.replay("--mode=afap")["mode"], "afap")
        self.assertNotIn("trace.edges", os.listdir(self.trace))
        result = self.replay()
        self.assertEqual(result["mode"], "causal")
        self.assertGreater(result["edges"]["hard"], 0)

    def test_a_message_is_waited_for(self):
        # rank 0 computes 200 ms and sends; rank 1 has waited since the start
        self.script(TWO + f"""
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            MPI_Send stream=0 t={201 * MS} a1=1
            MPI_Recv stream=1 t={1 * MS} dur={200 * MS} a1=0
            open stream=1 t={202 * MS} path=/b a0=0x42 a1=0644 res=3
            edge 0:0 1:0""")
        result = self.replay_that_takes(0.2)
        self.assertEqual(result["waits"], {"hard": 1, "collective": 0, "mutex": 0, "queue": 0})
        # computing is scaled, and so is what others wait for; without waits rank 1 would begin at once
        self.replay_that_takes(0.4, "--scale-compute=2")
        self.replay_within(0.1, "--mode=think")

    def test_waiting_is_no_computing(self):
        # rank 0 has computed for 400 ms, the others have waited for it at a barrier
        ranks = "".join(f"process {10 + i} rank={i}\n" for i in range(4))
        streams = "".join(f"stream {i} {10 + i}\n" for i in range(4))
        events = "".join(
            f"open stream={i} t={1 * MS} path=/{i} a0=0x42 a1=0644 res=3\n"
            f"MPI_Barrier stream={i} t={(401 if i == 0 else 2) * MS} dur={(1 if i == 0 else 400) * MS}\n"
            f"pwrite stream={i} t={403 * MS} fd=3 path=/{i} off=0 size=4096\n" for i in range(4))
        self.script(ranks + streams + events + "collective 0:1 1:1 2:1 3:1")
        self.replay_that_takes(0.402)
        result = self.replay_that_takes(0.042, "--scale-compute=0.1")
        self.assertEqual(result["waits"]["collective"], 4)

    def test_a_slow_writer_delays_the_others(self):
        # rank 1 reads what rank 0 has written, which then writes the next: the order holds however long each takes
        self.script(TWO + "".join(
            f"open stream={i} t={1 * MS + i} path=/a a0=0x42 a1=0644 res=3\n" for i in range(2)) + "".join(
                f"pwrite stream=0 t={(2 + 4 * k) * MS} fd=3 path=/a off={k * 8192} size=4096\n"
                f"MPI_Send stream=0 t={(3 + 4 * k) * MS} a1=1\n"
                f"MPI_Recv stream=0 t={(3 + 4 * k) * MS + 9} dur={2 * MS} a1=1\n"
                f"MPI_Recv stream=1 t={(1 + 4 * k) * MS + 9} dur={2 * MS} a1=0\n"
                f"pread stream=1 t={(4 + 4 * k) * MS} fd=3 path=/a off={k * 8192} size=4096\n"
                f"MPI_Send stream=1 t={(4 + 4 * k) * MS + 9} a1=0\n"
                for k in range(20)) + "".join(
                    f"edge 0:{3 * k + 1} 1:{3 * k + 1}\nedge 1:{3 * k + 2} 0:{3 * k + 3}\n" for k in range(20)))
        result = self.replay()
        self.assertEqual((result["waits"]["hard"], result["mismatch_count"]), (40, 0))
        self.assertGreaterEqual(result["time_s"], 0.079 - 0.03)
        writes, reads = (self.seen(op) for op in ("pwrite", "pread"))
        self.assertEqual((len(writes), len(reads)), (20, 20))
        for k in range(20):
            self.assertLessEqual(writes[k]["t_ns"] + writes[k]["dur_ns"], reads[k]["t_ns"])
            self.assertLessEqual(reads[k]["t_ns"] + reads[k]["dur_ns"], writes[k + 1]["t_ns"] if k < 19 else 1 << 63)

    def seen(self, op):
        """What a recorded replay did to /a, in order of its offset."""
        if not os.path.exists(os.path.join(self.dir, "seen")):
            self.record(WHYIO, "replay", "-q", self.trace, "--root=" + self.target, name="seen")
        dump = subprocess.run([WHYIO, "dump", "--op=" + op, os.path.join(self.dir, "seen")], capture_output=True,
                              text=True, check=True, timeout=TIMEOUT)
        events = [json.loads(line) for line in dump.stdout.splitlines()[:-1]]
        return sorted((event for event in events if event["path"] == self.path("/a")), key=lambda event: event["offset"])

    def test_a_lock_is_kept_in_any_order(self):
        # two threads hold the lock for 50 ms of computing each, ten times: they cannot overlap
        self.script("process 10\nstream 0 10\nstream 0 11\n" + "".join(
            f"open stream={i} t={1 * MS + i} path=/{i} a0=0x42 a1=0644 res={3 + i}\n" for i in range(2)) + "".join(
                f"pthread_mutex_lock stream={i} t={(2 + 20 * k + 10 * i) * MS} a0=0x7000\n"
                f"pwrite stream={i} t={(11 + 20 * k + 10 * i) * MS} fd={3 + i} path=/{i} off={k} size=1\n"
                f"pthread_mutex_unlock stream={i} t={(11 + 20 * k + 10 * i) * MS + 9} a0=0x7000\n"
                for k in range(5) for i in range(2)) + "".join(
                    f"edge {i}:{3 * k + 2} {1 - i}:{3 * (k + i) + 1} class=mutex evidence=thread object=1\n"
                    for k in range(5) for i in range(2) if k + i < 5))
        result = self.replay_that_takes(0.11)
        self.assertGreater(result["waits"]["mutex"], 0)

    def test_who_waits_in_vain_has_no_lock_meanwhile(self):
        # thread 0 waits for a condition until it has been enough, thread 1 writes under the lock
        self.script("process 10\nstream 0 10\nstream 0 11\n" + f"""
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            pthread_mutex_lock stream=0 t={2 * MS} a0=0x7000
            pthread_cond_wait stream=0 t={3 * MS} dur={400 * MS} err=110 a0=0x7010 a1=0x7000
            pthread_mutex_unlock stream=0 t={404 * MS} a0=0x7000
            pthread_mutex_lock stream=1 t={50 * MS} a0=0x7000
            open stream=1 t={60 * MS} path=/b a0=0x42 a1=0644 res=4
            pthread_mutex_unlock stream=1 t={70 * MS} a0=0x7000
            edge 0:1 1:0 class=mutex evidence=thread object=1
            edge 1:2 0:2 class=mutex evidence=thread object=1""")
        self.replay_that_takes(0.06)

    def test_who_waits_for_the_lock_of_a_condition_has_it_when_it_is_free(self):
        # thread 1 opened a file for 4 s, and left the lock right before thread 0 had it: here that takes no time
        self.script("process 10\nstream 0 10\nstream 0 11\n" + f"""
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            pthread_mutex_lock stream=0 t={2 * MS} a0=0x7000
            pthread_cond_wait stream=0 t={3 * MS} dur={4400 * MS} err=110 a0=0x7010 a1=0x7000
            pwrite stream=0 t={4404 * MS} fd=3 path=/a off=0 size=1
            pthread_mutex_unlock stream=0 t={4405 * MS} a0=0x7000
            pthread_mutex_lock stream=1 t={10 * MS} a0=0x7000
            open stream=1 t={20 * MS} dur={4000 * MS} path=/b a0=0x42 a1=0644 res=4
            pthread_mutex_unlock stream=1 t={4403 * MS - 9000} a0=0x7000
            edge 0:1 1:0 class=mutex evidence=thread object=1
            edge 1:2 0:2 class=mutex evidence=thread object=1""")
        self.replay_within(2)

    def test_a_lock_that_was_refused_is_not_taken(self):
        # rank 0 did not get the locks, so rank 1 does not wait for it; to look for one takes none
        self.script(TWO + f"""
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            fcntl stream=0 t={2 * MS} fd=3 path=/a a0=6 a2=1 off=0 size=1 err=11
            flock stream=0 t={3 * MS} fd=3 path=/a a0=6 err=11
            lockf stream=0 t={4 * MS} fd=3 path=/a a0=2 size=9 err=13
            fcntl stream=0 t={5 * MS} fd=3 path=/a a0=5 a2=2 off=0 size=1 res=0
            MPI_Recv stream=0 t={6 * MS} dur={9 * MS} a1=1
            open stream=1 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            fcntl stream=1 t={11 * MS} fd=3 path=/a a0=7 a2=1 off=0 size=1
            flock stream=1 t={12 * MS} fd=3 path=/a a0=2
            lockf stream=1 t={13 * MS} fd=3 path=/a a0=1 size=9 res=0
            MPI_Send stream=1 t={14 * MS} a1=0
            edge 1:3 0:5""")
        for mode in ["causal", "think", "timed", "afap"]:
            with self.subTest(mode=mode):
                result = self.replay("--mode=" + mode)
                self.assertEqual(result["mismatches"], [])
                self.assertLess(result["time_s"], 3)

    def share_out(self, places):
        """Rank 1 has the second of ten turns, rank 0 the others; each works for 40 ms at its place."""
        lines = ["file /q regular size=8", "file /d regular size=4096"]
        for i in range(2):
            lines += [f"open stream={i} t={1 * MS} path=/q a0=2 res=3", f"open stream={i} t={2 * MS} path=/d a0=2 res=4"]
        for k, place in enumerate(places):
            stream, t = int(k == 1), (10 + 45 * (k - (k > 0))) * MS + k
            lines += [f"fcntl stream={stream} t={t} dur=500 fd=3 path=/q off=0 a0=7 a2=1",
                      f"fcntl stream={stream} t={t + 1000} fd=3 path=/q off=0 a0=7 a2=2",
                      f"pwrite stream={stream} t={t + 40 * MS} fd=4 path=/d off={place} size=16"]
        self.script(TWO + "\n".join(lines) + "\nedge 0:3 1:2 class=mutex evidence=lock object=1")

    def test_work_that_whoever_is_free_takes_is_shared(self):
        self.share_out([16 * k for k in range(10)])
        result = self.replay_within(0.33)
        self.assertEqual((result["mismatch_count"], result["ops"]), (0, 34))
        # operations that are kept one by one are those of the threads that did them
        self.assertGreaterEqual(self.replay("--compare")["time_s"], 0.4)

    def test_work_of_ones_own_is_not_shared(self):
        self.share_out([0, 2048] + [16 * k for k in range(1, 9)])
        self.assertGreaterEqual(self.replay()["time_s"], 0.4)

    def test_a_semaphore_is_a_lock_in_any_order(self):
        # thread 1 had it first; here it writes for longer, so thread 0 comes first, whose last post
        # nobody waited for in the trace
        self.script(f"""
            process 10
            stream 0 10
            stream 0 11
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            sem_post stream=0 t={1 * MS + 50} a0=0x9000
            sem_wait stream=0 t={3 * MS} a0=0x9000
            sem_post stream=0 t={3 * MS + 50} a0=0x9000
            open stream=1 t={1 * MS} path=/b a0=0x42 a1=0644 res=4
            pwrite stream=1 t={1 * MS + 100} fd=4 path=/b off=0 size={64 << 20}
            sem_wait stream=1 t={2 * MS} a0=0x9000
            sem_post stream=1 t={2 * MS + 50} a0=0x9000
            edge 0:0 1:2 class=queue evidence=thread object=1
            edge 1:2 0:2 class=queue evidence=thread object=1""")
        self.assertEqual(self.replay()["waits"]["queue"], 2)

    def test_a_call_with_several_semaphore_operations_does_not_wait_for_itself(self):
        # {+1, -1} twice, while the semaphore holds one: as stress-ng --sem-sysv
        lines = ["process 10", "stream 0 10", "stream 0 11", "semctl stream=0 t=500 a0=0x9000 a1=1"]
        for i in range(100):
            for stream in range(2):
                t = (1 + i * 2 + stream) * MS
                lines += [f"open stream={stream} t={t} path=/{stream} a0=0x42 a1=0644 res=3",
                          f"close stream={stream} t={t + 500} fd=3 path=/{stream}"]
                lines += [f"{op} stream={stream} t={t + 1000} a0=0x9000 {caused}" for op, caused in
                          (("semop", ""), ("semop", "caused"), ("semop_post", "caused"), ("semop_post", "caused"))]
                if i > 0 or stream > 0:
                    giver = 1 - stream
                    n = (i - (stream == 0)) * 6 + 2 + (giver == 0)
                    own = i * 6 + 2 + (stream == 0)
                    lines += [f"edge {giver}:{n + 2} {stream}:{own} class=queue evidence=thread object=1",
                              f"edge {giver}:{n + 3} {stream}:{own + 1} class=queue evidence=thread object=1"]
        self.script("\n".join(lines))
        result = self.replay("--scale-compute=0")
        self.assertEqual((result["untied"], result["mismatch_count"]), (0, 0))
        self.assertGreater(result["waits"]["queue"], 100)

    def test_a_child_that_is_waited_for(self):
        # what follows a wait comes after the child's end, in whatever time that needs here
        self.script(f"""
            process 10
            process 11 parent=0 start={2 * MS}
            stream 0 10
            stream 1 11
            fork stream=0 t={1 * MS} res=11
            open stream=1 t={3 * MS} path=/c a0=0x42 a1=0644 res=3
            close stream=1 t={103 * MS} fd=3 path=/c
            waitpid stream=0 t={2 * MS} dur={102 * MS} res=11
            open stream=0 t={105 * MS} path=/p a0=0x42 a1=0644 res=3
            edges""")
        self.replay_that_takes(0.102, "--mode=causal")
        self.replay_that_takes(0.011, "--mode=causal", "--scale-compute=0.1")

    def test_a_child_that_its_call_waits_for(self):
        self.script(f"""
            process 10
            process 11 parent=0 start={2 * MS}
            stream 0 10
            stream 1 11
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            system stream=0 t={2 * MS} dur={102 * MS}
            open stream=1 t={3 * MS} path=/c a0=0x42 a1=0644 res=3
            close stream=1 t={103 * MS} fd=3 path=/c
            open stream=0 t={105 * MS} path=/p a0=0x42 a1=0644 res=3
            edge 0:0 1:0 evidence=process
            edge 1:1 0:1 evidence=process""")
        result = self.replay_that_takes(0.102)
        self.assertEqual(result["waits"]["hard"], 2)

    def test_threads_that_follow_each_other_with_one_token(self):
        self.script("process 10\nstream 0 10\n" + "".join(f"stream 0 {11 + i} token=77\n" for i in range(3)) + "".join(
            f"pthread_create stream=0 t={(1 + 10 * i) * MS} a0=77\n"
            f"open stream={1 + i} t={(2 + 10 * i) * MS} path=/{i} a0=0x42 a1=0644 res=3\n"
            f"close stream={1 + i} t={(3 + 10 * i) * MS} fd=3 path=/{i}\n"
            f"pthread_join stream=0 t={(2 + 10 * i) * MS} dur={2 * MS} a0=77\n" for i in range(3)) + f"""
            open stream=0 t={40 * MS} path=/last a0=0x42 a1=0644 res=3""")
        result = self.replay_that_takes(0.038)
        self.assertGreaterEqual(result["waits"]["hard"], 3)

    def test_polling_is_waiting(self):
        # 300 ms in poll, then a read of the pipe that the other one wrote: only the writer's computing counts
        self.script(TWO + f"""
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            write stream=0 t={301 * MS} fd=5 path=pipe:[7] size=1
            poll stream=1 t={1 * MS} dur={300 * MS} res=1
            read stream=1 t={301 * MS + 200} fd=4 path=pipe:[7] size=1
            open stream=1 t={302 * MS} path=/b a0=0x42 a1=0644 res=3
            edge 0:0 1:1 evidence=pipe""")
        self.replay_that_takes(0.3)
        self.replay_that_takes(0.03, "--scale-compute=0.1")

    def looks_for_a_file(self, before, name):
        """One thread makes a file at 200 ms, after `before`; the other one looks for it every 10 ms."""
        looks = "".join(f"access stream=1 t={(1 + 10 * i) * MS} path=/flag err=2\n"
                        f"nanosleep stream=1 t={(1 + 10 * i) * MS + 9000} dur={9 * MS}\n" for i in range(20))
        return self.script(TWO + f"""
            file / directory
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            {before}
            open stream=0 t={200 * MS} path=/flag a0=0x42 a1=0644 res=4
            {looks}
            access stream=1 t={201 * MS} path=/flag
            open stream=1 t={202 * MS} path=/b a0=0x42 a1=0644 res=3
            edge 0:2 1:40 evidence=poll
            poll-loop 1:0 40""", name)

    def test_looking_for_a_file_that_comes_later(self):
        trace = self.looks_for_a_file(f"close stream=0 t={2 * MS} fd=9 path=/x err=9", "trace")
        self.replay_that_takes(0.2, trace=trace)
        self.replay_that_takes(0.6, "--scale-compute=3", trace=trace)

    def test_looking_for_a_file_that_comes_sooner(self):
        # what was a slow disk is none here: looks that the program would not have made are left out
        trace = self.looks_for_a_file(f"pwrite stream=0 t={2 * MS} dur={190 * MS} fd=3 path=/a off=0 size=1", "trace")
        result = self.replay_within(0.15, trace=trace)
        self.assertEqual(result["mismatch_count"], 0)
        self.assertLess(result["ops"], 20)

    def test_a_file_that_is_a_lock_and_is_free_sooner(self):
        """What tried in vain while the other one had it, and would not now, is left out."""
        tries = "".join(f"open stream=1 t={(2 + 10 * i) * MS} path=/lock a0=0xc1 a1=0600 err=17\n"
                        f"nanosleep stream=1 t={(2 + 10 * i) * MS + 9000} dur={9 * MS}\n" for i in range(20))
        self.script(TWO + f"""
            file / directory
            open stream=0 t={1 * MS} path=/lock a0=0xc1 a1=0600 res=3
            pwrite stream=0 t={2 * MS} dur={190 * MS} fd=3 path=/lock off=0 size=1
            unlink stream=0 t={200 * MS} path=/lock
            {tries}
            open stream=1 t={202 * MS} path=/lock a0=0xc1 a1=0600 res=3
            edge 0:0 1:0 evidence=pipe
            edge 0:2 1:40 evidence=poll
            poll-loop 1:0 40""")
        result = self.replay_within(0.15)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertLess(result["ops"], 20)

    def test_text(self):
        self.script(TWO + """
            open stream=0 path=/a a0=0x42 a1=0644 res=3
            MPI_Barrier stream=0
            MPI_Barrier stream=1
            collective 0:1 1:0""")
        answer = subprocess.run([WHYIO, "replay", self.trace, "--root=" + self.target], capture_output=True,
                                text=True, check=True, timeout=TIMEOUT)
        self.assertIn("mode causal", answer.stdout)
        self.assertIn("edges     1 collective; waits 2 collective", answer.stdout)


class Knots(Causal):
    def test_what_files_need_is_kept_without_edges(self):
        """The removal is due before the lookup here: a call in between takes no time."""
        self.script(f"""
            process 10
            process 11
            stream 0 10
            stream 1 11
            open stream=0 t=1000 path=/a a0=0x42 a1=0644 res=3
            open stream=1 t={MS} path=/b a0=0x42 a1=0644 res=3
            pwrite stream=1 t={2 * MS} dur={100 * MS} fd=3 path=/b off=0 size=1
            access stream=0 t={101 * MS} path=/a
            unlink stream=1 t={103 * MS} path=/a
            access stream=0 t={110 * MS} path=/a err=2
            edges""")
        result = self.replay("--mode=causal")
        self.assertEqual((result["mode"], result["mismatch_count"]), ("causal", 0), result["mismatches"])
        self.assertGreater(self.replay("--mode=causal", "--no-order")["race_count"], 0)

    def test_a_cycle_is_refused_before_anything_is_touched(self):
        self.script(TWO + """
            MPI_Recv stream=0
            MPI_Send stream=0
            MPI_Recv stream=1
            MPI_Send stream=1
            edge 0:0 1:0
            edge 1:0 0:0""")
        message = self.refused()
        self.assertIn("cycle", message)
        self.assertIn("rank 0 (pid 10, thread 10) at event 0 (MPI_Recv) waits for rank 1", message)
        self.assertFalse(os.path.exists(self.target))

    def test_locks_that_cross_are_untied(self):
        # in the trace one came after the other; the replay is free to let both take their first lock at once
        self.script("process 10\nstream 0 10\nstream 0 11\n" + "".join(
            f"pthread_mutex_lock stream={i} t={(1 + 100 * i) * MS} a0={7 + i}\n"
            f"open stream={i} t={(50 + 100 * i) * MS} path=/{i} a0=0x42 a1=0644 res={3 + i}\n"
            f"pthread_mutex_lock stream={i} t={(51 + 100 * i) * MS} a0={8 - i}\n"
            f"pthread_mutex_unlock stream={i} t={(52 + 100 * i) * MS} a0={8 - i}\n"
            f"pthread_mutex_unlock stream={i} t={(53 + 100 * i) * MS} a0={7 + i}\n" for i in range(2)) + """
            edge 0:2 1:0 class=mutex evidence=thread object=1
            edge 0:3 1:2 class=mutex evidence=thread object=2""")
        # the second thread begins at once: its start was no wait of the program
        result = self.replay("--scale-compute=0")
        self.assertLess(result["time_s"], 3)
        self.assertLessEqual(result["untied"], 1)  # none where they did not meet

    def test_the_wait_that_began_first_is_given_up(self):
        # both have their first lock when they ask for the other's; the one who began to wait first waited for longer
        self.script("process 10\nstream 0 10\nstream 0 11\n" + "".join(
            f"pthread_mutex_lock stream={i} t={1 * MS} a0={7 + i}\n"
            f"MPI_Send stream={i} t={2 * MS} a1={1 - i}\n"
            f"MPI_Recv stream={i} t={3 * MS} dur={1 * MS} a1={1 - i}\n"
            f"pthread_mutex_lock stream={i} t={(20 + 30 * i) * MS} dur={(80 - 70 * i) * MS} a0={8 - i}\n"
            f"open stream={i} t={(100 + 20 * i) * MS} path=/a a0=0xc2 a1=0644 {'err=17' if i else 'res=3'}\n"
            f"pthread_mutex_unlock stream={i} t={(101 + 20 * i) * MS} a0={8 - i}\n"
            f"pthread_mutex_unlock stream={i} t={(102 + 20 * i) * MS} a0={7 + i}\n" for i in range(2)) + """
            edge 0:1 1:2
            edge 1:1 0:2
            edge 1:5 0:3 class=mutex evidence=thread object=1
            edge 0:5 1:3 class=mutex evidence=thread object=2""")
        result = self.replay("--scale-compute=0")
        self.assertEqual((result["untied"], result["mismatch_count"]), (1, 0))

    def test_file_locks_that_are_tried_for_keep_their_order(self):
        # as above, but nobody waits: who came first had both, and so the other one, whom the recorder held, got both
        self.script(TWO + f"hold stream=1 t={1 * MS} dur={99 * MS}\n" + "".join(
            f"open stream={i} t={(1 + 100 * i) * MS} path=/a a0=0x42 a1=0644 res=3\n"
            f"fcntl stream={i} t={(2 + 100 * i) * MS} fd=3 path=/a off={i} size=1 a0=6 a2=1\n"
            f"nanosleep stream={i} t={(3 + 100 * i) * MS} dur={60 * MS}\n"
            f"fcntl stream={i} t={(70 + 100 * i) * MS} fd=3 path=/a off={1 - i} size=1 a0=6 a2=1\n"
            f"fcntl stream={i} t={(71 + 100 * i) * MS} fd=3 path=/a off=0 size=2 a0=6 a2=2\n" for i in range(2)) + """
            edge 0:4 1:2 class=mutex evidence=lock object=1
            edge 0:4 1:4 class=mutex evidence=lock object=1""")
        self.replay_that_takes(0.13)

    def test_a_killed_worker_ends_the_replay(self):
        self.script(TWO + f"""
            open stream=0 t={1 * MS} path=/a a0=0x42 a1=0644 res=3
            MPI_Send stream=0 t={60000 * MS} a1=1
            close stream=0 t={60001 * MS} fd=3 path=/a
            MPI_Recv stream=1 t={1 * MS} dur={60000 * MS} a1=0
            open stream=1 t={60001 * MS} path=/b a0=0x42 a1=0644 res=3
            edge 0:0 1:0""")
        replay = subprocess.Popen([WHYIO, "replay", "-q", self.trace, "--root=" + self.target],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            victim = self.worker_of(replay.pid)
            begun = time.monotonic()
            os.kill(victim, signal.SIGKILL)
            _, message = replay.communicate(timeout=20)
            self.assertLess(time.monotonic() - begun, 10)
        finally:
            replay.kill()
            replay.wait()
        self.assertEqual(replay.returncode, 3)
        self.assertRegex(message, "the process that replays (10|20) .* was killed by signal 9")

    def worker_of(self, pid):
        """A process of the replay, once the first operation was performed."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            workers = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True,
                                     check=False).stdout.split()
            if len(workers) == 2 and os.path.exists(self.path("/a")):
                return int(workers[0])
            time.sleep(0.01)
        self.fail("the replay has not begun")


if __name__ == "__main__":
    assert SCRIPT
    main()
