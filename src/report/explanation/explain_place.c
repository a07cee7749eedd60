/* SPDX-License-Identifier: Apache-2.0 */
/* What text and JSON of an explanation have in common. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ops/code_owner.h"
#include "report/explanation/explain.h"
#include "report/explanation/layouts.h"

#define SHOWN 0.95
#define FRAMES 64u
#define COMMAND_MAX 60
#define ADDRESS_MAX 60

void wio_report_place_text(const char *text, struct wio_report_place *place)
{
    const char *open = strrchr(text, '(');
    const char *begin = open != NULL ? open + 1 : text;
    const char *colon = strrchr(begin, ':');
    size_t bytes = 0;
    char *end = NULL;

    if (colon != NULL && (open == NULL || open > text)) {
        unsigned long line = strtoul(colon + 1, &end, 10);
        bytes = (size_t)(colon - begin);
        if (end != colon + 1 && bytes < sizeof(place->file)) {
            memcpy(place->file, begin, bytes);
            place->file[bytes] = '\0';
            place->line = (unsigned)line;
            bytes = open != NULL ? (size_t)(open - text) - 1 : 0;
            bytes = bytes < sizeof(place->function) ? bytes : sizeof(place->function) - 1;
            memcpy(place->function, text, bytes);
            place->function[bytes] = '\0';
            return;
        }
    }
    bytes = strnlen(text, sizeof(place->function) - 1);
    memcpy(place->function, text, bytes);
    place->function[bytes] = '\0';
}

/* The library whose frame is the innermost, above the line of the program. */
static void find_library(const struct wio_trace *trace, struct wio_sources *sources,
                         uint32_t source, struct wio_report_place *place)
{
    struct wio_frame frame;

    if (wio_trace_source(trace, source, &frame, 1) == 0) {
        return;
    }
    const struct wio_code_owner owner = wio_code_owner(frame.module);
    if (owner.kind != WIO_CODE_LIBRARY || owner.name[0] == '\0') {
        return;
    }
    place->library = owner.name;
    (void)snprintf(place->called, sizeof(place->called), "%s", wio_sources_text(sources, source));
}

void wio_report_place_of(const struct wio_trace *trace, struct wio_sources *sources,
                         uint32_t source, uint32_t frame, struct wio_report_place *place_out)
{
    struct wio_frame frames[FRAMES];
    struct wio_source_words words = {.text = ""};

    *place_out = (struct wio_report_place){.library = ""};
    if (sources == NULL) {
        return;
    }
    if (frame < FRAMES && wio_trace_source(trace, source, frames, FRAMES) > frame) {
        wio_sources_words(sources, &frames[frame], &words);
    }
    wio_report_place_text(words.text, place_out);
    find_library(trace, sources, source, place_out);
}

/* What an interpreter runs whose lines are not known is told by its command: "sh run.sh
 * (dash+0x1)". */
static void name_command(const struct wio_explanation *explanation, uint32_t step,
                         struct wio_report_place *place)
{
    const struct wio_steps *steps = &explanation->steps;
    uint32_t number = steps->sites[steps->steps[step].site].place;
    const struct wio_stream_info *stream =
        wio_trace_stream(explanation->trace, steps->steps[step].stream);
    const char *argv = wio_trace_process(explanation->trace, stream->process)->argv;
    struct wio_frame frames[FRAMES];
    char address[sizeof(place->function)];
    uint32_t frame = steps->places.frame_numbers[number];

    if (frame >= FRAMES || argv[0] == '\0' ||
        wio_trace_source(explanation->trace, steps->places.sources[number], frames, FRAMES) <=
            frame ||
        wio_code_owner(frames[frame].module).kind != WIO_CODE_INTERPRETER) {
        return;
    }
    memcpy(address, place->function, sizeof(address));
    (void)snprintf(place->function, sizeof(place->function), "%.*s (%.*s)", COMMAND_MAX, argv,
                   ADDRESS_MAX, address);
}

void wio_report_place(const struct wio_explanation *explanation, struct wio_sources *sources,
                      uint32_t step, struct wio_report_place *place_out)
{
    const struct wio_steps *steps = &explanation->steps;
    uint32_t place = steps->sites[steps->steps[step].site].place;

    *place_out = (struct wio_report_place){.library = ""};
    if (place != 0) {
        wio_report_place_of(explanation->trace, sources, steps->places.sources[place],
                            steps->places.frame_numbers[place], place_out);
        name_command(explanation, step, place_out);
    }
}

uint32_t wio_report_classes(const struct wio_explanation *explanation)
{
    const struct wio_waiting *waiting = &explanation->waiting;
    uint64_t sum = 0;
    uint32_t count = 0;

    while (count < waiting->class_count && (double)sum < SHOWN * (double)waiting->total_ns) {
        sum += waiting->classes[count++].total_ns;
    }
    return count;
}

uint32_t wio_report_parts(const struct wio_wait_class *class, uint32_t *order)
{
    double all = 0;
    double sum = 0;
    uint32_t count = 0;
    uint32_t shown = 0;

    for (uint32_t i = 0; i < class->part_count; i++) {
        uint32_t at = count++;
        all += fabs(class->parts[i].relative);
        for (;
             at > 0 && fabs(class->parts[order[at - 1]].relative) < fabs(class->parts[i].relative);
             at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    while (shown < count && sum < SHOWN * all) {
        sum += fabs(class->parts[order[shown++]].relative);
    }
    return shown;
}

const char *wio_report_cause(const struct wio_explanation *explanation, uint32_t cause)
{
    return wio_step_op_name(wio_steps_cause_op(&explanation->steps, cause));
}

const char *wio_report_program(const struct wio_explanation *explanation, uint32_t step)
{
    const struct wio_trace *trace = explanation->trace;
    uint32_t stream = explanation->steps.steps[step].stream;
    const char *exe = wio_trace_process(trace, wio_trace_stream(trace, stream)->process)->exe;
    const char *slash = strrchr(exe, '/');

    return slash != NULL ? slash + 1 : exe;
}

const char *wio_report_path(const struct wio_explanation *explanation, uint32_t path)
{
    return path == WIO_SEVERAL_FILES ? "several files"
                                     : wio_trace_string(explanation->trace, path, NULL);
}

const char *wio_report_finding_layout(const struct wio_explanation *explanation,
                                      const struct wio_finding *finding)
{
    const struct wio_patterns *patterns = &explanation->patterns;

    if (finding->path >= patterns->file_capacity || patterns->files[finding->path].ops == 0 ||
        patterns->files[finding->path].info == UINT32_MAX) {
        return "";
    }
    return wio_report_layout_of(
        explanation->trace,
        wio_trace_file(explanation->trace, patterns->files[finding->path].info));
}

void wio_report_place_json(const struct wio_report_place *place, struct wio_json *json)
{
    wio_json_known(json, "function", place->function);
    wio_json_known(json, "file", place->file);
    if (place->line == 0) {
        wio_json_null(json, "line");
    } else {
        wio_json_u64(json, "line", place->line);
    }
}
