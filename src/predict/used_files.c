/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/used_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "ops/storage_path.h"

/* Runs of events with one answer: each as twice the distance of its first event from that of the
 * run before; one more, and the answer's number, unless it has that of the run before the last one:
 * programs read one file and write another. */
struct wio_used_files_stream {
    struct wio_blob runs;
    uint64_t last_seq; /* the first event of the last run */
    uint32_t last;     /* its answer .. */
    uint32_t before;   /* .. and that of the run before */
};

/* ---- which paths are on storage ---- */

static enum wio_status init_storage(struct wio_used_files *files)
{
    const uint32_t count = wio_trace_string_count(files->trace);
    files->is_storage = calloc((size_t)count + 1, 1);
    if (files->is_storage == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        files->is_storage[i] = wio_path_is_storage(wio_trace_string(files->trace, i, NULL));
    }
    return WIO_OK;
}

/* ---- answers ---- */

static enum wio_status add_answer(struct wio_used_files *files,
                                  const struct wio_event_files *answer, uint32_t *number_out)
{
    const struct wio_alloc alloc = WIO_ALLOC_HEAP;
    const uint64_t a = (uint64_t)answer->file << 32 | answer->file2;
    const uint64_t b = (uint64_t)(uint32_t)answer->flags << 1 | answer->was_there;
    *number_out = wio_pair_map_get(&files->answer_of, a, b);
    if (*number_out != WIO_NO_INDEX) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&alloc, (void **)&files->answers, &files->answer_room,
                           (size_t)files->answer_count + 1, sizeof(*files->answers)));
    *number_out = files->answer_count++;
    files->answers[*number_out] = *answer;
    return wio_pair_map_put(&files->answer_of, a, b, *number_out);
}

enum wio_status wio_used_files_init(struct wio_used_files *files, const struct wio_trace *trace)
{
    const struct wio_alloc alloc = WIO_ALLOC_HEAP;
    const struct wio_event_files none = {.file = WIO_NO_INDEX, .file2 = WIO_NO_INDEX};
    uint32_t number;
    files->trace = trace;
    wio_pair_map_init(&files->answer_of, &alloc);
    files->streams = calloc((size_t)wio_trace_stream_count(trace) + 1, sizeof(*files->streams));
    if (files->streams == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(init_storage(files));
    WIO_TRY(add_answer(files, &none, &number));
    return wio_trace_state_init(&files->state, trace);
}

void wio_used_files_finish(struct wio_used_files *files)
{
    wio_pair_map_fini(&files->answer_of);
    wio_trace_state_fini(&files->state);
}

void wio_used_files_fini(struct wio_used_files *files)
{
    if (files->trace == NULL) {
        return; /* it was not begun */
    }
    wio_used_files_finish(files);
    for (uint32_t i = 0; files->streams != NULL && i < wio_trace_stream_count(files->trace); i++) {
        wio_blob_fini(&files->streams[i].runs);
    }
    free(files->streams);
    free(files->is_storage);
    free(files->answers);
    free(files->paths);
    *files = (struct wio_used_files){0};
}

static enum wio_status add_run(struct wio_used_files_stream *stream, uint64_t seq, uint32_t answer)
{
    const uint64_t distance = seq - stream->last_seq;
    const bool is_before = answer == stream->before;
    WIO_TRY(wio_blob_varint(&stream->runs, distance << 1 | !is_before));
    stream->last_seq = seq;
    stream->before = stream->last;
    stream->last = answer;
    return is_before ? WIO_OK : wio_blob_varint(&stream->runs, answer);
}

static bool is_same(const struct wio_event_files *a, const struct wio_event_files *b)
{
    return a->file == b->file && a->file2 == b->file2 && a->flags == b->flags &&
           a->was_there == b->was_there;
}

static enum wio_status note(struct wio_used_files *files, const struct wio_event *event,
                            const struct wio_event_files *answer)
{
    struct wio_used_files_stream *stream = &files->streams[event->stream];
    uint32_t number = stream->before;
    if (is_same(&files->answers[stream->last], answer)) {
        return WIO_OK;
    }
    if (!is_same(&files->answers[number], answer)) {
        WIO_TRY(add_answer(files, answer, &number));
    }
    return add_run(stream, event->seq, number);
}

/* ---- the pass ---- */

static uint32_t process_of(const struct wio_used_files *files, const struct wio_event *event)
{
    return files->state.streams[event->stream].process;
}

/* The paths of all files that were numbered so far. */
static enum wio_status note_path(struct wio_used_files *files, const struct wio_state_file *file)
{
    const struct wio_alloc alloc = WIO_ALLOC_HEAP;
    if (file->file == WIO_NO_INDEX) {
        return WIO_OK;
    }
    if (file->file >= files->file_count) {
        files->file_count = file->file + 1;
        WIO_TRY(wio_alloc_room(&alloc, (void **)&files->paths, &files->path_room, files->file_count,
                               sizeof(*files->paths)));
    }
    files->paths[file->file] = file->path;
    return WIO_OK;
}

/* Behind the descriptor, or else under the path. */
static enum wio_status find(struct wio_used_files *files, const struct wio_event *event, int32_t fd,
                            uint32_t path, struct wio_state_file *file_out)
{
    const uint32_t process = process_of(files, event);
    wio_state_fd(files->state.state, process, fd, file_out);
    return file_out->file != WIO_NO_INDEX
               ? WIO_OK
               : wio_state_name(files->state.state, process, path, false, file_out);
}

/* What the event takes a name or a descriptor away from: as it was before. */
static enum wio_status ask_before(struct wio_used_files *files, const struct wio_event *event,
                                  struct wio_state_file *file_out, struct wio_state_file *other_out,
                                  bool *was_there_out)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_OPEN:
        return wio_state_is_there(files->state.state, event, was_there_out);
    case WIO_CLASS_CLOSE:
        return find(files, event, event->fd, event->path, file_out);
    case WIO_CLASS_UNLINK:
        return find(files, event, WIO_NO_FD, event->path, file_out);
    case WIO_CLASS_RENAME:
        WIO_TRY(find(files, event, WIO_NO_FD, event->path, file_out));
        WIO_TRY(find(files, event, WIO_NO_FD, event->path2, other_out));
        *was_there_out = other_out->is_there;
        return WIO_OK;
    default:
        return WIO_OK;
    }
}

static enum wio_status ask_after(struct wio_used_files *files, const struct wio_event *event,
                                 struct wio_state_file *file, struct wio_state_file *other)
{
    if (file->file == WIO_NO_INDEX) {
        WIO_TRY(wio_state_file_of(files->state.state, event, file));
    }
    return event->fd2 != WIO_NO_FD && wio_op_class(event->op) == WIO_CLASS_COPY
               ? find(files, event, event->fd2, event->path2, other)
               : WIO_OK;
}

static enum wio_status see_all(struct wio_used_files *files, const struct wio_event *event)
{
    struct wio_state_file file = {.file = WIO_NO_INDEX};
    struct wio_state_file other = {.file = WIO_NO_INDEX};
    bool was_there = false;
    WIO_TRY(ask_before(files, event, &file, &other, &was_there));
    WIO_TRY(wio_state_event(files->state.state, event));
    WIO_TRY(ask_after(files, event, &file, &other));
    WIO_TRY(note_path(files, &file));
    WIO_TRY(note_path(files, &other));
    return note(files, event,
                &(struct wio_event_files){file.file, other.file, file.flags, was_there});
}

enum wio_status wio_used_files_see(struct wio_used_files *files, const struct wio_event *event)
{
    struct wio_state_file file;
    if (!wio_used_files_is_storage(files, event->path) &&
        !wio_used_files_is_storage(files, event->path2)) {
        return wio_state_event(files->state.state, event);
    }
    if (!wio_state_moves(files->state.state, event, &file)) {
        return see_all(files, event);
    }
    return note(files, event,
                &(struct wio_event_files){file.file, WIO_NO_INDEX, file.flags, false});
}

/* ---- reading ---- */

/* The run behind the one at hand. */
static void read_next(struct wio_used_files_reader *reader)
{
    const struct wio_blob *runs = &reader->files->streams[reader->stream].runs;
    struct wio_buf buf = {runs->data, runs->size, reader->pos};
    uint64_t distance;
    uint64_t answer;
    reader->seq = reader->next_seq;
    answer = reader->answer;
    reader->answer = reader->next;
    if (wio_buf_varint(&buf, &distance) != WIO_OK ||
        ((distance & 1) != 0 && wio_buf_varint(&buf, &answer) != WIO_OK)) {
        reader->next_seq = UINT64_MAX;
        return;
    }
    reader->pos = buf.pos;
    reader->next_seq += distance >> 1;
    reader->next = (uint32_t)answer;
}

void wio_used_files_reader_init(struct wio_used_files_reader *reader,
                                const struct wio_used_files *files, uint32_t stream)
{
    *reader = (struct wio_used_files_reader){.files = files, .stream = stream};
    read_next(reader);
}

enum wio_status wio_used_files_readers(const struct wio_used_files *files,
                                       struct wio_used_files_reader **readers_out)
{
    const uint32_t count = wio_trace_stream_count(files->trace);
    *readers_out = calloc((size_t)count + 1, sizeof(**readers_out));
    if (*readers_out == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        wio_used_files_reader_init(&(*readers_out)[i], files, i);
    }
    return WIO_OK;
}

void wio_used_files_reader_move(struct wio_used_files_reader *reader, uint64_t seq)
{
    if (seq < reader->seq) {
        wio_used_files_reader_init(reader, reader->files, reader->stream);
    }
    while (seq >= reader->next_seq) {
        read_next(reader);
    }
}
