/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a segment, filled while events come. */
#include "trace/write/segment_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ops/calls.h"

enum wio_status wio_segment_meta(struct wio_segment *segment, unsigned key, const char *value,
                                 size_t bytes, struct wio_error *err)
{
    enum wio_status status = wio_blob_varint(&segment->meta, key);
    status = status == WIO_OK ? wio_blob_text(&segment->meta, value, bytes) : status;
    return status == WIO_OK ? WIO_OK : wio_segment_fail(segment, status, err);
}

enum wio_status wio_segment_string(struct wio_segment *segment, const char *text, size_t bytes,
                                   uint32_t *id_out, struct wio_error *err)
{
    /* R-TABLE-2 */
    enum wio_status status = wio_strtab_add(&segment->strings, text, strnlen(text, bytes), id_out);
    return status == WIO_OK ? WIO_OK : wio_segment_fail(segment, status, err);
}

static enum wio_status encode_source(struct wio_segment *segment, const struct wio_frame *frames,
                                     uint32_t count, struct wio_blob *out)
{
    WIO_TRY(wio_blob_varint(out, count));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t module = 0;
        uint32_t build_id = 0;
        const char *id = frames[i].build_id == NULL ? "" : frames[i].build_id;
        const char *name = frames[i].module == NULL ? "" : frames[i].module;
        WIO_TRY(wio_strtab_add(&segment->strings, name, strlen(name), &module));
        WIO_TRY(wio_strtab_add(&segment->strings, id, strlen(id), &build_id));
        WIO_TRY(wio_blob_varint(out, module));
        WIO_TRY(wio_blob_varint(out, build_id));
        WIO_TRY(wio_blob_varint(out, frames[i].address));
    }
    return WIO_OK;
}

enum wio_status wio_segment_source(struct wio_segment *segment, const struct wio_frame *frames,
                                   uint32_t count, uint32_t *id_out, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob source = {0};
    enum wio_status status = encode_source(segment, frames, count, &source);
    if (status == WIO_OK) {
        status = wio_strtab_add(&segment->sources, (const char *)source.data, source.size, id_out);
    }
    return status == WIO_OK ? WIO_OK : wio_segment_fail(segment, status, err);
}

static struct wio_open_fd *copy_opened(const struct wio_process_info *from)
{
    struct wio_open_fd *copy = calloc((size_t)from->opened_count + 1, sizeof(*copy));
    for (uint32_t i = 0; copy != NULL && i < from->opened_count; i++) {
        copy[i] = from->opened[i];
    }
    return copy;
}

/* All texts of a process in one allocation. */
static enum wio_status copy_process(struct wio_segment_process *to,
                                    const struct wio_process_info *from)
{
    const char *texts[] = {from->host, from->job, from->exe, from->argv, from->cwd};
    const char **places[] = {&to->info.host, &to->info.job, &to->info.exe, &to->info.argv,
                             &to->info.cwd};
    size_t total = 0;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(texts); i++) {
        total += (texts[i] == NULL ? 0 : strlen(texts[i])) + 1;
    }
    char *copy = calloc(1, total);
    struct wio_open_fd *opened = copy_opened(from);
    if (copy == NULL || opened == NULL) {
        free(copy);
        free(opened);
        return WIO_ERR_NOMEM;
    }
    to->info = *from;
    char *at = copy;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(texts); i++) {
        size_t bytes = texts[i] == NULL ? 0 : strlen(texts[i]);
        if (bytes > 0) {
            memcpy(at, texts[i], bytes);
        }
        *places[i] = at;
        at += bytes + 1;
    }
    uint32_t unseen = from->unseen_count < WIO_UNSEEN_MAX ? from->unseen_count : WIO_UNSEEN_MAX;
    for (uint32_t i = 0; i < unseen; i++) {
        to->unseen[i] = from->unseen[i];
    }
    to->info.unseen_count = unseen;
    to->info.unseen = NULL; /* the array moves when it grows: always to->unseen */
    to->info.opened = NULL; /* as unseen */
    free(to->texts);
    to->texts = copy;
    free(to->opened);
    to->opened = opened;
    return WIO_OK;
}

enum wio_status wio_segment_process(struct wio_segment *segment,
                                    const struct wio_process_info *process, uint32_t *index_out,
                                    struct wio_error *err)
{
    void *array = segment->processes;
    enum wio_status status = wio_grow(&array, sizeof(*segment->processes),
                                      &segment->process_capacity, segment->process_count + 1);
    if (status == WIO_OK) {
        segment->processes = array;
        status = copy_process(&segment->processes[segment->process_count], process);
    }
    if (status != WIO_OK) {
        return wio_segment_fail(segment, status, err);
    }
    *index_out = segment->process_count++;
    return WIO_OK;
}

enum wio_status wio_segment_process_update(struct wio_segment *segment, uint32_t index,
                                           const struct wio_process_info *process,
                                           struct wio_error *err)
{
    enum wio_status status = copy_process(&segment->processes[index], process);
    return status == WIO_OK ? WIO_OK : wio_segment_fail(segment, status, err);
}

enum wio_status wio_segment_file(struct wio_segment *segment, const struct wio_file_info *file,
                                 struct wio_error *err)
{
    if (file->path > segment->strings.count) {
        return wio_segment_refuse(segment, "path", file->path, err);
    }
    void *array = segment->files;
    enum wio_status status =
        wio_grow(&array, sizeof(*segment->files), &segment->file_capacity, segment->file_count + 1);
    if (status == WIO_OK) {
        segment->files = array;
        segment->files[segment->file_count] = *file;
        status = wio_map_put(&segment->file_index, file->path, segment->file_count);
    }
    if (status != WIO_OK) {
        return wio_segment_fail(segment, status, err);
    }
    segment->file_count++;
    return WIO_OK;
}
