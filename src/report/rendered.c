/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rendered.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/json.h"

#define MAX_STACK 64u

static const struct wio_rendered_text null_text = {(char[]){"null"}, 4};
static const struct wio_rendered_text null_source = {(char[]){"\"source\": null, \"stack\": null"},
                                                     29};

enum wio_status wio_rendered_init(struct wio_rendered *rendered, const struct wio_trace *trace,
                                  struct wio_error *err)
{
    *rendered = (struct wio_rendered){.trace = trace};
    rendered->path_count = wio_trace_string_count(trace) + 1;
    rendered->stream_count = wio_trace_stream_count(trace);
    rendered->paths = calloc(rendered->path_count, sizeof(*rendered->paths));
    rendered->streams = calloc(2 * (size_t)rendered->stream_count + 1, sizeof(*rendered->streams));
    if (rendered->paths == NULL || rendered->streams == NULL) {
        wio_rendered_fini(rendered);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the texts of a trace");
    }
    enum wio_status status = wio_sources_create(trace, &rendered->sources, err);
    if (status == WIO_OK) {
        status = wio_own_frames_create(trace, &rendered->own, err);
    }
    if (status != WIO_OK) {
        wio_rendered_fini(rendered);
        return status;
    }
    /* where a trace is damaged its own reader says so; what was noted before serves */
    (void)!wio_own_frames_read(rendered->own, NULL);
    return WIO_OK;
}

static void free_texts(struct wio_rendered_text *texts, size_t count)
{
    for (size_t i = 0; texts != NULL && i < count; i++) {
        free(texts[i].text);
    }
    free(texts);
}

void wio_rendered_fini(struct wio_rendered *rendered)
{
    free_texts(rendered->paths, rendered->path_count);
    free_texts(rendered->streams, 2 * (size_t)rendered->stream_count);
    free_texts(rendered->source_texts, rendered->source_count);
    free_texts(rendered->own_texts, rendered->own_count);
    wio_own_frames_destroy(rendered->own);
    wio_sources_destroy(rendered->sources);
    *rendered = (struct wio_rendered){0};
}

/* A stream into `place`; NULL where memory is short. */
static FILE *begin_text(struct wio_rendered_text *place, struct wio_json *json)
{
    FILE *out = open_memstream(&place->text, &place->bytes);

    if (out != NULL) {
        wio_json_init(json, out);
    }
    return out;
}

/* False, and nothing is kept, where memory was short. */
static bool end_text(struct wio_rendered_text *place, FILE *out)
{
    if (fclose(out) == 0) {
        return true;
    }
    free(place->text);
    *place = (struct wio_rendered_text){0};
    return false;
}

const struct wio_rendered_text *wio_rendered_path(struct wio_rendered *rendered, uint32_t path)
{
    struct wio_rendered_text *place = &rendered->paths[path];
    struct wio_json json;
    const char *text;
    size_t bytes;
    FILE *out;

    if (path == WIO_NO_STRING || path >= rendered->path_count) {
        return &null_text;
    }
    if (place->text != NULL) {
        return place;
    }
    out = begin_text(place, &json);
    if (out == NULL) {
        return &null_text;
    }
    text = wio_trace_string(rendered->trace, path, &bytes);
    wio_json_text(&json, NULL, text, bytes);
    return end_text(place, out) ? place : &null_text;
}

/* Room for source ids up to `source`, which has to be one of the trace: a damaged event can name
 * any number. */
static bool grow_sources(struct wio_rendered *rendered, uint32_t source)
{
    void *texts = rendered->source_texts;

    if (wio_trace_source(rendered->trace, source, NULL, 0) == 0) {
        return false;
    }
    if (source == UINT32_MAX || wio_grow(&texts, sizeof(*rendered->source_texts),
                                         &rendered->source_count, source + 1) != WIO_OK) {
        return false;
    }
    rendered->source_texts = texts;
    return true;
}

static void put_stack(struct wio_json *json, struct wio_rendered *rendered, uint32_t source)
{
    const char *frames[MAX_STACK];
    uint32_t count = wio_sources_stack(rendered->sources, source, frames, MAX_STACK);

    if (count < 2) {
        wio_json_null(json, "stack");
        return;
    }
    wio_json_array_begin(json, "stack");
    for (uint32_t i = 0; i < count; i++) {
        wio_json_string(json, NULL, frames[i]);
    }
    wio_json_array_end(json);
}

const struct wio_rendered_text *wio_rendered_source(struct wio_rendered *rendered, uint32_t source)
{
    struct wio_rendered_text *place;
    struct wio_json json;
    const char *text;
    FILE *out;

    if (source == 0 || !grow_sources(rendered, source)) {
        return &null_source;
    }
    place = &rendered->source_texts[source];
    if (place->text != NULL) {
        return place;
    }
    out = begin_text(place, &json);
    if (out == NULL) {
        return &null_source;
    }
    text = wio_sources_text(rendered->sources, source);
    wio_json_string(&json, "source", text[0] != '\0' ? text : NULL);
    put_stack(&json, rendered, source);
    return end_text(place, out) ? place : &null_source;
}

static void put_or_null(struct wio_json *json, const char *key, const char *text)
{
    wio_json_string(json, key, text[0] != '\0' ? text : NULL);
}

static void put_thread(struct wio_json *json, const struct wio_stream_info *info,
                       const struct wio_process_info *process)
{
    if (process->rank >= 0) {
        wio_json_i64(json, "rank", process->rank);
    } else {
        wio_json_null(json, "rank");
    }
    wio_json_i64(json, "pid", process->pid);
    wio_json_i64(json, "tid", info->tid);
}

static void put_place(struct wio_json *json, const struct wio_stream_info *info,
                      const struct wio_process_info *process)
{
    (void)info;
    put_or_null(json, "job", process->job);
    put_or_null(json, "host", process->host);
}

typedef void put_fn(struct wio_json *json, const struct wio_stream_info *info,
                    const struct wio_process_info *process);

/* Made when it is asked for first. */
static const struct wio_rendered_text *text_of(struct wio_rendered *rendered, uint32_t stream,
                                               struct wio_rendered_text *place, put_fn *put)
{
    const struct wio_stream_info *info = wio_trace_stream(rendered->trace, stream);
    struct wio_json json;

    if (place->text != NULL) {
        return place;
    }
    FILE *out = begin_text(place, &json);
    if (out == NULL) {
        return &null_text;
    }
    put(&json, info, wio_trace_process(rendered->trace, info->process));
    return end_text(place, out) ? place : &null_text;
}

const struct wio_rendered_text *wio_rendered_stream(struct wio_rendered *rendered, uint32_t stream)
{
    return text_of(rendered, stream, &rendered->streams[2 * (size_t)stream], put_thread);
}

const struct wio_rendered_text *wio_rendered_job(struct wio_rendered *rendered, uint32_t stream)
{
    return text_of(rendered, stream, &rendered->streams[2 * (size_t)stream + 1], put_place);
}

const struct wio_rendered_text *wio_rendered_own_source(struct wio_rendered *rendered,
                                                        uint32_t stream, uint32_t source)
{
    struct wio_own_frame frame;
    void *texts = rendered->own_texts;
    struct wio_json json;

    if (!wio_own_frames_find(rendered->own, stream, source, &frame) || frame.text[0] == '\0' ||
        wio_grow(&texts, sizeof(*rendered->own_texts), &rendered->own_count, frame.source + 1) !=
            WIO_OK) {
        return &null_text;
    }
    rendered->own_texts = texts;
    struct wio_rendered_text *place = &rendered->own_texts[frame.source];
    if (place->text != NULL) {
        return place;
    }
    FILE *out = begin_text(place, &json);
    if (out == NULL) {
        return &null_text;
    }
    wio_json_string(&json, NULL, frame.text);
    return end_text(place, out) ? place : &null_text;
}
