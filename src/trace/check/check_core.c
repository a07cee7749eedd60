/* SPDX-License-Identifier: Apache-2.0 */
/* Reporting a fault, and where the index and the blocks say that something is. */
#include "trace/check/check_internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/bisect.h"

void wio_check_report(struct wio_check *check, const struct wio_error *fault)
{
    check->faults++;
    check->fault(check->arg, fault);
}

void wio_check_fault(struct wio_check *check, uint64_t offset, const char *fmt, ...)
{
    struct wio_error fault = WIO_ERROR_INIT;
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    (void)wio_error_set(&fault, WIO_ERR_FORMAT, check->trace->segments[0].name, offset, "%s", text);
    wio_check_report(check, &fault);
}

uint64_t wio_check_offset_of(const struct wio_check *check, unsigned kind)
{
    for (uint32_t i = 0; i < check->block_count; i++) {
        if (check->blocks[i].kind == kind) {
            return check->blocks[i].offset;
        }
    }
    return WIO_SEGMENT_HEADER_BYTES;
}

const struct wio_check_entry *wio_check_entry_from(const struct wio_check *check, uint64_t offset)
{
    size_t first = WIO_FIRST(i, 0, check->entry_count, check->entries[i].offset >= offset);
    return first < check->entry_count ? &check->entries[first] : NULL;
}
