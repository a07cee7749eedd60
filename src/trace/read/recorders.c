/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/read/recorders.h"

#include <string.h>

#include <whyio/segment.h>

#include "base/cleanup.h"
#include "trace/read/trace_internal.h"

uint32_t wio_trace_recorder_count(const struct wio_trace *trace)
{
    return trace->segment_count;
}

enum wio_status wio_trace_recorder(const struct wio_trace *trace, uint32_t i,
                                   struct wio_recorder_info *info_out)
{
    WIO_PRE(i < trace->segment_count);
    const struct wio_reader_segment *segment = &trace->segments[i];
    info_out->boot_id = segment->boot_id;
    WIO_TRY(
        wio_reader_meta(segment, WIO_SEGMENT_META_HOST, &info_out->host, &info_out->host_bytes));
    WIO_TRY(wio_reader_meta(segment, WIO_SEGMENT_META_KERNEL, &info_out->kernel,
                            &info_out->kernel_bytes));
    WIO_TRY(wio_reader_meta(segment, WIO_SEGMENT_META_MACHINE, &info_out->machine,
                            &info_out->machine_bytes));
    WIO_TRY(wio_reader_meta(segment, WIO_SEGMENT_META_OPTIONS, &info_out->options,
                            &info_out->options_bytes));
    return wio_reader_meta(segment, WIO_SEGMENT_META_MOUNTS, &info_out->mounts,
                           &info_out->mounts_bytes);
}

/* R-META-1: decimal digits up to the end of the line. */
static bool read_number(const char *text, const char *end, uint64_t *out)
{
    uint64_t number = 0;
    const char *at = text;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (number > (UINT64_MAX - 9) / 10) {
            return false;
        }
        number = number * 10 + (uint64_t)(*at - '0');
    }
    *out = number;
    return at > text && at == end;
}

bool wio_meta_number(const char *text, size_t bytes, const char *name, uint64_t *out)
{
    size_t length = strlen(name);
    const char *line = text;
    const char *end = line + bytes;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop != NULL ? stop : end;
        bool is_it = (size_t)(stop - line) > length && memcmp(line, name, length) == 0 &&
                     line[length] == ' ';
        if (is_it) {
            return read_number(line + length + 1, stop, out);
        }
        line = stop < end ? stop + 1 : end;
    }
    return false;
}

bool wio_recorder_fact(const struct wio_recorder_info *info, const char *name, uint64_t *out)
{
    return wio_meta_number(info->machine, info->machine_bytes, name, out);
}

bool wio_recorder_has_option(const struct wio_recorder_info *info, const char *name)
{
    size_t length = strlen(name);
    const char *word = info->options;
    const char *end = word + info->options_bytes;
    while (word < end) {
        const char *stop = memchr(word, ' ', (size_t)(end - word));
        stop = stop != NULL ? stop : end;
        if ((size_t)(stop - word) == length && memcmp(word, name, length) == 0) {
            return true;
        }
        word = stop < end ? stop + 1 : end;
    }
    return false;
}
