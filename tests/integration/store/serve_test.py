#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio serve with real processes: serve_test.py CASE"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import mpi_environment  # noqa: E402, F401

from processes import LOOP, WAIT, WHYIO, Server, Writer, check, key_file, loop, refused, whole  # noqa: E402

CASE = sys.argv[1]
def case_kill(directory, log):
    """kill -9 under load, again and again: what was acknowledged is there, no half of a transaction is."""
    rng = random.Random(7)
    root = os.path.join(directory, "root")
    arguments = (f"--root={root}", "--targets=2", f"--log={log}", "--size=64M")
    server = Server(*arguments)
    writer = Writer(server.address, os.path.join(directory, "numbers"))
    for _ in range(8):
        writer.wait_behind(writer.last() + 20)
        time.sleep(rng.random() * 0.2)
        server.kill()
        server = Server(*arguments)
        assert not server.ready["new"]
    writer.wait_behind(writer.last() + 20)
    server.kill()
    last = writer.stop()
    assert last > 100
    server = Server(*arguments)
    check(server, last)
    server.stop()
    whole(root)


def case_stop(directory):
    """SIGTERM and SIGINT end it with all that was acknowledged, and another server goes on."""
    root = os.path.join(directory, "root")
    for by in (signal.SIGTERM, signal.SIGINT):
        server = Server(f"--root={root}", "--targets=2")
        writer = Writer(server.address, os.path.join(directory, "numbers"))
        writer.wait_behind(50)
        server.stop(by)
        last = writer.stop()
        assert not os.path.exists(os.path.join(root, "sock"))
        server = Server(f"--root={root}")
        check(server, last)
        server.stop()
        whole(root)


def case_full(directory):
    """--size: ENOSPC, long before the disk is full, and nothing is lost by it."""
    root = os.path.join(directory, "root")
    server = Server(f"--root={root}", "--targets=2", "--size=32M")
    writer = Writer(server.address, os.path.join(directory, "numbers"))
    writer.wait_behind(50)
    taken, why = loop("fill", server.address).stdout.split(maxsplit=1)
    assert why.strip() == "ENOSPC", why
    assert 8 << 20 <= int(taken) <= 16 << 20, taken
    writer.wait_behind(writer.last() + 50)  # what has its blocks is written over
    last = writer.stop()
    check(server, last)
    server.kill()
    server = Server(f"--root={root}", "--size=32M")
    check(server, last)
    server.stop()
    whole(root)


def case_key(directory):
    """Clients have the key; the file that holds it is for one user."""
    root = os.path.join(directory, "root")
    key, other = (key_file(os.path.join(directory, name)) for name in ("key", "other"))
    server = Server("127.0.0.1:0", f"--root={root}", f"--key={key}", "--targets=2")
    assert server.address.startswith("127.0.0.1:")
    done = loop("check", server.address, "0", environment={"WHYIO_STORE_KEY": key})
    assert done.returncode == 0, done.stdout
    for environment in ({"WHYIO_STORE_KEY": other}, {}):
        done = subprocess.run([LOOP, "check", server.address, "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=2 * WAIT, env={**os.environ, **environment})
        assert done.returncode == 3, (environment, done)
    server.stop()
    os.chmod(key, 0o644)
    refused(f"--root={root}", f"--key={key}", status=2, text="mode 0600")
    with open(other, "w") as file:
        file.write("no key")
    refused(f"--root={root}", f"--key={other}", status=3, text="64 hexadecimal digits")


def case_wrong(directory):
    """Each wrong use is told."""
    root = os.path.join(directory, "root")
    server = Server(f"--root={root}")
    refused(f"--root={root}", status=3, text="another process has this store open")
    server.stop()
    refused(f"--root={root}", "--targets=2", status=2, text="--targets=1")
    refused(f"--root={root}", "--log=sqlite", status=2, text="--log=own")
    refused(f"--root={root}", "0.0.0.0:0", status=2, text="without a key or MUNGE")
    refused(f"--root={root}", "nowhere", status=2, text="nowhere")
    refused(f"--root={root}", "127.0.0.1:65535", status=2, text="the last one is 65535")
    refused(f"--root={root}/{'long' * 30}", status=2, text="107")
    refused("--targets=0", status=2, text="from 1 to 64")
    refused("--size=much", status=2, text="20G")
    refused("--log=paper", status=2, text="own or sqlite")
    refused(f"--root={directory}/new", "--size=1000T", status=2, text="--size")
    strange = os.path.join(directory, "strange")
    os.mkdir(strange)
    with open(os.path.join(strange, "letter"), "w") as file:
        file.write("not a store")
    refused(f"--root={strange}", status=3, text="empty directory")
    assert os.listdir(strange) == ["letter"]
    with open(os.path.join(root, "STORE"), "r+") as file:
        file.write("whyio-node 9")
    refused(f"--root={root}", status=3, text="version 1 or 2, found 9")


def case_default(directory):
    """Without any configuration: a new directory that is named after the job."""
    environment = {"TMPDIR": directory, "WHYIO_JOB": "a/b"}
    names = []
    for _ in range(2):
        server = Server(environment=environment)
        names.append(os.path.basename(server.ready["root"]))
        assert os.stat(server.ready["root"]).st_mode & 0o777 == 0o700
        assert server.address == f"unix:{server.ready['root']}/sock"
        server.stop()
    assert names == ["whyio-a_b", "whyio-a_b-2"], names


def damaged(directory, name, change):
    """whyio check of a store of which one file was changed: the first fault."""
    root = os.path.join(directory, "root")
    path = os.path.join(root, name)
    with open(path, "rb") as file:
        before = file.read()
    with open(path, "wb") as file:
        file.write(change(before))
    done = subprocess.run([WHYIO, "check", "--format=json", root], stdout=subprocess.PIPE, text=True, timeout=WAIT)
    with open(path, "wb") as file:
        file.write(before)
    assert done.returncode == 1, (name, done)
    return json.loads(done.stdout.split("\n")[0])


def case_check(directory):
    """whyio check reads all of a store, and names the file of each fault."""
    root = os.path.join(directory, "root")
    server = Server(f"--root={root}", "--targets=2")
    done = subprocess.run([WHYIO, "check", root], stderr=subprocess.PIPE, text=True, timeout=WAIT)
    assert done.returncode == 3 and "another process" in done.stderr, done
    writer = Writer(server.address, os.path.join(directory, "numbers"))
    writer.wait_behind(50)
    server.kill()
    writer.stop()
    whole(root)
    assert damaged(directory, "STORE", lambda data: data.replace(b"targets 2", b"targets 3"))["file"] == "STORE"
    assert damaged(directory, "servers.key", lambda data: data[:31])["file"] == "servers.key"
    assert damaged(directory, "target1/VERSION", lambda data: data[:-3])["file"] == "target1/VERSION"
    assert damaged(directory, "target0/log/super", lambda data: bytes(len(data)))["file"] == "target0/log/super"
    fault = damaged(directory, "target1/log/000000.redo", lambda data: data[:8192] + bytes(64) + data[8256:])
    assert fault["file"] == "target1/log/000000.redo" and fault["offset"] > 0, fault
    assert damaged(directory, "catalogue.sqlite", lambda data: bytes(len(data)))["file"] == "catalogue.sqlite"
    whole(root)


def mpirun(directory, *arguments, ranks=2, **environment):
    """whyio serve below Open MPI's mpirun, as a job of this name."""
    return subprocess.Popen(["mpirun.openmpi", "--oversubscribe", "-n", str(ranks), WHYIO, "serve", "--job", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=directory,
                            env={**os.environ, "TMPDIR": directory, "WHYIO_JOB": "17", **environment})


def case_job(directory):
    """A job's own store: one target for each process, found by a file, gone at the end."""
    server = mpirun(directory, ranks=2)
    lines = [server.stdout.readline() for _ in range(2)]
    assert all(lines), server.stderr.read()
    address = lines[1].split()[1]
    file = os.path.join(directory, "whyio-17.store")
    assert address == f"@{file}", lines
    assert os.stat(file).st_mode & 0o777 == 0o600
    writer = Writer(address, os.path.join(directory, "numbers"))
    writer.wait_behind(100)
    last = writer.stop()
    done = loop("check", address, str(last))
    assert done.returncode == 0, done.stdout
    second = mpirun(directory, ranks=1)  # of the same name
    assert second.wait(WAIT) != 0 and "another store of this job" in second.stderr.read()
    assert os.path.exists(file)
    server.terminate()
    server.wait(WAIT)
    gone(directory)
    refused("--job", status=2, text="mpirun or srun")
    refused("--job", "--targets=2", status=2, text="--job takes no")


def gone(directory):
    """Nothing of the job is left there."""
    end = time.monotonic() + WAIT
    while left := [name for name in os.listdir(directory) if name.startswith("whyio-")]:
        assert time.monotonic() < end, left
        time.sleep(0.05)


def processes_below(parent):
    with open(f"/proc/{parent}/task/{parent}/children") as children:
        return [int(pid) for pid in children.read().split()]


def case_job_killed(directory):
    """Servers that are killed, as launchers do after a second, leave neither files nor data."""
    server = mpirun(directory, ranks=2)
    assert all(server.stdout.readline() for _ in range(2)), server.stderr.read()
    ranks = processes_below(server.pid)
    assert len(ranks) == 2 and os.path.exists(os.path.join(directory, "whyio-17.store")), ranks
    for pid in ranks:
        os.kill(pid, signal.SIGKILL)
    assert server.wait(WAIT) != 0
    gone(directory)


def case_launcher_killed(directory):
    """A launcher that is killed says nothing to its servers: they end, too."""
    server = mpirun(directory, ranks=2)
    assert all(server.stdout.readline() for _ in range(2)), server.stderr.read()
    ranks = processes_below(server.pid)
    server.kill()
    server.wait(WAIT)
    end = time.monotonic() + WAIT
    while any(os.path.exists(f"/proc/{pid}") for pid in ranks):
        assert time.monotonic() < end, ranks
        time.sleep(0.05)
    gone(directory)


def explained(trace):
    done = subprocess.run([WHYIO, "explain", "--format=json", trace], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=WAIT)
    return json.loads(done.stdout)


def case_trace(directory):
    """What transactions did is in the trace: opposite orders of locks abort, with their line and blocker."""
    trace = os.path.join(directory, "trace")
    server = Server(f"--root={os.path.join(directory, 'root')}", "--targets=2", f"--trace={trace}")
    subprocess.run([WHYIO, "load", server.address, "--clients=4", "--pattern=opposite", "--transaction=2", "--objects=4",
                    "--duration=1s"], stdout=subprocess.DEVNULL, check=True, timeout=WAIT)
    server.stop()
    subprocess.run([WHYIO, "check", trace], stdout=subprocess.DEVNULL, check=True, timeout=WAIT)
    answer = explained(trace)
    assert answer["transactions"]["committed"] > 0 and answer["transactions"]["wounded"] > 0, answer["transactions"]
    assert answer["transactions"]["open"] == 0, answer["transactions"]
    pair = answer["aborts"][0]
    assert pair["victim"]["place"] == pair["blocker"]["place"] == "whyio load", pair
    assert pair["victim"]["application"].endswith(WHYIO), pair
    assert all(name.startswith("/") for name in pair["victim"]["files"]), pair
    assert {row["server"] for row in answer["aborts"]} == {0, 1}, answer["aborts"]
    changes = {row["change"]: row for row in answer["what_if"]}
    assert changes["one order of locks"]["aborts"] < changes["as it was"]["aborts"], changes
    assert answer["classic"]["aborts"] == answer["transactions"]["aborted"], answer["classic"]


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as text:
        return [int(word) for word in text.read().split()]


def case_same_pid(directory):
    """In containers processes have the same number again and again: segments of each start have names of their own."""
    inside = ("unshare", "--fork", "--pid")
    if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        raise SystemExit(77)
    trace = os.path.join(directory, "trace")
    for times in (1, 2, 3):
        server = Server(f"--root={os.path.join(directory, 'root')}", "--targets=2", f"--trace={trace}", inside=inside)
        subprocess.run([WHYIO, "load", server.address, "--clients=2", "--objects=4", "--duration=200ms"],
                       stdout=subprocess.DEVNULL, check=True, timeout=WAIT)
        os.kill(children_of(server.process.pid)[0], signal.SIGTERM)
        assert server.process.wait(WAIT) == 0, server.process.stderr.read()
        segments = [name for name in os.listdir(trace) if ".target" in name]
        assert len(segments) == 2 * times and all(name.endswith(".seg") for name in segments), segments
    subprocess.run([WHYIO, "check", trace], stdout=subprocess.DEVNULL, check=True, timeout=WAIT)


def case_flight(directory):
    """Without --trace the last rows are in memory: SIGUSR2 writes them, and so does a failure."""
    root = os.path.join(directory, "root")
    flight = os.path.join(root, "flight")
    server = Server(f"--root={root}", "--targets=2")
    for times in (1, 2):
        subprocess.run([WHYIO, "load", server.address, "--clients=4", "--pattern=opposite", "--transaction=2",
                        "--objects=4", "--duration=500ms"], stdout=subprocess.DEVNULL, check=True, timeout=WAIT)
        assert times == 2 or not os.path.exists(flight)
        server.process.send_signal(signal.SIGUSR2)
        assert flight in server.process.stderr.readline()
        assert len(os.listdir(flight)) == 2 * times, os.listdir(flight)
        subprocess.run([WHYIO, "check", flight], stdout=subprocess.DEVNULL, check=True, timeout=WAIT)
    answer = explained(flight)
    assert answer["transactions"]["wounded"] > 0, answer["transactions"]
    assert answer["aborts"][0]["victim"]["place"] == "whyio load", answer["aborts"][0]
    assert {row["server"] for row in answer["aborts"]} == {0, 1}, answer["aborts"]
    server.stop()
    whole(root)


def metrics(port, path="/metrics"):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=WAIT) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"), answer.headers
        text = answer.read().decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line[0] != "#"}


def load(address, *options):
    done = subprocess.run([WHYIO, "load", address, "--format=json", "--clients=4", "--duration=500ms", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WAIT,
                          env={**os.environ, "WHYIO_JOB": "limited"})
    if "the lease has ended" in done.stderr:  # the machine stood still for two seconds
        return load(address, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def policy_of(port):
    named = [key for key in metrics(port) if key.startswith("whyio_store_policy_info")]
    assert len(named) == 3, named  # two targets and the catalogue
    return {key.split('policy="')[1].split('"')[0] for key in named}


def wait_for_policy(port, name):
    until = time.monotonic() + WAIT
    while policy_of(port) != {name}:
        assert time.monotonic() < until, policy_of(port)
        time.sleep(0.02)


def case_admission(directory):
    """Policies and rules change while clients are there; what is wrong changes nothing."""
    file = os.path.join(directory, "policy")

    def write(text):
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
    write("policy drr\nweight job=limited 2\n")
    server = Server(f"--root={directory}/s", "--targets=2", f"--policy-file={file}", "--policy=hint", "--metrics=0")
    port = server.ready.get("metrics_port")
    if port is None:
        raise SystemExit(77)
    assert policy_of(port) == {"drr"}
    load(server.address)
    found = metrics(port)
    assert found['whyio_store_tenant_weight{target="0",tenant="job:limited"}'] == 2, found
    done = sum(value for key, value in found.items() if key.startswith("whyio_store_requests_done_total"))
    assert done >= 100, done
    assert found['whyio_store_requests_accepted_total{target="catalogue"}'] > 0, found
    assert found['whyio_store_tenant_weight{target="catalogue",tenant="job:limited"}'] == 2, found
    write("policy tbf\nrule job=limited op=write ops=100 burst=0.05\n")
    server.process.send_signal(signal.SIGHUP)
    wait_for_policy(port, "tbf")
    limited = load(server.address)
    assert limited["ops"] < 200, limited["ops"]  # 50 in half a second, and what passes at once
    write("policy best\n")
    server.process.send_signal(signal.SIGHUP)
    line = server.process.stderr.readline()
    while "line 1: expected policy" not in line:
        assert line, "the wrong file was not named"
        line = server.process.stderr.readline()
    assert policy_of(port) == {"tbf"}
    write("policy credit\n")
    server.process.send_signal(signal.SIGHUP)
    wait_for_policy(port, "credit")
    assert load(server.address)["ops"] > limited["ops"]
    for path in ("/", "/metrics/x"):
        try:
            metrics(port, path)
            raise AssertionError(path)
        except urllib.error.HTTPError as error:
            assert error.code == 404, error
    server.stop()
    refused(f"--root={directory}/t", "--policy=best", status=2, text="expected credit, drr")
    refused(f"--root={directory}/t", "--tenants=gid", status=2, text="expected job, uid")
    refused(f"--root={directory}/t", "--request-memory=1K", status=2, text="8M to 1T")
    refused(f"--root={directory}/t", "--metrics=host", status=2, text="expected PORT")
    refused(f"--root={directory}/t", f"--policy-file={directory}/none", status=3, text="cannot read the policy file")
    write("rule\n")
    refused(f"--root={directory}/t", f"--policy-file={file}", status=3, text="line 1: expected")


def main():
    with tempfile.TemporaryDirectory(prefix="wio") as directory:
        cases = {"kill": lambda: case_kill(directory, "own"), "kill-sqlite": lambda: case_kill(directory, "sqlite"),
                 "stop": lambda: case_stop(directory), "full": lambda: case_full(directory),
                 "key": lambda: case_key(directory), "wrong": lambda: case_wrong(directory),
                 "default": lambda: case_default(directory), "check": lambda: case_check(directory),
                 "trace": lambda: case_trace(directory), "same_pid": lambda: case_same_pid(directory),
                 "flight": lambda: case_flight(directory), "job": lambda: case_job(directory),
                 "job_killed": lambda: case_job_killed(directory),
                 "launcher_killed": lambda: case_launcher_killed(directory),
                 "admission": lambda: case_admission(directory)}
        cases[CASE]()


if __name__ == "__main__":
    main()
