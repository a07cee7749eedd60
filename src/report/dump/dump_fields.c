/* SPDX-License-Identifier: Apache-2.0 */
#include "report/dump/dump_fields.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ops/calls.h"
#include "report/dump/dump_text.h"

#define LIST_MOST 64u

enum value_kind { VALUE_NULL, VALUE_TEXT, VALUE_SIGNED, VALUE_UNSIGNED, VALUE_BOOL, VALUE_LIST };

/* A list has texts, or numbers where `texts` is NULL. */
struct dump_value {
    enum value_kind kind;
    const char *text;
    size_t bytes;
    int64_t number; /* SIGNED, BOOL */
    uint64_t large; /* UNSIGNED */
    const char *texts[LIST_MOST];
    const int64_t *numbers;
    size_t count;
};

struct dump_source {
    struct wio_rendered *rendered;
    const struct wio_event *event;
    const struct wio_stream_info *stream;
    const struct wio_process_info *process;
};

unsigned wio_dump_flags(unsigned flags, const char **names_out)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {WIO_EVENT_ASYNC, "async"},       {WIO_EVENT_RAW, "raw"}, {WIO_EVENT_VFORK, "vfork"},
        {WIO_EVENT_BUFFERED, "buffered"}, {WIO_EVENT_MPI, "mpi"}, {WIO_EVENT_HOLD, "hold"},
    };
    unsigned count = 0;

    for (size_t i = 0; i < WIO_ARRAY_SIZE(names) && flags != 0; i++) {
        if ((flags & names[i].bit) != 0) {
            names_out[count++] = names[i].name;
        }
    }
    return count;
}

/* ---- values ---- */

static void set_text(struct dump_value *value, const char *text)
{
    value->kind = text != NULL && text[0] != '\0' ? VALUE_TEXT : VALUE_NULL;
    value->text = text;
    value->bytes = text != NULL ? strlen(text) : 0;
}

static void set_signed(struct dump_value *value, int64_t number, bool is_known)
{
    value->kind = is_known ? VALUE_SIGNED : VALUE_NULL;
    value->number = number;
}

static void set_unsigned(struct dump_value *value, uint64_t number, bool is_known)
{
    value->kind = is_known ? VALUE_UNSIGNED : VALUE_NULL;
    value->large = number;
}

static void set_bool(struct dump_value *value, bool is_true, bool is_known)
{
    value->kind = is_known ? VALUE_BOOL : VALUE_NULL;
    value->number = is_true;
}

static void set_path(struct dump_value *value, const struct dump_source *from, uint32_t path)
{
    value->text = wio_trace_string(from->rendered->trace, path, &value->bytes);
    value->kind = value->bytes > 0 ? VALUE_TEXT : VALUE_NULL;
}

static void set_stack(struct dump_value *value, const struct dump_source *from)
{
    value->count =
        wio_sources_stack(from->rendered->sources, from->event->source, value->texts, LIST_MOST);
    value->kind = value->count < 2 ? VALUE_NULL : VALUE_LIST;
}

static void set_own_source(struct dump_value *value, const struct dump_source *from)
{
    struct wio_own_frame frame;
    bool is_known =
        wio_own_frames_find(from->rendered->own, from->event->stream, from->event->source, &frame);

    set_text(value, is_known ? frame.text : NULL);
}

static void set_args(struct dump_value *value, const struct dump_source *from)
{
    value->kind = VALUE_LIST;
    value->numbers = from->event->arg;
    value->count = WIO_ARRAY_SIZE(from->event->arg);
}

static void set_flags(struct dump_value *value, const struct dump_source *from)
{
    value->kind = VALUE_LIST;
    value->count = wio_dump_flags(from->event->flags, value->texts);
}

/* name, statement that sets `value` from `from` and its event `event`, is it in CSV by itself */
#define FIELDS(X)                                                                                  \
    X(rank, set_signed(value, from->process->rank, from->process->rank >= 0), true)                \
    X(pid, set_signed(value, from->process->pid, true), true)                                      \
    X(tid, set_signed(value, from->stream->tid, true), true)                                       \
    X(seq, set_unsigned(value, event->seq, true), true)                                            \
    X(t_ns, set_unsigned(value, event->t_ns, true), true)                                          \
    X(dur_ns, set_unsigned(value, event->dur_ns, wio_dump_has_duration(event)), true)              \
    X(op, set_text(value, wio_op_name(event->op)), true)                                           \
    X(path, set_path(value, from, event->path), true)                                              \
    X(path2, set_path(value, from, event->path2), true)                                            \
    X(fd, set_signed(value, event->fd, event->fd != WIO_NO_FD), true)                              \
    X(offset, set_signed(value, event->offset, event->offset != WIO_NO_OFFSET), true)              \
    X(size, set_unsigned(value, event->size, event->size != WIO_NO_SIZE), true)                    \
    X(result, set_signed(value, event->result, event->result != WIO_RESULT_PENDING), true)         \
    X(errno, set_unsigned(value, event->error, event->result != WIO_RESULT_PENDING), true)         \
    X(job, set_text(value, from->process->job), true)                                              \
    X(host, set_text(value, from->process->host), false)                                           \
    X(source, set_text(value, wio_sources_text(from->rendered->sources, event->source)), true)     \
    X(stack, set_stack(value, from), false)                                                        \
    X(own_source, set_own_source(value, from), false)                                              \
    X(errno_name, set_text(value, event->error != 0 ? strerrorname_np(event->error) : NULL),       \
      false)                                                                                       \
    X(call, set_text(value, wio_call_name(event->call)), false)                                    \
    X(fd2, set_signed(value, event->fd2, event->fd2 != WIO_NO_FD), false)                          \
    X(offset2, set_signed(value, event->offset2, event->offset2 != WIO_NO_OFFSET), false)          \
    X(args, set_args(value, from), false)                                                          \
    X(caused, set_bool(value, (event->flags & WIO_EVENT_CAUSED) != 0, true), false)                \
    X(flags, set_flags(value, from), false)                                                        \
    X(gap_cpu_ns, set_unsigned(value, event->gap_cpu_ns, event->gap_cpu_ns != 0), false)           \
    X(gap_slept, set_bool(value, event->gap_slept != 0, event->gap_cpu_ns != 0), false)            \
    X(dur_cpu_ns, set_unsigned(value, event->dur_cpu_ns, event->dur_cpu_ns != 0), false)           \
    X(dur_slept, set_bool(value, event->dur_slept != 0, event->dur_cpu_ns != 0), false)

#define FIELD_FUNCTION(name, statement, is_in_csv)                                                 \
    static void set_##name##_field(struct dump_value *value, const struct dump_source *from)       \
    {                                                                                              \
        const struct wio_event *event = from->event;                                               \
        (void)event;                                                                               \
        statement;                                                                                 \
    }
#undef errno /* the field's name */
FIELDS(FIELD_FUNCTION)

static const struct {
    const char *name;
    void (*set)(struct dump_value *value, const struct dump_source *from);
    bool is_in_csv;
} all_fields[] = {
#define FIELD_ROW(name, statement, is_in_csv) {#name, set_##name##_field, is_in_csv},
    FIELDS(FIELD_ROW)};

_Static_assert(WIO_ARRAY_SIZE(all_fields) <= WIO_DUMP_FIELDS_MOST, "each field fits once");

/* ---- the list ---- */

static enum wio_status no_field(const char *name, size_t bytes, struct wio_error *err)
{
    char text[64] = "";
    unsigned least = 3;
    const char *nearest = NULL;

    memcpy(text, name, bytes < sizeof(text) ? bytes : sizeof(text) - 1);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(all_fields); i++) {
        unsigned distance = wio_text_distance(text, all_fields[i].name);
        if (distance < least) {
            least = distance;
            nearest = all_fields[i].name;
        }
    }
    if (nearest != NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "'%s' is no field, did you mean '%s'?", text, nearest);
    }
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "'%s' is no field", text);
}

static enum wio_status add_field(const char *name, size_t bytes, struct wio_dump_fields *fields,
                                 struct wio_error *err)
{
    size_t at = 0;

    while (at < WIO_ARRAY_SIZE(all_fields) &&
           (strncmp(all_fields[at].name, name, bytes) != 0 || all_fields[at].name[bytes] != '\0')) {
        at++;
    }
    if (at == WIO_ARRAY_SIZE(all_fields)) {
        return no_field(name, bytes, err);
    }
    if (memchr(fields->fields, (int)at, fields->count) != NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "field '%s' is there twice", all_fields[at].name);
    }
    fields->fields[fields->count++] = (uint8_t)at;
    return WIO_OK;
}

enum wio_status wio_dump_fields_parse(const char *text, struct wio_dump_fields *fields_out,
                                      struct wio_error *err)
{
    *fields_out = (struct wio_dump_fields){.count = 0};
    for (;;) {
        size_t bytes = strcspn(text, ",");
        WIO_TRY(add_field(text, bytes, fields_out, err));
        if (text[bytes] == '\0') {
            return WIO_OK;
        }
        text += bytes + 1;
    }
}

void wio_dump_fields_of_csv(struct wio_dump_fields *fields_out)
{
    *fields_out = (struct wio_dump_fields){.count = 0};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(all_fields); i++) {
        if (all_fields[i].is_in_csv) {
            fields_out->fields[fields_out->count++] = (uint8_t)i;
        }
    }
}

/* ---- lines ---- */

static struct dump_source source_of(struct wio_rendered *rendered, const struct wio_event *event)
{
    struct dump_source from = {.rendered = rendered, .event = event};

    from.stream = wio_trace_stream(rendered->trace, event->stream);
    from.process = wio_trace_process(rendered->trace, from.stream->process);
    return from;
}

static void put_json_list(struct wio_line *line, const struct dump_value *value)
{
    wio_line_byte(line, '[');
    for (size_t i = 0; i < value->count; i++) {
        wio_line_text(line, i > 0 ? ", " : "");
        if (value->numbers != NULL) {
            wio_line_i64(line, value->numbers[i]);
        } else {
            wio_line_json(line, value->texts[i], strlen(value->texts[i]));
        }
    }
    wio_line_byte(line, ']');
}

static void put_json(struct wio_line *line, const struct dump_value *value)
{
    switch (value->kind) {
    case VALUE_NULL:
        WIO_LINE_LITERAL(line, "null");
        return;
    case VALUE_TEXT:
        wio_line_json(line, value->text, value->bytes);
        return;
    case VALUE_SIGNED:
        wio_line_i64(line, value->number);
        return;
    case VALUE_UNSIGNED:
        wio_line_u64(line, value->large);
        return;
    case VALUE_BOOL:
        wio_line_text(line, value->number != 0 ? "true" : "false");
        return;
    case VALUE_LIST:
        put_json_list(line, value);
        return;
    }
}

void wio_dump_fields_put_json(const struct wio_dump_fields *fields, struct wio_line *line,
                              struct wio_rendered *rendered, const struct wio_event *event)
{
    const struct dump_source from = source_of(rendered, event);

    WIO_LINE_LITERAL(line, "{\"schema\": \"whyio.dump_fields/1\"");
    for (unsigned i = 0; i < fields->count; i++) {
        struct dump_value value;
        value.numbers = NULL;
        all_fields[fields->fields[i]].set(&value, &from);
        WIO_LINE_LITERAL(line, ", \"");
        wio_line_text(line, all_fields[fields->fields[i]].name);
        WIO_LINE_LITERAL(line, "\": ");
        put_json(line, &value);
    }
    WIO_LINE_LITERAL(line, "}\n");
}

void wio_dump_fields_put_heading(const struct wio_dump_fields *fields, struct wio_line *line)
{
    for (unsigned i = 0; i < fields->count; i++) {
        wio_line_text(line, i > 0 ? "," : "");
        wio_line_text(line, all_fields[fields->fields[i]].name);
    }
    wio_line_byte(line, '\n');
}

static bool needs_quotes(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r') {
            return true;
        }
    }
    return bytes > 0 && (text[0] == ' ' || text[bytes - 1] == ' ');
}

static void put_csv_text(struct wio_line *line, const char *text, size_t bytes)
{
    if (!needs_quotes(text, bytes)) {
        wio_line_bytes(line, text, bytes);
        return;
    }
    wio_line_byte(line, '"');
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"') {
            wio_line_byte(line, '"');
        }
        wio_line_byte(line, text[i]);
    }
    wio_line_byte(line, '"');
}

/* Texts of lists are names and source places: they are quoted as a whole. */
static void put_csv_list(struct wio_line *line, const struct dump_value *value)
{
    bool is_quoted = value->numbers == NULL && value->count > 0;

    wio_line_text(line, is_quoted ? "\"" : "");
    for (size_t i = 0; i < value->count; i++) {
        wio_line_text(line, i > 0 ? " " : "");
        if (value->numbers != NULL) {
            wio_line_i64(line, value->numbers[i]);
            continue;
        }
        for (const char *at = value->texts[i]; *at != '\0'; at++) {
            wio_line_text(line, *at == '"' ? "\"" : "");
            wio_line_byte(line, *at);
        }
    }
    wio_line_text(line, is_quoted ? "\"" : "");
}

static void put_csv(struct wio_line *line, const struct dump_value *value)
{
    if (value->kind == VALUE_TEXT) {
        put_csv_text(line, value->text, value->bytes);
    } else if (value->kind == VALUE_LIST) {
        put_csv_list(line, value);
    } else if (value->kind != VALUE_NULL) {
        put_json(line, value);
    }
}

void wio_dump_fields_put_csv(const struct wio_dump_fields *fields, struct wio_line *line,
                             struct wio_rendered *rendered, const struct wio_event *event)
{
    const struct dump_source from = source_of(rendered, event);

    for (unsigned i = 0; i < fields->count; i++) {
        struct dump_value value;
        value.numbers = NULL;
        all_fields[fields->fields[i]].set(&value, &from);
        wio_line_text(line, i > 0 ? "," : "");
        put_csv(line, &value);
    }
    wio_line_byte(line, '\n');
}
