#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""own_source_test.py PROGRAM: whose line an operation is, when a library has called the system."""
import collections
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

LINE = r" \(program\.cpp:\d+\)"
# scene, operation: function of the program -> how many operations are its own
SCENES = [("own", "pwrite", {"own_write": 1}), ("deep", "pwrite", {"often": 1}),
          ("callback", "pwrite", {"own_write": None}), ("thread", "pwrite", {"in_thread": 1, "often": 1})]
SAMPLES_MAX = 60  # of 10,010 calls by one call site, in two depths


def record(program, scene, *options):
    trace = f"{scene}.whyio"
    shutil.rmtree(trace, ignore_errors=True)
    subprocess.run([os.environ["WHYIO"], "record", "-q", *options, "-o", trace, "--", program, scene], check=True)
    return trace


def dump(trace, operation, **env):
    run = subprocess.run([os.environ["WHYIO"], "dump", "--op", operation, trace], check=True, stdout=subprocess.PIPE,
                         env={**os.environ, **env})
    return [event for event in map(json.loads, run.stdout.splitlines()) if "op" in event]


def functions(events, pattern):
    """Count of each function whose text is as the pattern says; others by their whole text."""
    found = collections.Counter()
    for event in events:
        text = event["own_source"] or "none"
        match = re.fullmatch(r"(\w+)(\(.*\))?" + pattern, text)
        found[match.group(1) if match else text] += 1
    return found


def scenes(program):
    for scene, operation, wanted in SCENES:
        for options in ((), ("--stacks",)):
            found = functions(dump(record(program, scene, *options), operation), LINE)
            if set(found) != set(wanted) or any(count not in (None, found[name]) for name, count in wanted.items()):
                yield f"{scene} {options}: {dict(found)}"
    streamed = [event for event in dump(record(program, "stream"), "write") if event["path"].endswith("/streamed")]
    if not streamed or set(functions(streamed, LINE)) != {"store"}:
        yield f"stream: {[(event['source'], event['own_source']) for event in streamed]}"


def samples(program):
    """R-SOURCE-1: few stacks, and each operation has a line; the rare caller is not hidden by the frequent one."""
    events = dump(record(program, "library"), "pwrite")
    stacks = [event for event in events if event["stack"]]
    if len(events) != 10010 or not 5 <= len(stacks) <= SAMPLES_MAX:
        yield f"library: {len(stacks)} stacks of {len(events)} operations"
    if any("flush_chunk" not in (event["source"] or "") for event in events):
        yield "library: source is not the innermost caller"
    if set(functions(stacks, LINE)) != {"often", "seldom"}:
        yield f"library: stacks of {functions(stacks, LINE)}"
    if set(functions(events, LINE)) - {"often", "seldom"}:
        yield f"library: {functions(events, LINE)}"
    exact = dump(record(program, "library", "--stacks"), "pwrite")
    if functions(exact, LINE) != {"often": 10000, "seldom": 10}:
        yield f"library --stacks: {functions(exact, LINE)}"
    none = dump(record(program, "library", "--stacks=never"), "pwrite")
    if any(event["stack"] or event["own_source"] for event in none):
        yield "library --stacks=never has stacks"


def stripped(program):
    """Without debug information the name comes from the symbol table, without that there is none."""
    by_symbol = r" \(program\+0x[0-9a-f]+\)"
    for option, pattern in (("--strip-debug", by_symbol), ("--strip-all", None)):
        subprocess.run(["strip", option, "-o", "program", program], check=True)
        found = [event["own_source"] for event in dump(record("./program", "deep"), "pwrite")]
        wanted = re.compile(r"\w*often\w*" + pattern if pattern else r"program\+0x[0-9a-f]+")
        if not found or not all(re.match(wanted, text or "") for text in found):
            yield f"{option}: {found}"


class Debuginfod(http.server.BaseHTTPRequestHandler):
    """Serves one debug file to whoever asks for its build-id."""
    asked: list = []

    def do_GET(self):
        self.asked.append(self.path)
        found = self.path.endswith("/debuginfo") and self.path.split("/")[2] == build_id("program")
        self.send_response(200 if found else 404)
        self.end_headers()
        if found:
            with open("served", "rb") as file:
                self.wfile.write(file.read())

    def log_message(self, *_):
        pass


@functools.lru_cache
def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    match = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return match.group(1) if match else ""


def debuginfod(program):
    """Asked where DEBUGINFOD_URLS is set, else not."""
    subprocess.run(["objcopy", "--only-keep-debug", program, "served"], check=True)
    subprocess.run(["strip", "--strip-all", "-o", "program", program], check=True)
    if not build_id("program"):
        return
    trace = record("./program", "deep")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Debuginfod)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    cache = {"DEBUGINFOD_CACHE_PATH": os.path.abspath("cache"), "no_proxy": "127.0.0.1"}
    before = functions(dump(trace, "pwrite", **cache, DEBUGINFOD_URLS=""), LINE)
    if Debuginfod.asked or "often" in before:
        yield f"not configured: {Debuginfod.asked} {dict(before)}"
    found = functions(dump(trace, "pwrite", **cache, DEBUGINFOD_URLS=f"http://127.0.0.1:{server.server_port}"), LINE)
    server.shutdown()
    if Debuginfod.asked and set(found) != {"often"}:
        yield f"by debuginfod: {dict(found)}"
    if not Debuginfod.asked:
        print("debuginfod: libdw has no client here, not tested")


def main(program):
    program = os.path.abspath(program)
    os.environ.pop("DEBUGINFOD_URLS", None)
    faults = []
    with tempfile.TemporaryDirectory(prefix="whyio-own.") as scratch:
        os.chdir(scratch)
        for check in (scenes, samples, stripped, debuginfod):
            faults += check(program)
        os.chdir("/")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
