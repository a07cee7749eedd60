/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/digest/digest.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "explain/account.h"
#include "explain/digest/digest_rows.h"
#include "explain/digest/digest_thread.h"
#include "ops/calls.h"

/* What one operation counts for. */
struct op_facts {
    uint8_t kind; /* enum wio_step_kind, of files */
    bool is_data; /* it moves bytes */
    bool is_read;
    bool is_counted; /* in files and lines */
};

struct digest_reader {
    struct wio_digest *digest;
    const struct wio_trace *trace;
    struct op_facts facts[WIO_OP_COUNT];
    uint8_t *is_channel;               /* by string id */
    struct wio_digest_sums *by_path;   /* likewise */
    struct wio_digest_sums *by_source; /* of the present thread */
    uint32_t *touched;                 /* the sources of these that are not empty */
    uint32_t touched_count;
    uint32_t path_count;
    uint32_t source_count;
    uint32_t stream; /* the present thread, UINT32_MAX = none */
    struct wio_digest_thread thread;
    struct wio_digest_places places;
};

static void reader_fini(struct digest_reader *reader)
{
    free(reader->is_channel);
    free(reader->by_path);
    free(reader->by_source);
    free(reader->touched);
    wio_digest_places_fini(&reader->places);
}

static void find_facts(struct digest_reader *reader)
{
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        enum wio_io_kind kind = wio_account_kind(op);
        reader->facts[op] = (struct op_facts){
            .kind = (uint8_t)wio_step_kind_of(op, false),
            .is_data = kind == WIO_IO_READ || kind == WIO_IO_WRITE,
            .is_read = kind == WIO_IO_READ,
            .is_counted = kind != WIO_IO_NONE && !wio_account_is_buffered(op),
        };
    }
}

static enum wio_status reader_init(struct digest_reader *reader)
{
    struct wio_digest *digest = reader->digest;

    reader->path_count = wio_trace_string_count(reader->trace) + 1;
    reader->source_count = wio_trace_source_count(reader->trace);
    reader->stream = UINT32_MAX;
    reader->places.places.trace = reader->places.speakers.trace = reader->trace;
    reader->is_channel = calloc((size_t)reader->path_count, 1);
    reader->by_path = calloc(reader->path_count, sizeof(*reader->by_path));
    reader->by_source = calloc((size_t)reader->source_count + 1, sizeof(*reader->by_source));
    reader->touched = calloc((size_t)reader->source_count + 1, sizeof(*reader->touched));
    digest->ops[WIO_DIGEST_FILES] = calloc(WIO_OP_COUNT, sizeof(**digest->ops));
    digest->ops[WIO_DIGEST_CHANNELS] = calloc(WIO_OP_COUNT, sizeof(**digest->ops));
    if (reader->is_channel == NULL || reader->by_path == NULL || reader->by_source == NULL ||
        reader->touched == NULL || digest->ops[WIO_DIGEST_FILES] == NULL ||
        digest->ops[WIO_DIGEST_CHANNELS] == NULL) {
        return WIO_ERR_NOMEM;
    }
    wio_account_find_channels(reader->trace, reader->is_channel);
    find_facts(reader);
    return WIO_OK;
}

/* ---- one thread after the other ---- */

static enum wio_status end_thread(struct digest_reader *reader)
{
    struct wio_digest *digest = reader->digest;

    if (reader->stream == UINT32_MAX) {
        return WIO_OK;
    }
    wio_digest_thread_end(&reader->thread);
    for (unsigned kind = 0; kind < WIO_STEP_KINDS; kind++) {
        digest->time_ns[kind] += reader->thread.time_ns[kind];
        digest->threads_ns += reader->thread.time_ns[kind];
    }
    digest->threads++;
    WIO_TRY(wio_digest_places_add(&reader->places, reader->stream, reader->touched,
                                  reader->touched_count, reader->by_source));
    for (uint32_t i = 0; i < reader->touched_count; i++) {
        reader->by_source[reader->touched[i]] = (struct wio_digest_sums){0};
    }
    reader->touched_count = 0;
    return WIO_OK;
}

static enum wio_status begin_thread(struct digest_reader *reader, uint32_t stream)
{
    WIO_TRY(end_thread(reader));
    reader->thread = (struct wio_digest_thread){0};
    reader->stream = stream;
    return WIO_OK;
}

/* ---- events ---- */

static enum wio_status make(struct wio_histogram **histogram)
{
    *histogram = calloc(1, sizeof(**histogram));
    return *histogram != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

static inline enum wio_status sample(struct wio_histogram **histogram, uint64_t value)
{
    if (*histogram == NULL) {
        WIO_TRY(make(histogram));
    }
    wio_histogram_add(*histogram, value);
    return WIO_OK;
}

/* The duration of what was served from a stream's buffer is not measured; what is pending has none.
 */
static enum wio_status count_op(struct wio_digest_op *op, const struct op_facts *facts,
                                const struct wio_event *event)
{
    if (event->result != WIO_RESULT_PENDING && (event->flags & WIO_EVENT_BUFFERED) == 0) {
        WIO_TRY(sample(&op->time, event->dur_ns));
    }
    return facts->is_data && event->size != WIO_NO_SIZE ? sample(&op->size, event->size) : WIO_OK;
}

static void add(struct wio_digest_sums *sums, const struct op_facts *facts, uint64_t bytes,
                const struct wio_event *event)
{
    sums->count++;
    sums->time_ns += event->dur_ns;
    sums->errors += event->error != 0;
    if (facts->is_read) {
        sums->bytes_read += bytes;
    } else {
        sums->bytes_written += bytes;
    }
}

static void add_to_line(struct digest_reader *reader, const struct op_facts *facts, uint64_t bytes,
                        const struct wio_event *event)
{
    uint32_t caller = wio_digest_thread_caller(&reader->thread, event->t_ns);
    uint32_t source = caller != 0 ? caller : event->source;
    struct wio_digest_sums *sums;

    source = source < reader->source_count ? source : 0;
    sums = &reader->by_source[source];
    if (sums->count == 0) {
        reader->touched[reader->touched_count++] = source;
    }
    add(sums, facts, bytes, event);
}

static enum wio_status count_event(struct digest_reader *reader, const struct wio_event *event)
{
    uint32_t path = event->path < reader->path_count ? event->path : 0;
    const struct op_facts *facts = &reader->facts[event->op < WIO_OP_COUNT ? event->op : 0];
    unsigned side = reader->is_channel[path] != 0 ? WIO_DIGEST_CHANNELS : WIO_DIGEST_FILES;
    struct wio_digest_op *op = &reader->digest->ops[side][event->op < WIO_OP_COUNT ? event->op : 0];
    uint64_t bytes = facts->is_data ? wio_account_bytes(event) : 0;

    if (event->stream != reader->stream) {
        WIO_TRY(begin_thread(reader, event->stream));
    }
    WIO_TRY(count_op(op, facts, event));
    add(&op->sums, facts, bytes, event);
    if (facts->is_counted && side == WIO_DIGEST_FILES) {
        reader->digest->operations++;
        add(&reader->by_path[path], facts, bytes, event);
        add_to_line(reader, facts, bytes, event);
    }
    wio_digest_thread_event(&reader->thread, event,
                            side == WIO_DIGEST_CHANNELS ? WIO_STEP_WAIT : facts->kind);
    return WIO_OK;
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                         "no memory to count the events of a trace");
}

static enum wio_status read_events(struct digest_reader *reader,
                                   const struct wio_digest_params *params, struct wio_error *err)
{
    const struct wio_filter filter = {
        .struct_size = sizeof(filter),
        .order = WIO_ORDER_STREAM,
        .columns = WIO_COLUMN_TIME | WIO_COLUMN_PATH | WIO_COLUMN_SIZE | WIO_COLUMN_RESULT |
                   WIO_COLUMN_ERROR | WIO_COLUMN_SOURCE | WIO_COLUMN_FLAGS | WIO_COLUMN_CPU};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_event *events;
    struct wio_trace_info info;
    enum wio_status status;
    uint64_t done = 0;
    size_t count;

    wio_trace_get_info(reader->trace, &info);
    WIO_TRY(wio_cursor_create(reader->trace, &filter, &cursor, err));
    while ((status = wio_cursor_next_block(cursor, &events, &count, err)) == WIO_OK) {
        for (size_t i = 0; i < count; i++) {
            if (count_event(reader, &events[i]) != WIO_OK) {
                return no_memory(err);
            }
        }
        done += count;
        if (params->progress != NULL) {
            params->progress(params->progress_arg, done, info.events, "events");
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status read_all(struct digest_reader *reader,
                                const struct wio_digest_params *params, struct wio_error *err)
{
    struct wio_digest *digest = reader->digest;

    if (reader_init(reader) != WIO_OK) {
        return no_memory(err);
    }
    WIO_TRY(read_events(reader, params, err));
    if (end_thread(reader) != WIO_OK ||
        wio_digest_list_files(digest, params->rows, reader->by_path, reader->path_count) !=
            WIO_OK ||
        wio_digest_list_lines(digest, params->rows, &reader->places) != WIO_OK) {
        return no_memory(err);
    }
    return WIO_OK;
}

void wio_digest_destroy(struct wio_digest *digest)
{
    if (digest == NULL) {
        return;
    }
    for (unsigned side = 0; side < WIO_DIGEST_SIDES; side++) {
        for (unsigned op = 0; op < WIO_OP_COUNT && digest->ops[side] != NULL; op++) {
            free(digest->ops[side][op].time);
            free(digest->ops[side][op].size);
        }
        free(digest->ops[side]);
    }
    free(digest->files);
    free(digest->lines);
    free(digest);
}

enum wio_status wio_digest_create(const struct wio_trace *trace,
                                  const struct wio_digest_params *params,
                                  struct wio_digest **digest_out, struct wio_error *err)
{
    struct wio_digest *digest = calloc(1, sizeof(*digest));
    struct digest_reader reader = {.digest = digest, .trace = trace};
    enum wio_status status;

    *digest_out = NULL;
    if (digest == NULL) {
        return no_memory(err);
    }
    digest->trace = trace;
    status = read_all(&reader, params, err);
    reader_fini(&reader);
    if (status != WIO_OK) {
        wio_digest_destroy(digest);
        return status;
    }
    *digest_out = digest;
    return WIO_OK;
}
