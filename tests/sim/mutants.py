#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests find faults of the store's protocol? Each mutant is one small fault put into a copy of the sources; the
programs of tests/sim and the random schedules of tests/unit/store/client then have to fail ("killed"). Where these pass
all seeds, the unit tests of servers, clients, locks, log and storage are tried. What passes those as well survives.

usage: mutants.py ROOT BUILD [--seeds=N] [--only=TEXT].. [--least=PERCENT]

BUILD is made for it, with the sources copied to BUILD/source. Ends with 1 if fewer than PERCENT (90) were killed.
"""
import argparse
import os
import shutil
import subprocess
import sys

SERVER, CLIENT, LOCK, STORAGE, LOG = (f"src/{room}" for room in
                                      ("store/server", "store/client", "lock", "store/storage", "store/log"))

# name, file, what is there (once), what the fault makes of it
MUTANTS = (
    ("a TRY leaves no tombstone", f"{SERVER}/decide.c",
     "    if (server_outcome_set(server, txn, WIO_STORE_OUTCOME_ABORTED) != WIO_OK) {\n        server_answer(server, call, "
     "WIO_STORE_BUSY);", "    if (false) {\n        server_answer(server, call, WIO_STORE_BUSY);"),
    ("an abort that overtakes its vote leaves no tombstone", f"{SERVER}/decide.c",
     "    if (txn->state == SERVER_VOTING) {\n        /* lazily", "    if (false) {\n        /* lazily"),
    ("a commit is acknowledged before the flush", f"{SERVER}/decide.c",
     "        server_call_wait_log(server, call, SERVER_WAIT_COMMIT, txn->lsn);",
     "        server_committed(server, call);"),
    ("a vote is given before the flush", f"{SERVER}/decide.c",
     "    server_call_wait_log(server, call, SERVER_WAIT_VOTE, txn->lsn);", "    server_voted(server, call);"),
    ("news is answered before the flush", f"{SERVER}/decide.c",
     "    if (server->logged_lsn > server->durable_lsn) {", "    if (server->logged_lsn < server->durable_lsn) {"),
    ("an outcome counts for the attempts behind it", f"{SERVER}/txn.c",
     "    if (outcome == NULL || outcome->txn.attempt < txn->attempt) {", "    if (outcome == NULL) {"),
    ("an outcome does not count for its own attempt", f"{SERVER}/txn.c",
     "    if (outcome == NULL || outcome->txn.attempt < txn->attempt) {",
     "    if (outcome == NULL || outcome->txn.attempt <= txn->attempt) {"),
    ("an outcome counts for the attempts before it", f"{SERVER}/txn.c",
     "    return outcome->txn.attempt == txn->attempt ? outcome->outcome : WIO_STORE_OUTCOME_ABORTED;",
     "    return outcome->outcome;"),
    ("a commit counts for the attempts before it", f"{SERVER}/session.c",
     "        if (past->attempt == txn->attempt) {", "        if (true) {"),
    ("the outcome of what was prepared is the other one", f"{SERVER}/decide.c",
     "        resolve_and_answer(server, call, txn, true);", "        resolve_and_answer(server, call, txn, false);"),
    ("a commit drops its updates", f"{SERVER}/decide.c",
     "        WIO_TRY(server_updates_apply(server, txn->updates.list, txn->updates.count, true));\n", ""),
    ("an aborted transaction is not dropped", f"{SERVER}/decide.c",
     "    server->stat.aborts++;\n    server_txn_end_as(server, txn, false);\n}\n\nvoid server_tombstone",
     "    server->stat.aborts++;\n}\n\nvoid server_tombstone"),
    ("an ended attempt may begin again", f"{SERVER}/operate.c", "    return server_outcome_of(server, txn) != "
     "WIO_STORE_OUTCOME_UNKNOWN ||\n", "    return false &&\n"),
    ("an operation without its begin begins", f"{SERVER}/operate.c",
     "    if (!begins || is_buried(server, session, name)) {", "    if (is_buried(server, session, name)) {"),
    ("a late operation joins a later attempt", f"{SERVER}/operate.c",
     "    if (txn != NULL && txn->txn.attempt == name->attempt) {\n        *txn_out",
     "    if (txn != NULL) {\n        *txn_out"),
    ("a repeated vote is aborted", f"{SERVER}/operate.c", "    if (asks_for_vote(request)) {\n        result = vote_again",
     "    if (false) {\n        result = vote_again"),
    ("a request that comes again is done again", f"{SERVER}/server.c",
     "    if (seen->number == request->number && request->number != 0) {", "    if (false) {"),
    ("locks of the dead are held for ever", f"{SERVER}/inquire.c",
     "        if (txn->state == SERVER_ACTIVE && gone_ns > PATIENCE * server->config.lease_ns) {",
     "        if (txn->state == SERVER_ACTIVE && gone_ns > 100 * server->config.lease_ns) {"),
    ("a vote counts as a commit", f"{SERVER}/inquire.c", "    if (outcome == WIO_STORE_OUTCOME_COMMITTED) {\n        decide",
     "    if (outcome >= WIO_STORE_OUTCOME_PREPARED) {\n        decide"),
    ("in doubt, silence is consent", f"{SERVER}/inquire.c",
     "    bool binds = outcome != WIO_STORE_OUTCOME_UNKNOWN && outcome != WIO_STORE_OUTCOME_ACTIVE;",
     "    bool binds = true;"),
    ("a vote knows what was said before it", f"{SERVER}/decide.c", "    server_forget_answers(server, txn);\n", ""),
    ("one that is asked may still vote", f"{SERVER}/inquire.c",
     "        server_abort(server, txn);\n        server_tombstone(server, call);",
     "        answer_outcome(server, call, WIO_STORE_OUTCOME_ABORTED);"),
    ("one that knows nothing may still vote", f"{SERVER}/inquire.c",
     "        server_tombstone(server, call);\n    } else {\n        answer_outcome(server, call, "
     "WIO_STORE_OUTCOME_UNKNOWN);", "        answer_outcome(server, call, WIO_STORE_OUTCOME_ABORTED);\n    } else {\n"
     "        answer_outcome(server, call, WIO_STORE_OUTCOME_UNKNOWN);"),
    ("a wound ignores the attempt number", f"{CLIENT}/coord.c", "txn->txn.attempt != push->txn.attempt || ", ""),
    ("a wound ends what was decided", f"{CLIENT}/coord.c", " || txn->state != COORD_RUNNING) {\n        coord->stat.late++;",
     " || txn->state == COORD_RESTING || txn->state == COORD_ABORTING) {\n        coord->stat.late++;"),
    ("one vote commits", f"{CLIENT}/coord_answer.c",
     "        if (!txn->parts[txn->list[i]].has_voted) {\n            return false;",
     "        if (!txn->parts[txn->list[i]].has_voted) {\n            return true;"),
    ("a vote of no is a yes", f"{CLIENT}/coord_answer.c",
     "    part->has_voted |= is_ok && reply->outcome == WIO_STORE_OUTCOME_PREPARED;", "    part->has_voted = true;"),
    ("stable, several: no vote", f"{CLIENT}/coord_attempt.c", "    } else if (coord_is_stable(txn) && txn->list_count > 1) {",
     "    } else if (false) {"),
    ("a late vote is not asked for", f"{CLIENT}/coord.c",
     "        } else if (txn->state == COORD_PREPARING && txn->vote_until_ns <= coord->now_ns) {",
     "        } else if (false) {"),
    ("attempts have one number", f"{CLIENT}/coord_attempt.c", "    txn->txn.attempt++;\n",
     "    txn->txn.attempt = 1;\n"),
    ("what is sent again begins again", f"{CLIENT}/slots.c",
     "            slot->request.flags &= (uint16_t)~WIO_STORE_FLAG_BEGIN;", "            continue;"),
    ("a commit that is not known is begun again", f"{CLIENT}/coord_answer.c",
     "reply->result == WIO_STORE_NO_LEASE && !commits;", "reply->result == WIO_STORE_NO_LEASE;"),
    ("a last operation waits with votes given", f"{CLIENT}/coord.c",
     "WIO_STORE_FLAG_PREPARE | WIO_STORE_FLAG_REJECT;", "WIO_STORE_FLAG_PREPARE;"),
    ("a last operation goes with its vote in each attempt", f"{CLIENT}/coord.c", " && txn->txn.attempt == 1) {",
     " && txn->txn.attempt >= 1) {"),
    ("a last operation commits beside others", f"{CLIENT}/coord.c", "    bool commits = is_alone && may_commit;",
     "    bool commits = may_commit;"),
    ("what was done before its wound is done again", f"{CLIENT}/coord_answer.c",
     "        txn->was_done = true;\n", ""),
    ("a wounded commit is over when its abort is answered", f"{CLIENT}/coord_attempt.c",
     "    if (coord_may_commit(txn)) {", "    if (false) {"),
    ("all is forgotten when one has heard", f"{CLIENT}/coord_answer.c",
     "    if (!coord_all_done(txn)) {\n        return;\n    }\n    if (txn->state == COORD_COMMITTING) {",
     "    if (txn->state == COORD_DECIDED ? txn->commits == 0 : !coord_all_done(txn)) {\n        return;\n    }\n"
     "    if (txn->state == COORD_DECIDED) {\n        txn->commits = txn->list_count;\n    }\n"
     "    if (txn->state == COORD_COMMITTING) {"),
    ("readers do not hinder writers", f"{LOCK}/lock_internal.h",
     "            1u << WIO_LOCK_SHARED | 1u << WIO_LOCK_EXCLUSIVE | 1u << WIO_LOCK_INCREMENT,",
     "            1u << WIO_LOCK_EXCLUSIVE | 1u << WIO_LOCK_INCREMENT,"),
    ("writers do not hinder readers", f"{LOCK}/lock_internal.h",
     "        [WIO_LOCK_SHARED] = 1u << WIO_LOCK_EXCLUSIVE | 1u << WIO_LOCK_INCREMENT,",
     "        [WIO_LOCK_SHARED] = 1u << WIO_LOCK_INCREMENT,"),
    ("nothing is wounded", f"{LOCK}/lock.c",
     "    if (locks->config.policy == WIO_LOCK_WOUND_WAIT) {\n        lock_wound(locks, item);",
     "    if (false) {\n        lock_wound(locks, item);"),
    ("a release wakes nothing", f"{LOCK}/queue.c", "    lock_awaken(locks, item);\n    if (!item->is_told && item->state "
     "== LOCK_HELD) {", "    if (!item->is_told && item->state == LOCK_HELD) {"),
    ("a checkpoint does not wait for the data", f"{STORAGE}/stable.c",
     "    if (checkpoint->step != CHECKPOINT_DATA || !checkpoint->is_data_durable) {",
     "    if (checkpoint->step != CHECKPOINT_DATA) {"),
    ("a checkpoint carries no outcome over", f"{STORAGE}/stable.c",
     "        if (outcome->state != WIO_STABLE_UNKNOWN) {\n            WIO_TRY(carry_one(stable, outcome, err));\n"
     "        }\n", "        (void)outcome;\n"),
    ("a checkpoint begins with records in flight", f"{STORAGE}/stable.c",
     "    if (checkpoint->step != CHECKPOINT_WANTED || stable->logged.first != NULL) {",
     "    if (checkpoint->step != CHECKPOINT_WANTED) {"),
    ("names of an earlier process are not flushed", f"{STORAGE}/open_files.c",
     "        files->dirty_dirs[dir] = true; /* a process", "        files->dirty_dirs[dir] = false; /* a process"),
    ("a flush that failed is taken for one that did not", f"{STORAGE}/stable.c", "    if (state->has_failed) {",
     "    if (false) {"),
    ("the log is durable when it is written", f"{LOG}/redo_log.c", "    log->state.is_flushing = true;\n    return WIO_OK;",
     "    log->state.is_flushing = true;\n    log->state.durable_lsn = log->flight_lsn;\n    return WIO_OK;"),
    ("a failed flush of the log is a flush", f"{LOG}/redo_log.c",
     "    log->state.is_flushing = false;\n    if (status == WIO_OK) {", "    log->state.is_flushing = false;\n"
     "    if (status != WIO_END) {"),
)

# Mutants that change nothing, and why; they are not run.
EQUIVALENT = {
    "a flush that failed is taken for one that did not":
        "the log refuses every call after a failure, and is asked in the same function: wio_log_flushed in advance()",
}

TARGETS = ("tests/sim/store_transactions_sim", "tests/sim/store_transactions_disk_sim",
           "tests/unit/store/client/store_client_random_test")
UNIT = "tests/unit"
CHECKS = (f"{UNIT}/store/server/store_server_volatile_test", f"{UNIT}/store/server/store_server_stable_test",
          f"{UNIT}/store/client/store_client_coord_test", f"{UNIT}/store/client/store_client_coord_last_test",
          f"{UNIT}/store/client/store_client_coord_ask_test", f"{UNIT}/store/storage/store_stable_test",
          f"{UNIT}/store/storage/store_storage_test", f"{UNIT}/store/storage/store_crash_test",
          f"{UNIT}/store/log/store_redo_log_test", f"{UNIT}/lock/lock_lock_test", f"{UNIT}/lock/lock_progress_test")
FAILED_ONCE = ((0, 404), (0, 1551), (1, 43), (1, 69), (1, 581), (1, 745), (1, 2013))  # as in meson.build
LIMIT_S = 300


def copy_sources(root, to):
    shutil.rmtree(to, ignore_errors=True)
    skipped = shutil.ignore_patterns("build*", ".git", "__pycache__")
    shutil.copytree(root, to, symlinks=True, ignore=skipped)


def build(source, directory):
    """None, or what the compiler says."""
    made = subprocess.run(["ninja", "-C", directory, *TARGETS, *CHECKS], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, cwd=source)
    return None if made.returncode == 0 else made.stdout[-2000:]


def runs(directory, seeds):
    mem, disk, random = (os.path.join(directory, target) for target in TARGETS)
    yield "simulation", [random, "1", str(max(4, seeds // 20))]
    yield "simulation", [mem, f"--seeds={seeds}", "--steps=10000"]
    yield "simulation", [disk, f"--seeds={seeds}", "--steps=10000"]
    for program, seed in FAILED_ONCE:
        yield "simulation", [(mem, disk)[program], f"--seed={seed}"]
    for check in CHECKS:
        yield "unit tests", [os.path.join(directory, check)]


def killer(directory, seeds):
    """(what fails, how); None: nothing does."""
    for kind, command in runs(directory, seeds):
        try:
            ran = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 errors="replace", timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return kind, f"{os.path.basename(command[0])}: does not end"
        if ran.returncode != 0:
            said = [line for line in ran.stdout.splitlines() if line.startswith(("seed ", "# seed", "not ok"))]
            return kind, f"{os.path.basename(command[0])}: {said[0] if said else f'status {ran.returncode}'}"
    return None


def try_mutant(source, directory, mutant, seeds):
    """What killed it; None: nothing."""
    name, file, old, new = mutant
    path = os.path.join(source, file)
    with open(path, encoding="utf-8") as text:
        whole = text.read()
    if whole.count(old) != 1:
        sys.exit(f"{name}: {file} has {whole.count(old)} times what the mutant changes, expected 1")
    with open(path, "w", encoding="utf-8") as text:
        text.write(whole.replace(old, new))
    try:
        fault = build(source, directory)
        if fault is not None:
            sys.exit(f"{name}: does not compile:\n{fault}")
        how = killer(directory, seeds)
    finally:
        with open(path, "w", encoding="utf-8") as text:
            text.write(whole)
    print(f"{'killed  ' if how else 'SURVIVED'}  {name:<58} {how[1] if how else ''}", flush=True)
    return how[0] if how else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("build")
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--only", action="append", help="mutants whose name has this text")
    parser.add_argument("--least", type=float, default=90, help="percent that have to be killed")
    args = parser.parse_args()
    top = os.path.abspath(args.build)
    source, directory = os.path.join(top, "source"), os.path.join(top, "build")
    copy_sources(os.path.abspath(args.root), source)
    shutil.rmtree(directory, ignore_errors=True)
    subprocess.run(["sh", "scripts/meson.sh", "setup", directory], check=True, cwd=source, stdout=subprocess.DEVNULL)
    fault = build(source, directory)
    how = fault or killer(directory, args.seeds)
    if how:
        sys.exit(f"without a mutant already: {how}")
    chosen = [mutant for mutant in MUTANTS if any(text in mutant[0] for text in args.only or [""])]
    for name in [mutant[0] for mutant in chosen if mutant[0] in EQUIVALENT]:
        print(f"the same  {name:<58} {EQUIVALENT[name]}")
    chosen = [mutant for mutant in chosen if mutant[0] not in EQUIVALENT]
    killers = [try_mutant(source, directory, mutant, args.seeds) for mutant in chosen]
    killed = sum(killer is not None for killer in killers)
    percent = 100 * killed / max(1, len(chosen))
    print(f"{killed} of {len(chosen)} killed ({percent:.0f} %), {killers.count('simulation')} of them by the simulation")
    return 0 if percent >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
