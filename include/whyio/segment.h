/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing one segment: a self-contained file with its own strings, processes, streams, blocks of
 * events and index (FORMAT.md#segment). Used by sealing, by programs that make traces (predict,
 * import) and by tests. The file appears under its name only when it is finished
 * (written as NAME.tmp, flushed, renamed).
 *
 * One writer belongs to one thread. Memory: the string table plus one block per stream.
 *
 * Errors. A process, a stream or a path that this writer has not given a number is WIO_ERR_USAGE:
 * nothing was added. After any other error (WIO_ERR_NOMEM; WIO_ERR_IO with sys_errno, for instance
 * ENOSPC) the segment may only be abandoned.
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

/*
 * Create NAME (a path that ends in .seg). WIO_ERR_IO if it exists (sys_errno EEXIST), if NAME.tmp
 * exists, or if it cannot be made; WIO_ERR_USAGE: params->struct_size is not set. `params` must not
 * be NULL; it is copied. The caller owns *segment_out until wio_segment_finish or
 * wio_segment_abandon; after an error it is not set, and no file is left.
 */
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
/* The same into an open descriptor (memfd, unlinked file), from its first byte on; `label` names it
 * in messages. Takes ownership of `fd`: it is closed by wio_segment_finish and wio_segment_abandon,
 * and at once where this fails. Nothing is flushed or renamed at the end. */
WIO_MUST_CHECK enum wio_status wio_segment_create_fd(int fd, const char *label,
                                                     const struct wio_segment_params *params,
                                                     struct wio_segment **segment_out,
                                                     struct wio_error *err);

/* Add a text of `key` (enum wio_segment_meta); it is copied, and may hold NULs. Any order, before
 * the segment is finished; of two with one key readers take the later. */
WIO_MUST_CHECK enum wio_status wio_segment_meta(struct wio_segment *segment, unsigned key,
                                                const char *value, size_t bytes,
                                                struct wio_error *err);

/* Id of a text, the same for the same text; 0 for the empty one. `text` is copied, up to `bytes` or
 * its first NUL; all later ids are larger. */
WIO_MUST_CHECK enum wio_status wio_segment_string(struct wio_segment *segment, const char *text,
                                                  size_t bytes, uint32_t *id_out,
                                                  struct wio_error *err);

/* Id of a stack of frames, innermost first (one frame: a plain source), the same for the same
 * frames. Texts are copied; NULL counts as "". */
WIO_MUST_CHECK enum wio_status wio_segment_source(struct wio_segment *segment,
                                                  const struct wio_frame *frames, uint32_t count,
                                                  uint32_t *id_out, struct wio_error *err);

/*
 * Processes and streams are numbered 0, 1, 2 .. in the order of these calls, each from 0. Texts and
 * arrays are copied; NULL counts as "". A stream is the thread `tid` of a process that was given;
 * `thread` as in struct wio_stream_info. Streams of one (host, pid, tid) go on counting seq, in
 * the order in which their first events are appended.
 */
WIO_MUST_CHECK enum wio_status wio_segment_process(struct wio_segment *segment,
                                                   const struct wio_process_info *process,
                                                   uint32_t *index_out, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_segment_stream(struct wio_segment *segment, uint32_t process,
                                                  int32_t tid, uint64_t thread, uint32_t *index_out,
                                                  struct wio_error *err);
/* Add what is known of the file at file->path, a string of this segment; it is copied, but for
 * `uses`, which the writer finds in the events, too. Paths that events name need none. Of two rows
 * of one path readers take what was found, and the larger size. Any order. */
WIO_MUST_CHECK enum wio_status wio_segment_file(struct wio_segment *segment,
                                                const struct wio_file_info *file,
                                                struct wio_error *err);

/*
 * Append one event to stream event->stream; it is copied. Within a stream events come in about the
 * order of their begin: one may come up to 4,096 places late. seq is assigned here (the given one
 * is ignored). t_ns counts from params.base_unix_ns. WIO_ERR_UNSUPPORTED: more than 65,536 kinds
 * of calls. May write a block, and so fail with WIO_ERR_IO.
 */
WIO_MUST_CHECK enum wio_status wio_segment_append(struct wio_segment *segment,
                                                  const struct wio_event *event,
                                                  struct wio_error *err);

/* Write what is left of the blocks, the tables and the index, fsync, rename. The segment is gone
 * afterwards, also on failure, which leaves no file. WIO_ERR_IO with sys_errno EEXIST: another file
 * has taken the name meanwhile, which stays as it is where the file system can rename without
 * replacing. */
WIO_MUST_CHECK enum wio_status wio_segment_finish(struct wio_segment *segment,
                                                  struct wio_error *err);
/* Drop it and its unfinished file. Accepts NULL. */
void wio_segment_abandon(struct wio_segment *segment);

WIO_END_DECLS
#endif
