/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing one segment: a self-contained file with its own strings, processes, streams, blocks of
 * events and index (FORMAT.md#segment). Used by sealing, by programs that make traces (predict,
 * import) and by tests. The file appears under its name only when it is finished
 * (written as NAME.tmp, flushed, renamed).
 *
 * One writer belongs to one thread. Memory: the string table plus one block per stream.
 */
#ifndef WHYIO_SEGMENT_H
#define WHYIO_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>
#include <whyio/trace.h>

WIO_BEGIN_DECLS

struct wio_segment;

/* META keys of a segment (FORMAT.md#meta). Values are texts; lists are ended by NUL each. */
enum wio_segment_meta {
    WIO_SEGMENT_META_VERSION = 1,       /* of whyio */
    WIO_SEGMENT_META_COMMAND = 2,       /* arguments, NUL-separated */
    WIO_SEGMENT_META_ENVIRONMENT = 3,   /* NAME=value, NUL-separated; a named subset */
    WIO_SEGMENT_META_MOUNTS = 4,        /* lines of /proc/self/mountinfo */
    WIO_SEGMENT_META_LAUNCH = 5,        /* what tells sibling recorders of one launch */
    WIO_SEGMENT_META_EXIT_STATUS = 6,   /* decimal: what record passed through */
    WIO_SEGMENT_META_RECORDER_DONE = 7, /* "1": the recorder saw the last descendant end */
    WIO_SEGMENT_META_OPTIONS = 8,
    WIO_SEGMENT_META_HOST = 9,
    WIO_SEGMENT_META_KERNEL = 10,
    WIO_SEGMENT_META_CPUS = 11,
    WIO_SEGMENT_META_FAULTS = 12,  /* lines: what was damaged in the rings */
    WIO_SEGMENT_META_MACHINE = 13, /* lines: NAME NUMBER (R-META-1) */
    WIO_SEGMENT_META_REMARKS = 14, /* lines: what could not be recorded and why */
    WIO_SEGMENT_META_BOUND = 15,   /* lines: how much was kept (R-META-3) */
};

struct wio_segment_params {
    size_t struct_size;
    uint64_t base_unix_ns; /* wall clock at t = 0 of this segment's events */
    uint64_t base_mono_ns; /* CLOCK_MONOTONIC at the same moment, 0 = unknown */
    const char *boot_id;   /* tells whether two segments share base_mono_ns' clock; "" = unknown */
};

/* Create NAME (a path that ends in .seg). Fails if it exists. */
WIO_MUST_CHECK enum wio_status wio_segment_create(const char *name,
                                                  const struct wio_segment_params *params,
                                                  struct wio_segment **segment_out,
                                                  struct wio_error *err);
/* The same in the directory `dir`, which stays the caller's: `path` names it for messages only, but
 * for what is behind its last slash. */
WIO_MUST_CHECK enum wio_status wio_segment_create_at(int dir, const char *path,
                                                     const struct wio_segment_params *params,
                                                     struct wio_segment **segment_out,
                                                     struct wio_error *err);
/* The same into an open descriptor (memfd, unlinked file); takes ownership of `fd`. */
WIO_MUST_CHECK enum wio_status wio_segment_create_fd(int fd, const char *label,
                                                     const struct wio_segment_params *params,
                                                     struct wio_segment **segment_out,
                                                     struct wio_error *err);

WIO_MUST_CHECK enum wio_status wio_segment_meta(struct wio_segment *segment, unsigned key,
                                                const char *value, size_t bytes,
                                                struct wio_error *err);

/* Id of a text, the same for the same text; 0 for the empty one. Ends at a NUL. */
WIO_MUST_CHECK enum wio_status wio_segment_string(struct wio_segment *segment, const char *text,
                                                  size_t bytes, uint32_t *id_out,
                                                  struct wio_error *err);

/* Id of a stack of frames (one frame: a plain source), deduplicated. */
WIO_MUST_CHECK enum wio_status wio_segment_source(struct wio_segment *segment,
                                                  const struct wio_frame *frames, uint32_t count,
                                                  uint32_t *id_out, struct wio_error *err);

/* Processes and streams are numbered 0, 1, 2 .. in the order of these calls. Texts are copied. */
WIO_MUST_CHECK enum wio_status wio_segment_process(struct wio_segment *segment,
                                                   const struct wio_process_info *process,
                                                   uint32_t *index_out, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_segment_stream(struct wio_segment *segment, uint32_t process,
                                                  int32_t tid, uint64_t thread, uint32_t *index_out,
                                                  struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_segment_file(struct wio_segment *segment,
                                                const struct wio_file_info *file,
                                                struct wio_error *err);

/*
 * Append one event to stream event->stream. Within a stream events come in about the order of
 * their begin: the writer sorts within a block. seq is assigned here (the given one is ignored).
 */
WIO_MUST_CHECK enum wio_status wio_segment_append(struct wio_segment *segment,
                                                  const struct wio_event *event,
                                                  struct wio_error *err);

/* Flush blocks, write the tables and the index, fsync, rename. The segment is gone afterwards,
 * also on failure. */
WIO_MUST_CHECK enum wio_status wio_segment_finish(struct wio_segment *segment,
                                                  struct wio_error *err);
/* Drop it and its unfinished file. Accepts NULL. */
void wio_segment_abandon(struct wio_segment *segment);

WIO_END_DECLS
#endif
