/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_backing.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct memory_backing *memory_of(struct wio_backing *backing)
{
    return (struct memory_backing *)backing;
}

static struct memory_segment *find(const struct memory_backing *memory, uint64_t file,
                                   uint32_t segment)
{
    for (uint32_t i = 0; i < memory->segment_count; i++) {
        if (memory->segments[i].file == file && memory->segments[i].segment == segment) {
            return (struct memory_segment *)(uintptr_t)&memory->segments[i];
        }
    }
    return NULL;
}

static void resize(struct memory_segment *segment, uint64_t size)
{
    segment->data = realloc(segment->data, size + 1);
    assert(segment->data != NULL);
    if (size > segment->size) {
        memset(segment->data + segment->size, 0, size - segment->size);
    }
    segment->size = size;
}

static void work(const struct memory_backing *memory)
{
    if (memory->work != NULL) {
        memory->work(memory->work_context);
    }
}

static enum wio_status do_read(struct wio_backing *backing, uint64_t file, uint32_t segment,
                               uint64_t offset, void *data, size_t size, size_t *got_out,
                               struct wio_error *err)
{
    const struct memory_segment *found = find(memory_of(backing), file, segment);
    (void)err;
    work(memory_of(backing));
    if (memory_of(backing)->is_broken) {
        return WIO_ERR_IO;
    }
    uint64_t end = found != NULL ? found->size : 0;
    *got_out = offset >= end ? 0 : end - offset < size ? end - offset : size;
    if (*got_out > 0) {
        memcpy(data, found->data + offset, *got_out);
    }
    return WIO_OK;
}

static enum wio_status do_size(struct wio_backing *backing, uint64_t file, uint32_t segment,
                               uint64_t *bytes_out, struct wio_error *err)
{
    const struct memory_segment *found = find(memory_of(backing), file, segment);
    (void)err;
    *bytes_out = found != NULL ? found->size : 0;
    return memory_of(backing)->is_broken ? WIO_ERR_IO : WIO_OK;
}

static uint64_t used(const struct memory_backing *memory)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < memory->segment_count; i++) {
        bytes += memory->segments[i].size;
    }
    return bytes;
}

static enum wio_status do_reserve(struct wio_backing *backing, const struct wio_update *update,
                                  uint64_t *reserved_out, struct wio_error *err)
{
    struct memory_backing *memory = memory_of(backing);
    uint64_t bytes = update->kind == WIO_UPDATE_WRITE ? update->size : 0;
    if (memory->capacity > 0 && used(memory) + memory->reserved + bytes > memory->capacity) {
        errno = ENOSPC;
        return wio_error_sys(err, NULL, "cannot reserve");
    }
    memory->reserved += bytes;
    *reserved_out = bytes;
    return WIO_OK;
}

static void do_release(struct wio_backing *backing, uint64_t reserved)
{
    assert(memory_of(backing)->reserved >= reserved);
    memory_of(backing)->reserved -= reserved;
}

static void apply_one(struct memory_backing *memory, const struct wio_update *update)
{
    if (update->kind == WIO_UPDATE_POINTER) {
        return;
    }
    struct memory_segment *segment = find(memory, update->file, update->segment);
    if (segment == NULL) {
        assert(memory->segment_count < MEMORY_SEGMENTS);
        segment = &memory->segments[memory->segment_count++];
        *segment = (struct memory_segment){.file = update->file, .segment = update->segment};
    }
    if (update->kind != WIO_UPDATE_WRITE) {
        resize(segment, update->kind == WIO_UPDATE_DROP ? 0 : update->size);
        return;
    }
    if (update->offset + update->size > segment->size) {
        resize(segment, update->offset + update->size);
    }
    memcpy(segment->data + update->offset, update->data, update->size);
}

static enum wio_status do_apply(struct wio_backing *backing, const struct wio_update *updates,
                                uint32_t count, bool is_logged, struct wio_error *err)
{
    (void)err;
    memory_of(backing)->unlogged += !is_logged;
    if (memory_of(backing)->is_broken) {
        return WIO_ERR_IO;
    }
    for (uint32_t i = 0; i < count; i++) {
        work(memory_of(backing));
        apply_one(memory_of(backing), &updates[i]);
    }
    return WIO_OK;
}

static void *copy_of(const void *data, size_t size)
{
    void *copy = malloc(size + 1);
    assert(copy != NULL);
    memcpy(copy, size > 0 ? data : "", size);
    return copy;
}

static void keep(struct memory_record *kept, const struct wio_backing_record *record)
{
    kept->record = *record;
    kept->record.participants =
        copy_of(record->participants, record->participant_count * sizeof(uint16_t));
    struct wio_update *updates =
        copy_of(record->updates, record->update_count * sizeof(struct wio_update));
    for (uint32_t i = 0; i < record->update_count; i++) {
        if (updates[i].kind == WIO_UPDATE_WRITE) {
            updates[i].data = copy_of(updates[i].data, updates[i].size);
        }
    }
    kept->record.updates = updates;
}

static void drop(struct memory_record *kept)
{
    for (uint32_t i = 0; i < kept->record.update_count; i++) {
        if (kept->record.updates[i].kind == WIO_UPDATE_WRITE) {
            free((void *)(uintptr_t)kept->record.updates[i].data);
        }
    }
    free((void *)(uintptr_t)kept->record.updates);
    free((void *)(uintptr_t)kept->record.participants);
}

static enum wio_status do_log(struct wio_backing *backing, const struct wio_backing_record *record,
                              uint64_t *lsn_out, struct wio_error *err)
{
    struct memory_backing *memory = memory_of(backing);
    (void)err;
    if (memory->is_broken) {
        return WIO_ERR_IO;
    }
    if (memory->log_count == memory->log_room) {
        memory->log_room = memory->log_room * 2 + 16;
        memory->log = realloc(memory->log, memory->log_room * sizeof(*memory->log));
        assert(memory->log != NULL);
    }
    keep(&memory->log[memory->log_count++], record);
    memory->wants_flush |= !record->is_lazy;
    *lsn_out = memory->log_count;
    return WIO_OK;
}

static enum wio_status do_flush(struct wio_backing *backing, struct wio_error *err)
{
    (void)err;
    memory_of(backing)->wants_flush = true;
    return memory_of(backing)->is_broken ? WIO_ERR_IO : WIO_OK;
}

static enum wio_status do_space(struct wio_backing *backing, struct wio_backing_space *space_out,
                                struct wio_error *err)
{
    (void)err;
    *space_out = (struct wio_backing_space){memory_of(backing)->capacity, used(memory_of(backing))};
    return WIO_OK;
}

void memory_backing_init(struct memory_backing *memory)
{
    static const struct wio_backing_ops ops = {do_read,  do_size, do_reserve, do_release,
                                               do_apply, do_log,  do_flush,   do_space};
    memset(memory, 0, sizeof(*memory));
    memory->base.ops = &ops;
}

static void drop_segments(struct memory_backing *memory)
{
    for (uint32_t i = 0; i < memory->segment_count; i++) {
        free(memory->segments[i].data);
    }
    memory->segment_count = 0;
}

void memory_backing_fini(struct memory_backing *memory)
{
    drop_segments(memory);
    while (memory->log_count > 0) {
        drop(&memory->log[--memory->log_count]);
    }
    free(memory->log);
}

uint64_t memory_backing_flush(struct memory_backing *memory)
{
    memory->durable = memory->log_count;
    memory->wants_flush = false;
    memory->flushes++;
    return memory->durable;
}

void memory_backing_crash(struct memory_backing *memory)
{
    drop_segments(memory);
    while (memory->log_count > memory->durable) {
        drop(&memory->log[--memory->log_count]);
    }
    memory->reserved = 0;
    memory->wants_flush = false;
}

enum wio_status memory_backing_replay(struct memory_backing *memory, struct wio_server *server,
                                      uint64_t now_ns)
{
    for (uint64_t i = 0; i < memory->log_count; i++) {
        enum wio_status status = wio_server_restore(server, &memory->log[i].record, now_ns);
        if (status != WIO_OK) {
            return status;
        }
    }
    return WIO_OK;
}

const uint8_t *memory_backing_bytes(const struct memory_backing *memory, uint64_t file,
                                    uint32_t segment, uint64_t *size_out)
{
    const struct memory_segment *found = find(memory, file, segment);
    *size_out = found != NULL ? found->size : 0;
    return *size_out > 0 ? found->data : NULL;
}
