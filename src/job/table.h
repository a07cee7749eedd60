/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the id of a thread to the job of its process.
 *
 *     struct wio_job_hit hit = wio_job_table_look(table, tid, now_ms);
 *     if (hit.answer != WIO_JOB_KNOWN) ... ask the resolver for it; hit.job is what is known now
 *
 * A process is known by its id and its birth (a number that no other process of that id has): what
 * is told about a process of another birth replaces it. A thread belongs to a process that is in
 * the table. Each of both has a `watch`, a number of the caller's, which is given back by `gone`
 * when it leaves the table, for whatever reason.
 *
 * Threads: one at a time may change the table (all functions but wio_job_table_look,
 * wio_job_table_changes and wio_job_table_whole). Any number may look meanwhile: a look reads one
 * or two cache lines, takes no lock, tries nothing twice and waits for nothing, whatever a changing
 * thread does or does not. What was dropped before a look began (in the sense of C11's
 * happens-before) is not answered.
 *
 * Memory: 13 bytes a thread of the lines that are looked at and some 90 beside, for the most that
 * there were at once.
 */
#ifndef WIO_JOB_TABLE_H
#define WIO_JOB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"
#include "job/names.h"
#include "job/policy.h"

enum wio_job_answer {
    WIO_JOB_UNKNOWN, /* unknown yet: to be resolved */
    WIO_JOB_KNOWN,
    WIO_JOB_OLD,    /* the job that it was: to be resolved again */
    WIO_JOB_UNSURE, /* the job if the thread is still the one that it was: to be checked */
};

/* Eight bytes, so that it is returned in a register. */
struct wio_job_hit {
    uint32_t job;    /* WIO_JOB_NONE: none, or unknown */
    uint16_t answer; /* enum wio_job_answer */
    bool is_old;     /* with WIO_JOB_OLD, and perhaps with WIO_JOB_UNSURE */
};

#define WIO_JOB_NO_WATCH UINT32_MAX

struct wio_job_table_params {
    struct wio_alloc alloc;
    struct wio_job_policy policy;
    uint32_t most;   /* threads that are kept, 0 = 262,144; others make one that is there leave */
    uint32_t kernel; /* job of thread 0: what the kernel does for no process */
    /* `watch` has left; may be NULL. Must not use the table. */
    void (*gone)(void *context, uint32_t watch);
    void *context;
};

struct wio_job_table;

/* Fails with WIO_ERR_NOMEM. The caller owns the result; names, `context` and what `alloc` needs
 * outlive it. */
WIO_MUST_CHECK enum wio_status wio_job_table_create(const struct wio_job_table_params *params,
                                                    struct wio_job_table **table_out);
/* Accepts NULL. `gone` is called for all that is in it. */
void wio_job_table_destroy(struct wio_job_table *table);

/* The job of a thread at `now_ms`, which is milliseconds of the clock of the others, modulo 2^32.
 * Thread safe, never waits. */
struct wio_job_hit wio_job_table_look(const struct wio_job_table *table, uint32_t tid,
                                      uint32_t now_ms);

/* Counts changes: what a look that began behind this count has answered as WIO_JOB_KNOWN would be
 * answered again until it is old, as long as the count is the same. Thread safe, never waits. */
uint64_t wio_job_table_changes(const struct wio_job_table *table);

/* All threads have one job (modes disabled and node-local): looks give `job` and nothing else.
 * WIO_JOB_PER_PROCESS: they do not. May be called while others look. */
#define WIO_JOB_PER_PROCESS UINT32_MAX
void wio_job_table_whole(struct wio_job_table *table, uint32_t job);

/* What a resolver found out. */
struct wio_job_found {
    uint32_t job;
    bool is_failed; /* something could not be read: `job` is WIO_JOB_NONE or a guess */
};

/* A process, its main thread among them (tid = pid): new, or again. `watch` is kept where it is
 * new or of another birth, else given back at once (unless it is the one that is there). Fails with
 * WIO_ERR_NOMEM; `watch` is not kept then. */
WIO_MUST_CHECK enum wio_status wio_job_table_process(struct wio_job_table *table, uint32_t pid,
                                                     uint64_t birth, struct wio_job_found found,
                                                     uint32_t watch, uint64_t now_ns);
/* A thread of a process that is in the table. Where that is not there, or all places are taken by
 * its own threads, the thread and its watch are not kept. `is_unsure`: its end will not be told,
 * looks say WIO_JOB_UNSURE. */
struct wio_job_thread {
    uint32_t tid;
    uint32_t pid;
    uint32_t watch;
    bool is_unsure;
};
WIO_MUST_CHECK enum wio_status wio_job_table_thread(struct wio_job_table *table,
                                                    const struct wio_job_thread *thread,
                                                    bool *is_kept_out);
/* A thread has ended; a main thread takes its process along. Nothing where `tid` is not watched by
 * `watch`: what ended was another one of that id. */
void wio_job_table_end(struct wio_job_table *table, uint32_t tid, uint32_t watch);

/* What is known of a process; false where it is not there. */
struct wio_job_known {
    uint64_t birth;
    uint64_t resolved_ns;
    uint32_t job;
    uint32_t watch;    /* of its main thread */
    uint32_t failures; /* reads in a row that failed */
    uint32_t threads;
};
bool wio_job_table_known(const struct wio_job_table *table, uint32_t pid,
                         struct wio_job_known *known_out);
/* The watch of a thread, WIO_JOB_NO_WATCH where it is not there. */
uint32_t wio_job_table_watch(const struct wio_job_table *table, uint32_t tid);

/* Drop the processes of `job` (WIO_JOB_NONE: of none), and those whose answer is policy.purge_ns
 * old or older. Gives their number. */
size_t wio_job_table_purge(struct wio_job_table *table, uint32_t job, uint64_t now_ns);
/* The purge of policy.sweep_ns, where it is due. */
size_t wio_job_table_sweep(struct wio_job_table *table, uint64_t now_ns);
/* Drop all. */
void wio_job_table_clear(struct wio_job_table *table);

struct wio_job_table_size {
    uint32_t processes;
    uint32_t threads;
    uint64_t crowded_out; /* left because `most` were there */
};
struct wio_job_table_size wio_job_table_size(const struct wio_job_table *table);

#endif
