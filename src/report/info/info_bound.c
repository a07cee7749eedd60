/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording with a bound has kept, and what each of its processes lost. */
#include <inttypes.h>

#include "base/text.h"
#include "report/info/info_bound.h"
#include "report/line.h"

/* Processes as text: those that lost most. */
#define LOSSES_SHOWN 5u

void wio_report_bound_json(struct wio_json *json, const struct wio_report_info *report)
{
    const struct wio_summary *summary = report->summary;

    if (summary->info.max_bytes == 0) {
        wio_json_null(json, "bound");
        return;
    }
    wio_json_object_begin(json, "bound");
    wio_json_u64(json, "max_size", summary->info.max_bytes);
    wio_json_string(json, "keep", summary->info.keeps_last ? "last" : "first");
    wio_json_u64(json, "evicted", summary->info.evicted);
    wio_json_array_begin(json, "processes");
    for (size_t i = 0; i < summary->loss_count && i < report->rows; i++) {
        const struct wio_process_info *process = summary->losses[i];
        wio_json_object_begin(json, NULL);
        wio_json_string(json, "host", process->host);
        wio_json_i64(json, "pid", process->pid);
        if (process->rank >= 0) {
            wio_json_i64(json, "rank", process->rank);
        } else {
            wio_json_null(json, "rank");
        }
        wio_json_u64(json, "dropped", process->dropped);
        wio_json_u64(json, "evicted", process->evicted);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
    wio_json_object_end(json);
}

void wio_report_bound_text(const struct wio_summary *summary, FILE *out)
{
    const struct wio_trace_info *info = &summary->info;
    char text[WIO_TEXT_MAX];

    if (info->max_bytes == 0) {
        return;
    }
    fprintf(out, "%14s of events at most were kept, the %s ones",
            wio_format_size(text, info->max_bytes), info->keeps_last ? "last" : "first");
    if (info->evicted > 0) {
        fprintf(out, ": %s before them were overwritten", wio_format_count(text, info->evicted));
    }
    fputc('\n', out);
    for (size_t i = 0; i < summary->loss_count && i < LOSSES_SHOWN; i++) {
        const struct wio_process_info *process = summary->losses[i];
        fprintf(out, "%14s dropped of process %" PRIi32 " of ",
                wio_format_count(text, process->dropped), process->pid);
        wio_print_plain(out, process->host);
        fputc('\n', out);
    }
    if (summary->loss_count > LOSSES_SHOWN) {
        fprintf(out, "%14s %zu more processes\n", "", summary->loss_count - LOSSES_SHOWN);
    }
}
