/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of a program: what its run would take if it did the same I/O in another way. A change
 * goes over the operations as recorded (and as the changes before it left them) and writes edits;
 * the simulation follows these. docs: whyio-predict(1), CHANGES.
 *
 *     struct wio_change changes[] = {{.kind = WIO_CHANGE_FSYNC_EVERY, .amount = 16}};
 *     params.changes = changes;
 *     params.change_count = 1;
 *     WIO_TRY(wio_program_init(&program, trace, err));
 *     WIO_TRY(wio_predict_seconds(&program, &params, &seconds, err));
 *
 * A change may be restricted to a cause: call sites, files, streams, operations (wio_change_scope).
 * Each is one file, change_<name>.c.
 */
#ifndef WIO_PREDICT_CHANGES_CHANGE_H
#define WIO_PREDICT_CHANGES_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

#include "model/model.h"
#include "predict/edits.h"
#include "predict/program.h"

enum wio_change_kind {
    WIO_CHANGE_REMOVE,      /* the operations of the scope cost nothing: how much hangs on them;
                               amount = so many of a million stay, spread evenly over a stream */
    WIO_CHANGE_FSYNC_EVERY, /* amount = N: of each file every N-th fsync or fdatasync, and the last
                               of a process before its close or before another process reads it */
    WIO_CHANGE_AGGREGATE,   /* amount = bytes: adjacent transfers become one of up to so many */
    WIO_CHANGE_COLLECTIVE,  /* one aggregator per host performs contiguous parts */
    WIO_CHANGE_MERGE_FILES, /* open, close and stat once per process and directory; amount = bytes:
                               their transfers as one of up to so many, 0: as they are */
    WIO_CHANGE_BALANCE,     /* the bytes of a phase split evenly over the ranks */
    WIO_CHANGE_NO_POLLING,  /* waits for a file end when it is there: polls are left away */
    WIO_CHANGE_SORT,        /* amount = bytes: transfers by offset, those together one of up to so
                               many */
    WIO_CHANGE_READ_MAPS,   /* amount = bytes: mapped files are read, in requests of so many, and
                               there are no page faults */
    WIO_CHANGE_COUNT
};

/* Only events for which all lists hold: string ids of their path, their source ids, streams,
 * operations (enum wio_op). An empty list holds for all. Lists of ids are rising. Borrowed. */
struct wio_change_scope {
    const uint32_t *paths;
    size_t path_count;
    const uint32_t *sources;
    size_t source_count;
    const uint32_t *streams;
    size_t stream_count;
    const uint16_t *ops;
    size_t op_count;
};

struct wio_change {
    enum wio_change_kind kind;
    uint64_t amount;
    const struct wio_change_scope *scope; /* NULL: all of the program */
};

/* What exchanging data between ranks costs. */
struct wio_change_net {
    double bytes_per_s; /* NaN: not known */
    double latency_s;
};

/* "remove", "fsync-every", ..: the option without dashes. */
const char *wio_change_name(enum wio_change_kind kind);

/*
 * The edits of all changes, each over what those before it left. WIO_ERR_USAGE, naming the keys of
 * HOST.json, for COLLECTIVE where `net` is not known. Release with wio_edits_fini, also after an
 * error. Thread safe: nothing is shared between calls.
 */
WIO_MUST_CHECK enum wio_status wio_change_program(const struct wio_program *program,
                                                  const struct wio_change *changes, size_t count,
                                                  const struct wio_change_net *net,
                                                  struct wio_edits *edits_out,
                                                  struct wio_error *err);

#endif
