/* SPDX-License-Identifier: Apache-2.0 */
/* Text in front of a sink: many small pieces become a few large ones. */
#ifndef WIO_JOB_TEXT_BUFFER_H
#define WIO_JOB_TEXT_BUFFER_H

#include "job/stats_text.h"

#define WIO_JOB_BUFFER_BYTES 32768u

struct wio_job_buffer {
    const struct wio_job_sink *sink;
    size_t used;
    char data[WIO_JOB_BUFFER_BYTES];
};

void wio_job_buffer_flush(struct wio_job_buffer *buffer);
/* Where at most `bytes` (of WIO_JOB_BUFFER_BYTES) may be written; `used` tells how many were. */
char *wio_job_buffer_room(struct wio_job_buffer *buffer, size_t bytes);
void wio_job_buffer_bytes(struct wio_job_buffer *buffer, const char *text, size_t bytes);
void wio_job_buffer_text(struct wio_job_buffer *buffer, const char *text);
/* Right-aligned in `width` columns, at most 24. */
void wio_job_buffer_u64(struct wio_job_buffer *buffer, uint64_t value, unsigned width);
/* value / 10^digits with that many digits behind the point: at most 9. */
void wio_job_buffer_fixed(struct wio_job_buffer *buffer, uint64_t value, unsigned digits);

/* A literal: its length is known when compiling. */
#define WIO_JOB_LITERAL(buffer, literal)                                                           \
    wio_job_buffer_bytes((buffer), "" literal, sizeof(literal) - 1)

#endif
