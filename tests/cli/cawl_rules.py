# SPDX-License-Identifier: Apache-2.0
"""Models naive and cawl as their rules say them, block by block and without any index: slow, and easy to check."""

import math


class Block:
    def __init__(self, file, begin, end, endtime, active, order):
        self.file, self.begin, self.end = file, begin, end
        self.endtime, self.active, self.order = endtime, active, order

    def size(self):
        return self.end - self.begin

    def age(self):
        return (self.endtime, self.order)


class Stream:
    def __init__(self):
        self.position, self.pending = 0, 0


class Cawl:
    def __init__(self, host):
        self.host = host
        self.setpoint = (host["limit_bg"] + host["limit_hard"]) / 2
        self.time = self.io_time = self.bw_avg = self.dirty = self.waited = 0.0
        self.cache, self.order = [], 0
        self.streams, self.ends = {}, {}

    # The cache

    def put(self, file, begin, end, endtime, active):
        if end > begin:
            self.cache.append(Block(file, begin, end, endtime, active, self.order))
            self.order += 1

    def drop(self, block):
        self.cache.remove(block)
        self.dirty -= block.size()
        if not self.cache:
            self.dirty = 0.0

    def overlapped(self, file, begin, end):
        """An empty range overlaps nothing, also inside of a block."""
        return sorted((b for b in self.cache if b.file == file and max(begin, b.begin) < min(end, b.end)),
                      key=lambda b: b.begin)

    def insert(self, file, begin, end, endtime):
        at = begin
        self.dirty += end - begin
        for block in self.overlapped(file, begin, end):
            first, last = max(block.begin, begin), min(block.end, end)
            self.cache.remove(block)
            self.put(file, block.begin, first, block.endtime, block.active)
            self.put(file, last, block.end, block.endtime, block.active)
            self.put(file, at, first, endtime, False)
            self.put(file, first, last, endtime, True)
            self.dirty -= last - first
            at = last
        self.put(file, at, end, endtime, False)

    def forget(self, file, begin, end):
        for block in self.overlapped(file, begin, end):
            first, last = max(block.begin, begin), min(block.end, end)
            self.cache.remove(block)
            self.put(file, block.begin, first, block.endtime, block.active)
            self.put(file, last, block.end, block.endtime, block.active)
            self.dirty -= last - first
        if not self.cache:
            self.dirty = 0.0

    def expired(self):
        return any(b.endtime < self.time - self.host["dirty_expire"] for b in self.cache)

    def balance(self):
        while sum(b.active for b in self.cache) > len(self.cache) // 2:
            min((b for b in self.cache if b.active), key=Block.age).active = False

    def clean(self, interval):
        bw = self.host["bw_dev"]
        while self.cache and (self.dirty >= self.host["limit_bg"] or self.expired()):
            self.balance()
            oldest = min((b for b in self.cache if not b.active), key=Block.age)
            if interval >= oldest.size() / bw:
                interval -= oldest.size() / bw
                self.drop(oldest)
            else:
                oldest.begin += interval * bw
                self.dirty -= interval * bw
                break

    # Operations: each gives its cost and state

    def rate(self):
        h = self.host
        if self.dirty >= self.setpoint:
            if self.io_time == 0:
                return h["bw_reduced"], "throttle"
            pos_ratio = 1 + ((self.setpoint - self.dirty) / (h["limit_hard"] - self.setpoint)) ** 3
            rate = min(self.bw_avg * pos_ratio, h["bw_reduced"])
            if pos_ratio <= 0 or rate <= 0:
                rate = min(h["bw_dev"], h["bw_reduced"])
            return rate, "throttle"
        if self.dirty >= h["limit_bg"] or self.expired():
            return h["bw_reduced"], "async"
        return h["bw_ramdisk"], "free"

    def syscall(self, file, offset, size, delay):
        self.time += delay
        self.clean(delay)
        rate, state = self.rate()
        cost = size / rate + self.host["sc_w"]
        if size:
            self.insert(file, offset, offset + size, self.time + cost)
        if self.io_time + cost > 0:
            self.bw_avg = (self.bw_avg * self.io_time + size) / (self.io_time + cost)
        self.time += cost
        self.io_time += cost
        self.clean(cost)
        return cost, state

    def write(self, op):
        return self.syscall(op["file"], op["offset"], op["size"], op["delay_s"])

    def begin(self, op):
        self.time += op["delay_s"]
        self.clean(op["delay_s"])

    def seek(self, op):
        random = op.get("random")
        if random is None:
            random = op["file"] in self.ends and self.ends[op["file"]] != op["offset"]
        return self.host["c_sk"] if random else 0.0

    def direct(self, op):
        cost = self.host["sc_sw"] + self.seek(op) + op["size"] / self.host["bw_dev"]
        return self.beside(op, cost)

    def sync(self, op):
        h = self.host
        rem = op["size"] % h["bs"]
        cost = h["sc_sw"] + self.seek(op) + op["size"] / h["bw_ramdisk"] + (op["size"] - rem) / h["bw_dev"]
        if rem:
            cost += h["bs"] / h["bw_rdev"] + h["bs"] / h["bw_dev"]
        return self.beside(op, cost)

    def beside(self, op, cost):
        self.begin(op)
        self.forget(op["file"], op["offset"], op["offset"] + op["size"])
        self.time += cost
        return cost, "-"

    def fsync(self, op):
        self.begin(op)
        mine = self.overlapped(op["file"], 0, math.inf)
        cost = self.host["sc_sw"] + sum(b.size() for b in mine) / self.host["bw_dev"]
        self.forget(op["file"], 0, math.inf)
        self.time += cost
        return cost, "-"

    def read(self, op):
        self.begin(op)
        cost = self.host["sc_w"] + op["size"] / self.host["bw_rdev"]
        self.time += cost
        return cost, "-"

    # Streams

    def spill(self, file, stream):
        cost, state = self.syscall(file, stream.position - stream.pending, stream.pending, self.waited)
        self.waited, stream.pending = 0.0, 0
        return cost, state

    def fwrite(self, op):
        h, size, state = self.host, op["size"], "-"
        stream = self.streams.setdefault(op["file"], Stream())
        self.waited += op["delay_s"] + h.get("c_lib", 0)
        cost = h.get("c_lib", 0)
        if op["offset"] != stream.position and stream.pending:
            more, state = self.spill(op["file"], stream)
            cost += more
        if size <= h["bf"] - stream.pending:
            cost += size / h["bw_mem"]
            self.waited += size / h["bw_mem"]
            stream.pending += size
        else:
            fill = h["bf"] - stream.pending
            at = op["offset"] - stream.pending
            cost += fill / h["bw_mem"]
            self.waited += fill / h["bw_mem"]
            more, state = self.syscall(op["file"], at, h["bf"], self.waited)
            cost += more
            rest = size - fill
            if rest >= h["bf"]:
                many = rest - rest % h["bf"]
                more, state = self.syscall(op["file"], at + h["bf"], many, 0.0)
                cost += more
                rest -= many
            cost += rest / h["bw_mem"]
            self.waited = rest / h["bw_mem"]
            stream.pending = rest
        stream.position = op["offset"] + size
        return cost, state

    def fflush(self, op):
        stream = self.streams.setdefault(op["file"], Stream())
        self.waited += op["delay_s"]
        if not stream.pending:
            return 0.0, "-"
        return self.spill(op["file"], stream)

    def step(self, op):
        cost, state = getattr(self, op["method"])(op)
        if op["method"] not in ("fsync", "fflush"):
            self.ends[op["file"]] = op["offset"] + op["size"]
        return {"cost_s": cost, "state": state, "dirty_bytes": self.dirty, "time_s": self.time}


class Naive:
    def __init__(self, host):
        self.host, self.time = host, 0.0

    def step(self, op):
        if op["method"] in ("fflush", "fsync"):
            cost = 0.0
        else:
            cost = op["size"] / self.host["bw_rdev" if op["method"] == "read" else "bw_dev"]
        self.time += op["delay_s"] + cost
        return {"cost_s": cost, "state": "-", "dirty_bytes": 0, "time_s": self.time}
