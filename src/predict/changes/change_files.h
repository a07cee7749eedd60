/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers of one thread that are gathered file by file, for changes that make fewer of them. What
 * other threads wait for, locks, syncs and closes end what is gathered (change_ends.h), as does a
 * transfer of the other kind (reads, writes) of the same file; so does a file too many, that of the
 * one used least lately. Private to the room.
 */
#ifndef WIO_PREDICT_CHANGES_CHANGE_FILES_H
#define WIO_PREDICT_CHANGES_CHANGE_FILES_H

#include "predict/changes/change_ends.h"

#define WIO_CHANGE_FILES_MAX 64u

/* What a change does at a place, 0 .. most - 1; `arg` is struct wio_change_files.arg. */
struct wio_change_gather {
    /* Can the transfer go to what is gathered at `place`? */
    bool (*fits)(void *arg, uint32_t place, const struct wio_event *event, uint64_t bytes);
    /* It does; is_new: nothing was gathered there yet. */
    enum wio_status (*add)(void *arg, uint32_t place, const struct wio_event *event, uint64_t bytes,
                           bool is_new);
    /* All of `place` is there. Afterwards what is at `last` moves to it. */
    enum wio_status (*end)(void *arg, uint32_t place, uint32_t last);
};

struct wio_change_files {
    const struct wio_change_gather *gather;
    void *arg;
    struct wio_change_work *work;
    uint32_t most; /* files that are gathered side by side, up to WIO_CHANGE_FILES_MAX */
    uint32_t stream;
    uint32_t count;
    uint64_t now;
    struct wio_change_giving giving;
    struct {
        uint32_t path;
        bool is_write;
        uint64_t used;
    } open[WIO_CHANGE_FILES_MAX];
};

/* Reads all events of the program and gathers. Give `gather`, `arg`, `work` and `most`, the rest
 * zero. */
WIO_MUST_CHECK enum wio_status wio_change_files_run(struct wio_change_files *files);
/* During a call of `add` or `fits`: does the place hold writes? */
bool wio_change_files_is_write(const struct wio_change_files *files, uint32_t place);

#endif
