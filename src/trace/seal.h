/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing: raw rings of ended processes -> one segment.
 *
 * Resolves string ids along fork (FORMAT.md#ring-strings), composes absolute paths, converts
 * ticks to nanoseconds, pairs completions with submissions, orders nested events by begin, gives
 * each (process, thread) its stream, looks up build-ids of modules and the state of each path
 * (FORMAT.md#files) on this machine.
 */
#ifndef WIO_TRACE_SEAL_H
#define WIO_TRACE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

struct wio_segment;

struct wio_seal_params {
    size_t struct_size;
    bool keep_rings;    /* leave the raw files (live processes, read-only directory) */
    bool look_at_files; /* record the state of the paths: only on the host and soon after the run */
    bool anonymize;     /* replace names in paths (each component by a keyed hash, depth and
                           extension kept), arguments and environment; the same name always gets
                           the same replacement within a trace */
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
    /* Called with the new segment before the events, to add META; may be NULL. */
    enum wio_status (*decorate)(void *arg, struct wio_segment *segment, struct wio_error *err);
    void *decorate_arg;
};

/*
 * Seal all rings below DIR/raw (or `ring_dir` if not NULL) into DIR/<name>.seg. No rings: a
 * segment with META only. Rings that are damaged are sealed as far as they can be read; what is
 * damaged is counted as dropped and named in *fault, if any.
 */
WIO_MUST_CHECK enum wio_status wio_seal(const char *dir, const char *ring_dir, const char *name,
                                        const struct wio_seal_params *params,
                                        struct wio_error *err);

/* The same into memory (memfd): returns a descriptor that the caller owns. */
WIO_MUST_CHECK enum wio_status wio_seal_to_fd(const char *dir, const char *ring_dir, int *fd_out,
                                              const struct wio_seal_params *params,
                                              struct wio_error *err);

/* True if DIR has rings that are not sealed. */
bool wio_seal_is_needed(const char *dir);

#endif
