/* SPDX-License-Identifier: Apache-2.0 */
/* What fwrite costs before anything goes to a file: one stream that only fills its buffer, and many
 * new ones. */
#ifndef WIO_CALIBRATE_BACKEND_STREAMS_H
#define WIO_CALIBRATE_BACKEND_STREAMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <whyio/status.h>

/* Of a stream with a buffer of its own. All zero: not there. */
struct wio_stream {
    FILE *file;
    char *buffer;
};

/* Call wio_stream_close also after a failure. WIO_ERR_IO, WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_stream_open(struct wio_stream *stream, struct wio_error *err);
void wio_stream_close(struct wio_stream *stream);

/* So many calls that stay in the buffer (8 bytes each, 1 MiB at most): what they take in all, with
 * one look at the clock, ns. */
WIO_MUST_CHECK enum wio_status wio_stream_fwrite(const struct wio_stream *stream, unsigned calls,
                                                 uint64_t *ns_out, struct wio_error *err);

/* What the first fwrite takes into each of `count` new streams of the file, which are all open at
 * the same time; each with a look at the clock, ns. The file stays. WIO_ERR_IO, WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_streams_first(const char *path, size_t count, uint64_t *ns_out,
                                                 struct wio_error *err);

#endif
