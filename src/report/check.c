/* SPDX-License-Identifier: Apache-2.0 */
#include "report/check.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/text.h"
#include "report/line.h"

static void print_json(const struct wio_check_report *report, const struct wio_error *fault)
{
    struct wio_json json;

    wio_json_init(&json, report->out);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.check/1");
    wio_json_string(&json, "file", fault->file[0] != '\0' ? fault->file : NULL);
    if (fault->offset != WIO_ERROR_NO_OFFSET) {
        wio_json_u64(&json, "offset", fault->offset);
    } else {
        wio_json_null(&json, "offset");
    }
    wio_json_string(&json, "message", fault->message);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

void wio_report_fault(void *report, const struct wio_error *fault)
{
    struct wio_check_report *self = report;
    char text[sizeof(fault->message) + sizeof(fault->file) + 64];

    self->faults++;
    if (self->is_json) {
        print_json(self, fault);
        return;
    }
    wio_error_format(fault, text, sizeof(text));
    wio_print_plain(self->out, text); /* it may quote names of the trace */
    fputc('\n', self->out);
}

/* No fault of the trace: the recorder had no room for them, or was told to keep so many. */
static void print_dropped(const struct wio_check_report *report)
{
    char text[WIO_TEXT_MAX];
    if (report->dropped == 0) {
        return;
    }
    fprintf(report->out, "; %s event%s dropped when it was recorded",
            wio_format_count(text, report->dropped), report->dropped == 1 ? "" : "s");
    if (report->evicted > 0) {
        fprintf(report->out, ", %s of them from its begin",
                wio_format_count(text, report->evicted));
    }
}

void wio_report_check_end(const struct wio_check_report *report)
{
    struct wio_json json;

    if (report->is_json) {
        wio_json_init(&json, report->out);
        wio_json_object_begin(&json, NULL);
        wio_json_string(&json, "schema", "whyio.check/1");
        wio_json_bool(&json, "ok", report->faults == 0);
        wio_json_u64(&json, "faults", report->faults);
        wio_json_u64(&json, "dropped", report->dropped);
        wio_json_u64(&json, "evicted", report->evicted);
        wio_json_object_end(&json);
        wio_json_line(&json);
        return;
    }
    wio_print_plain(report->out, report->name);
    if (report->faults == 0) {
        fprintf(report->out, ": no fault");
    } else {
        fprintf(report->out, ": %" PRIu64 " fault%s", report->faults,
                report->faults == 1 ? "" : "s");
    }
    print_dropped(report);
    fputc('\n', report->out);
}
