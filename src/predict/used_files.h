/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which file each event of a trace works, and with which flags: what the state (state/state.h)
 * says at the event, kept for any number of simulations. A pass in order of begin fills it; streams
 * are read on their own then.
 *
 *     stream 0:  event 0 .. 7: answer 1     event 8 .. 11: answer 4     event 12 ..: answer 1
 *     answers:   1 = {file 0, O_RDWR}       4 = {file 3, O_WRONLY | O_DIRECT}
 *
 * Memory: one or two bytes for each event of a stream that works on another file than the one
 * before it, and 16 bytes per answer.
 */
#ifndef WIO_PREDICT_USED_FILES_H
#define WIO_PREDICT_USED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

#include "base/buf.h"
#include "base/pair_map.h"
#include "predict/trace_state.h"

struct wio_event_files {
    uint32_t file;  /* its number: what is behind the descriptor, else what the path means;
                       WIO_NO_INDEX: none */
    uint32_t file2; /* a copy: the file that is read; a rename: the file that had the new name */
    int32_t flags;  /* of the descriptor: as open(2) and F_SETFL gave them, 0 where not known */
    bool was_there; /* an open: its path meant a file before it, as far as events tell; a rename:
                       its new name did */
};

struct wio_used_files_stream;

/* Zero-initialise; release with wio_used_files_fini. */
struct wio_used_files {
    const struct wio_trace *trace;
    uint8_t *is_storage;             /* of each string id */
    struct wio_event_files *answers; /* 0: none */
    uint32_t answer_count;
    size_t answer_room;
    struct wio_used_files_stream *streams;
    uint32_t *paths; /* of each file: string id of its first path */
    uint32_t file_count;
    size_t path_room;
    struct wio_pair_map answer_of; /* while the events are being read: this and the next one */
    struct wio_trace_state state;
};

/* The trace must outlive it. */
WIO_MUST_CHECK enum wio_status wio_used_files_init(struct wio_used_files *files,
                                                   const struct wio_trace *trace);
void wio_used_files_fini(struct wio_used_files *files);
/* Every event of the trace, in order of begin. */
WIO_MUST_CHECK enum wio_status wio_used_files_see(struct wio_used_files *files,
                                                  const struct wio_event *event);
/* After the last event: releases what only the pass needs. */
void wio_used_files_finish(struct wio_used_files *files);

/* Does the data of this path (a string id) lie on storage (FORMAT.md, R-STREAM-2)? */
static inline bool wio_used_files_is_storage(const struct wio_used_files *files, uint32_t path)
{
    return files->is_storage[path] != 0;
}

/* Of one stream, forward. */
struct wio_used_files_reader {
    const struct wio_used_files *files;
    uint32_t stream;
    uint32_t answer; /* of the events from `seq` on .. */
    uint64_t seq;
    uint64_t next_seq; /* .. up to this one, which has `next` */
    uint32_t next;
    size_t pos;
};

void wio_used_files_reader_init(struct wio_used_files_reader *reader,
                                const struct wio_used_files *files, uint32_t stream);
/* One for each stream; to be freed. Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_used_files_readers(const struct wio_used_files *files,
                                                      struct wio_used_files_reader **readers_out);
/* On to the event; back to the first one where it was passed already. */
void wio_used_files_reader_move(struct wio_used_files_reader *reader, uint64_t seq);

/* What event `seq` of the stream works on; of events that have no file on storage another one's.
 * Quick for events in their order. */
static inline const struct wio_event_files *wio_used_files_at(struct wio_used_files_reader *reader,
                                                              uint64_t seq)
{
    if (seq < reader->seq || seq >= reader->next_seq) {
        wio_used_files_reader_move(reader, seq);
    }
    return &reader->files->answers[reader->answer];
}

#endif
