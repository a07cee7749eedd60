/* SPDX-License-Identifier: Apache-2.0 */
#include "report/dump/dump_text.h"

#include <inttypes.h>

#include "base/text.h"
#include "report/event_text.h"

bool wio_dump_has_duration(const struct wio_event *event)
{
    return event->result != WIO_RESULT_PENDING && (event->flags & WIO_EVENT_BUFFERED) == 0;
}

void wio_dump_text_heading(struct wio_line *line)
{
    wio_line_text(line, "         TIME DURATION  RANK   THREAD  OPERATION\n");
}

void wio_dump_text(struct wio_line *line, const struct wio_trace *trace,
                   struct wio_sources *sources, const struct wio_event *event)
{
    const struct wio_stream_info *stream = wio_trace_stream(trace, event->stream);
    const struct wio_process_info *process = wio_trace_process(trace, stream->process);
    const char *source = wio_sources_text(sources, event->source);
    char text[2 * WIO_TEXT_MAX];

    snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64 " s", event->t_ns / 1000000000u,
             event->t_ns % 1000000000u / 1000u);
    wio_line_right(line, text, 13);
    wio_line_right(line, wio_dump_has_duration(event) ? wio_format_time(text, event->dur_ns) : "-",
                   9);
    snprintf(text, sizeof(text), "%" PRIi32, process->rank);
    wio_line_right(line, process->rank >= 0 ? text : "-", 6);
    snprintf(text, sizeof(text), "%" PRIi32, stream->tid);
    wio_line_right(line, text, 9);
    /* what a stdio call caused stands under it */
    wio_line_text(line, (event->flags & WIO_EVENT_CAUSED) != 0 ? "    " : "  ");
    wio_event_text(line, trace, event);
    if (source[0] != '\0') {
        WIO_LINE_LITERAL(line, "  ");
        wio_line_plain(line, source);
    }
    wio_line_byte(line, '\n');
}
