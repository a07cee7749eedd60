/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of the processes of this node: for programs that see requests of others, each with the
 * id of the thread that made it, as a FUSE file system does.
 *
 *     struct wio_probe_params params = {.policy = wio_job_policy_exit()};
 *     if (wio_probe_create(&params, &probe, &err) != WIO_OK) ...
 *     for (;;) {
 *         n = take_a_batch_of_requests(..);
 *         wio_probe_drain(probe);
 *         uint32_t now_ms = wio_probe_now_ms();
 *         for (i = 0; i < n; i++) {
 *             struct wio_job_hit hit = wio_probe_job(probe, requests[i].tid, now_ms);
 *             ... count it for hit.job; hit.answer says how sure that is
 *         }
 *     }
 *
 * A look never waits for a process: an unknown thread is handed to one thread that reads /proc
 * beside, and the answer is "unknown yet" (WIO_JOB_UNKNOWN) or what was true before (WIO_JOB_OLD).
 *
 * Ids that are used again. Each process in the table is held by a pidfd, whose end the kernel tells
 * before the id can be given to another one. wio_probe_drain takes these ends and drops the
 * processes; where nothing has ended it makes no system call (bell.h; else one epoll_wait, which
 * does not wait). So a look that comes after a drain that comes after the request was received
 * cannot answer with the job of an earlier process of that id. Threads are held likewise from
 * Linux 6.15 on; before, a look at a thread that is not the main one checks it by one system call.
 * With policy lustre nothing is held, as in Lustre, and an id that is used again is answered with
 * the old job for up to 30 s.
 *
 * Limits: needs pidfd_open(2) (Linux 5.3) and /proc; a descriptor for each process and thread in
 * the table (RLIMIT_NOFILE): where none is to be had the job stays unknown, which is counted.
 * Reading the environment of another user's process takes CAP_SYS_PTRACE; its control group does
 * not. A read of /proc that the kernel does not finish (a process that hangs with its memory
 * locked) stops the resolver, and with it wio_probe_settle and wio_probe_destroy, but no look and
 * no drain.
 *
 * Thread safety: all functions but create and destroy may be called by any number of threads.
 */
#ifndef WIO_PROBE_PROBE_H
#define WIO_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "job/control.h"
#include "job/policy.h"
#include "job/settings.h"
#include "job/table.h"

struct wio_probe_params {
    struct wio_job_settings settings; /* zeroed: mode batch */
    struct wio_job_policy policy;
    uint32_t most; /* threads in the table, 0 = 262,144 */
    /* For tests: called by the resolver before it reads of a process, and before it keeps what it
     * has found; may be NULL. */
    void (*before_read)(void *context, uint32_t tid);
    void (*before_keep)(void *context, uint32_t tid);
    void *context;
    bool is_old_kernel; /* for tests: use nothing that is newer than Linux 6.8 */
    bool has_no_bell;   /* for tests: each drain asks the kernel */
};

struct wio_probe;

/* Starts the resolver. WIO_ERR_UNSUPPORTED: no pidfds or no /proc here. The caller owns the result.
 * The policy of zeros is that of wio_job_policy_exit(). */
WIO_MUST_CHECK enum wio_status wio_probe_create(const struct wio_probe_params *params,
                                                struct wio_probe **probe_out,
                                                struct wio_error *err);
/* Accepts NULL. Ends the resolver. */
void wio_probe_destroy(struct wio_probe *probe);

/* CLOCK_MONOTONIC, for wio_probe_job: once for each batch. */
uint32_t wio_probe_now_ms(void);

/* Take the ends of processes: after a batch of requests was received, before the first look. */
void wio_probe_drain(struct wio_probe *probe);
/* The job of a thread; hit.answer is never WIO_JOB_UNSURE. Thread 0 is the kernel: the job named
 * "kernel". */
struct wio_job_hit wio_probe_job(struct wio_probe *probe, uint32_t tid, uint32_t now_ms);

/* An answer, for the next request of the same thread. Zero-initialise: one for each thread that
 * asks. */
struct wio_probe_last {
    uint64_t probe; /* which one; 0: none is remembered */
    uint64_t changes;
    uint64_t since; /* wio_clock_ticks */
    struct wio_job_hit hit;
    uint32_t tid;
    uint32_t note; /* of the caller, about the answer; 0 when it is another one */
};
/* As wio_probe_drain and wio_probe_job, now. What was answered to the calling thread before is
 * answered again while nothing has changed, for a tenth of a second at most. */
struct wio_job_hit wio_probe_job_again(struct wio_probe *probe, struct wio_probe_last *last,
                                       uint32_t tid);

/* The job of the calling process, found out by wio_probe_create. */
uint32_t wio_probe_own(const struct wio_probe *probe);
/* The name of a job; as wio_job_names_text. */
const char *wio_probe_text(const struct wio_probe *probe, uint32_t job, size_t *bytes_out);

/* A line that was written to the control (job/control.h). */
WIO_MUST_CHECK enum wio_status wio_probe_control(struct wio_probe *probe, const char *line,
                                                 size_t bytes,
                                                 struct wio_job_control_result *result_out,
                                                 struct wio_error *err);
/* What jobs are called by now. */
void wio_probe_get_settings(struct wio_probe *probe, struct wio_job_settings *settings_out);
/* Name the session that a thread is in (mode session); no bytes take the name away. Ends with the
 * leader of the session. WIO_ERR_USAGE: a name that is none; WIO_ERR_IO: no such thread, or its
 * session has no leader any more. */
WIO_MUST_CHECK enum wio_status wio_probe_session(struct wio_probe *probe, uint32_t tid,
                                                 const char *name, size_t bytes,
                                                 struct wio_error *err);

/* Wait until what was asked for is answered: for tests and orderly ends. */
void wio_probe_settle(struct wio_probe *probe);

struct wio_probe_counts {
    uint32_t processes; /* in the table */
    uint32_t threads;
    uint64_t resolved;    /* processes read, also again */
    uint64_t failed;      /* .. of them without all that was needed */
    uint64_t refused;     /* .. whose id is too long to be one */
    uint64_t ended;       /* tasks dropped because they ended */
    uint64_t gone;        /* had ended before they were read */
    uint64_t unwatched;   /* not kept: no descriptor, or no memory */
    uint64_t dropped;     /* requests that found the queue full */
    uint64_t crowded_out; /* left because `most` were there */
};
void wio_probe_get_counts(struct wio_probe *probe, struct wio_probe_counts *counts_out);

#endif
