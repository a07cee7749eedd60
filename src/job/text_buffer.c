/* SPDX-License-Identifier: Apache-2.0 */
#include "job/text_buffer.h"

#include <string.h>

#define NUMBER_BYTES 24u

void wio_job_buffer_flush(struct wio_job_buffer *buffer)
{
    if (buffer->used > 0) {
        buffer->sink->put(buffer->sink->context, buffer->data, buffer->used);
        buffer->used = 0;
    }
}

char *wio_job_buffer_room(struct wio_job_buffer *buffer, size_t bytes)
{
    if (bytes > WIO_JOB_BUFFER_BYTES - buffer->used) {
        wio_job_buffer_flush(buffer);
    }
    return buffer->data + buffer->used;
}

void wio_job_buffer_bytes(struct wio_job_buffer *buffer, const char *text, size_t bytes)
{
    while (bytes > 0) {
        const size_t piece = bytes < WIO_JOB_BUFFER_BYTES ? bytes : WIO_JOB_BUFFER_BYTES;
        memcpy(wio_job_buffer_room(buffer, piece), text, piece);
        buffer->used += piece;
        text += piece;
        bytes -= piece;
    }
}

void wio_job_buffer_text(struct wio_job_buffer *buffer, const char *text)
{
    wio_job_buffer_bytes(buffer, text, strlen(text));
}

/* Digits that end before `end`; where they begin. */
static char *put_digits(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return end;
}

void wio_job_buffer_u64(struct wio_job_buffer *buffer, uint64_t value, unsigned width)
{
    char digits[NUMBER_BYTES];
    char *end = digits + sizeof(digits);
    char *from = put_digits(end, value);
    const size_t bytes = (size_t)(end - from);
    const size_t padded = width > bytes ? width : bytes;
    char *at = wio_job_buffer_room(buffer, padded);
    memset(at, ' ', padded - bytes);
    memcpy(at + padded - bytes, from, bytes);
    buffer->used += padded;
}

void wio_job_buffer_fixed(struct wio_job_buffer *buffer, uint64_t value, unsigned digits)
{
    char text[NUMBER_BYTES];
    char *end = text + sizeof(text);
    uint64_t unit = 1;
    for (unsigned i = 0; i < digits; i++) {
        unit *= 10;
    }
    wio_job_buffer_u64(buffer, value / unit, 0);
    char *from = put_digits(end, value % unit);
    while ((size_t)(end - from) < digits) {
        *--from = '0';
    }
    *--from = '.';
    wio_job_buffer_bytes(buffer, from, (size_t)(end - from));
}
