/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one event counts for: bytes moved, kind of work, and whether it is I/O on a file at all.
 * Every table of whyio that counts events uses these rules, so that all of them agree.
 */
#ifndef WIO_EXPLAIN_ACCOUNT_H
#define WIO_EXPLAIN_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/trace.h>

enum wio_io_kind {
    WIO_IO_READ,
    WIO_IO_WRITE, /* copies too: `path` is the file that is written */
    WIO_IO_META,  /* open, stat, rename, fsync, seek, lock ...: no bytes */
    WIO_IO_KINDS,
    WIO_IO_NONE /* processes, threads, waits, and calls that only collect other operations */
};

enum wio_io_kind wio_account_kind(unsigned op);

/*
 * Is it a stdio call that only works on the stream's buffer? What it does to the file is one or
 * more events of its own, flagged CAUSED: to count both would be to count twice. (fopen and fclose
 * are no such calls.)
 */
bool wio_account_is_buffered(unsigned op);

/* Bytes that the operation moved; 0 for failed, pending and metadata operations. */
uint64_t wio_account_bytes(const struct wio_event *event);

/* Is `path` a terminal: what is read there is typed, what is written waits for its reader? */
bool wio_account_is_terminal(const char *path);

/* is_channel[id] = 1 of each string of the trace that is the path of a pipe, socket, FIFO or
 * terminal: what is read there another process or a person writes, so that to read is to wait. The
 * array has room for all string ids. */
void wio_account_find_channels(const struct wio_trace *trace, uint8_t *is_channel);

struct wio_tally {
    uint64_t count;
    uint64_t bytes;
    uint64_t time_ns; /* sum of durations: two threads that wait one second each make two */
    uint64_t errors;
};

void wio_tally_add(struct wio_tally *tally, const struct wio_event *event);
void wio_tally_merge(struct wio_tally *tally, const struct wio_tally *other);

#endif
