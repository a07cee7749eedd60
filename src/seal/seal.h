/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing: raw rings of ended processes -> one segment.
 *
 * Resolves string ids along fork (FORMAT.md#ring-strings), composes absolute paths, converts
 * ticks to nanoseconds, pairs completions with submissions, orders nested events by begin, gives
 * each (process, thread) its stream, looks up build-ids of modules and the state of each path
 * (FORMAT.md#files) on this machine.
 */
#ifndef WIO_SEAL_SEAL_H
#define WIO_SEAL_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

struct wio_segment;

/* What sealing found, for a person. */
struct wio_seal_totals {
    uint64_t rings;
    uint64_t events;
    uint64_t live_rings;  /* left out, as their processes still run, */
    uint64_t live_events; /* and what they hold so far */
    uint64_t dropped;
    uint64_t evicted;   /* of these: from the begin, as the last events are kept */
    uint64_t max_bytes; /* the bound of the recording (record --max-size); 0 = none */
    bool keeps_last;
    uint64_t unseen[16]; /* enum wio_unseen, summed over the rings */
    uint64_t bytes;      /* of the finished segment */
    char remarks[2048];  /* lines: what could not be recorded and why, as many as fit */
};

struct wio_seal_params {
    size_t struct_size;
    bool rings_only;    /* make no segment where there are no rings */
    bool keep_rings;    /* leave the raw files (live processes, read-only directory) */
    bool look_at_files; /* record the state of the paths: only on the host and soon after the run */
    bool anonymize;     /* replace names in paths (each component by a keyed hash, depth and
                           extension kept), arguments and environment; also done unasked where
                           the directory has a key (anonymize.h), with which the same name always
                           gets the same replacement */
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
    /* Called with the new segment before the events, to add META; may be NULL. */
    enum wio_status (*decorate)(void *arg, struct wio_segment *segment, struct wio_error *err);
    void *decorate_arg;
    /* How a process ended, where the caller has reaped it (record): gives the wait status of the
     * first `pid` that was reaped at or after `start_mono_ns`; false = not known. Asked for rings
     * of this machine's boot whose own `end` is WIO_END_NONE. May be NULL. */
    bool (*ended)(void *arg, int32_t pid, uint64_t start_mono_ns, int *wait_status_out);
    void *ended_arg;
    struct wio_seal_totals *totals; /* filled on success; may be NULL */
    /* The caller holds flock(2) on `ring_dir`: a recorder does so while it works, and any other
     * caller leaves alone what is in there, as if all its processes were alive. */
    bool holds_lock;
};

/* Beside rings: what was sealed into which segment, in case we die before they are taken away
 * (FORMAT.md R-RING-6). */
#define WIO_SEALED_AS "sealed-as"

/*
 * Several recorders may write into one DIR at once, each with rings of its own: raw/ holds rings
 * (NAME.ring), and one directory or symbolic link to a directory (node-local rings) for each
 * recorder, with rings in it. A reader looks into both, one level deep. A ring whose process is
 * alive on this host (pid and pid_start of the header) is left as it is and left out, unless
 * keep_rings is set: a later sealing takes it. Rings that it inherits strings from are kept for
 * that, as NAME.ring.sealed (FORMAT.md R-RING-5). When the last ring of such a directory is sealed
 * it is removed, the link too.
 *
 * Seal all rings below DIR/raw (or `ring_dir` alone if not NULL) into DIR/<name>.seg. No rings: a
 * segment with META only. Rings that are damaged are sealed as far as they can be read; what is
 * damaged is counted as dropped and named in the segment's META, where `check` finds it.
 */
WIO_MUST_CHECK enum wio_status wio_seal(const char *dir, const char *ring_dir, const char *name,
                                        const struct wio_seal_params *params,
                                        struct wio_error *err);

/* The same into memory (memfd): returns a descriptor that the caller owns. */
WIO_MUST_CHECK enum wio_status wio_seal_to_fd(const char *dir, const char *ring_dir, int *fd_out,
                                              const struct wio_seal_params *params,
                                              struct wio_error *err);

/* A survey of the rings of DIR. */
struct wio_seal_survey {
    uint64_t rings;   /* not sealed yet */
    uint64_t sealed;  /* the others: left for their strings, or by a sealing that died */
    uint64_t live;    /* of processes that still run on this host, or held by a recorder */
    bool is_going_on; /* a recorder is at work, or a process that is recorded still runs */
    bool is_writable; /* DIR may get a segment, and its rings be taken away */
};
WIO_MUST_CHECK enum wio_status wio_seal_survey(const char *dir, struct wio_seal_survey *survey_out,
                                               struct wio_error *err);

#endif
