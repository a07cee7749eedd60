/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording one command:
 *
 *     struct wio_record_params params = {.struct_size = sizeof(params), .command = argv};
 *     struct wio_record_result result;
 *     if (wio_record(&params, &result, &err) != WIO_OK) ...   the command did not run
 *     exit(result.exit_status);
 *
 * Checks that the command can be recorded, makes the trace directory, starts the command with the
 * capture library preloaded, waits until its last descendant has ended, and seals the rings.
 *
 * wio_record takes over the process: it becomes a child subreaper, blocks signals while it waits
 * (those sent to it go on to the command), and lets go of standard input, standard output and
 * all inherited descriptors once the command has them, so that pipes end when the command ends.
 * Call it once, from the only thread.
 */
#ifndef WIO_RECORD_RECORD_H
#define WIO_RECORD_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "seal/seal.h"

/* Descendants that outlive the command: told once, some seconds after the command has ended. */
struct wio_lingering {
    size_t count;
    int32_t pid;   /* of the first */
    char name[32]; /* of the first, as in /proc/PID/comm */
};

struct wio_record_params {
    size_t struct_size;
    char *const *command;    /* program and arguments, ended by NULL; searched in PATH */
    const char *dir;         /* NULL = ./<program>-<pid>.whyio */
    const char *capture_lib; /* NULL = searched beside the running program: record/library.h */
    const char *ring_dir;    /* directory for the raw rings; NULL = in the trace directory, or
                                in $TMPDIR or /tmp where that is on a network file system */
    bool force;              /* replace an old trace */
    bool is_part;            /* of a run that another recorder directs, which has made `dir`:
                                throttle/hosts/worker.h */
    bool stacks;             /* of each operation */
    bool no_stacks;          /* of none; else of some calls by libraries */
    bool mpi_internals;
    bool mmap_pages; /* which pages of mapped files are written */
    bool causal;     /* synchronisation too */
    bool edges_now;  /* derive the edges when all is sealed; else the first command that needs them
                        does, unless the times of several hosts depend on them */
    bool trace_static; /* static programs are recorded by ptrace: tracer/tracer.h */
    const char
        *board; /* of a throttled run: throttle/control/control_block.h; NULL = without holds */
    /* The command is a launcher, behind which there are recorders that are directed from here:
     * throttle/hosts/coordinator.h. It is recorded by them, not by this one. NULL = no */
    const char *director;
    bool anonymize;
    uint64_t max_size; /* bytes of raw events that are kept, WIO_BOUND_MIN_BYTES ..
                          WIO_BOUND_MAX_BYTES (ring/bound.h); 0 = all */
    bool keep_last;    /* the last ones, not the first */
    /* While sealing. May be NULL. */
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
    /* May be NULL. */
    void (*lingering)(void *arg, const struct wio_lingering *running);
    void *lingering_arg;
    /* The command and its descendants have ended, sealing begins. With it signals that end programs
     * stay blocked from the command's start on: the caller sees to them. May be NULL. */
    void (*ended)(void *arg);
    void *ended_arg;
};

struct wio_record_result {
    int exit_status;       /* of the command: 0..255, 128 + signal if that ended it */
    char dir[PATH_MAX];    /* absolute */
    bool is_cut;           /* a signal ended the recording while descendants were alive */
    bool is_tracer_killed; /* what static programs did afterwards is missing */
    struct wio_seal_totals totals;
    struct wio_error seal_error; /* status WIO_OK, or why the rings could not be sealed: they stay
                                    in the directory and any later command seals them */
    struct wio_error join_error; /* status WIO_OK, or why no edges could be found in the trace */
};

/*
 * WIO_OK: the command ran, and `result_out` is filled, also when sealing failed. Otherwise it did
 * not run, and no trace directory was left behind: WIO_ERR_USAGE (directory exists),
 * WIO_ERR_UNSUPPORTED (cannot be preloaded), WIO_ERR_IO (not found, not writable).
 */
WIO_MUST_CHECK enum wio_status wio_record(const struct wio_record_params *params,
                                          struct wio_record_result *result_out,
                                          struct wio_error *err);

#endif
