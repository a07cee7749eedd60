/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/recorders.h"

#include "base/cleanup.h"
#include "trace/segment.h"
#include "trace/trace_internal.h"

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
    return wio_reader_meta(segment, WIO_SEGMENT_META_MOUNTS, &info_out->mounts,
                           &info_out->mounts_bytes);
}
