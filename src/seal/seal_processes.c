/* SPDX-License-Identifier: Apache-2.0 */
/* Process images and their parents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "seal/seal_internal.h"

static bool needs_quotes(const char *text, size_t bytes)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./-_";
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\0' || strchr(plain, text[i]) == NULL) {
            return true;
        }
    }
    return bytes == 0;
}

/* As a shell would read it back: 'it'\''s'. */
static enum wio_status put_quoted(const char *text, size_t bytes, struct wio_blob *out)
{
    if (!needs_quotes(text, bytes)) {
        return wio_blob_put(out, text, bytes);
    }
    WIO_TRY(wio_blob_u8(out, '\''));
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\'') {
            WIO_TRY(wio_blob_put(out, "'\\''", 4));
        } else {
            WIO_TRY(wio_blob_u8(out, (uint8_t)text[i]));
        }
    }
    return wio_blob_u8(out, '\'');
}

/* Arguments, each ended by NUL, joined by blanks. */
static enum wio_status put_arguments(const struct wio_seal *seal, const struct wio_blob *argv,
                                     struct wio_blob *out)
{
    size_t at = 0;
    while (at < argv->size) {
        const char *text = (const char *)argv->data + at;
        size_t bytes = strnlen(text, argv->size - at);
        WIO_CLEANUP(wio_blob_fini) struct wio_blob hidden = {0};
        if (at > 0) {
            WIO_TRY(wio_blob_u8(out, ' '));
        }
        if (seal->is_hiding) {
            WIO_TRY(wio_path_anonymise(seal->key, text, bytes, &hidden));
            WIO_TRY(put_quoted((const char *)hidden.data, hidden.size, out));
        } else {
            WIO_TRY(put_quoted(text, bytes, out));
        }
        at += bytes + 1;
    }
    return wio_blob_u8(out, 0);
}

static enum wio_status put_path(const struct wio_seal *seal, const struct wio_blob *path,
                                struct wio_blob *out)
{
    size_t bytes = path->size == 0 ? 0 : strnlen((const char *)path->data, path->size);
    if (seal->is_hiding) {
        WIO_TRY(wio_path_anonymise(seal->key, (const char *)path->data, bytes, out));
    } else {
        WIO_TRY(wio_blob_put(out, path->data, bytes));
    }
    return wio_blob_u8(out, 0);
}

uint64_t wio_seal_pid_key(const char *host, int32_t pid)
{
    return XXH3_64bits(host, strlen(host)) ^ (uint32_t)pid;
}

/* The same process under whatever name its host has: exec in a UTS namespace of its own. */
static uint64_t image_key(const struct wio_ring_header *header)
{
    uint64_t boot = XXH3_64bits(header->boot_id, strlen(header->boot_id));
    return boot ^ ((uint64_t)(uint32_t)header->pid << 40) ^ header->pid_start;
}

/* The image that said it ends by exec; several containers of one boot may count alike. */
static const uint64_t *find_former(const struct wio_seal *seal,
                                   const struct wio_ring_header *header)
{
    const uint64_t *former = header->boot_id[0] == '\0' || header->pid_start == 0
                                 ? NULL
                                 : wio_map_get(&seal->images, image_key(header));
    return former != NULL && seal->segment->processes[*former].info.end == WIO_END_EXEC ? former
                                                                                        : NULL;
}

void wio_seal_put_end(int wait_status, struct wio_process_info *info)
{
    if (WIFEXITED(wait_status)) {
        info->end = WIO_END_EXIT;
        info->end_status = WEXITSTATUS(wait_status);
    } else if (WIFSIGNALED(wait_status)) {
        info->end = WIO_END_SIGNAL;
        info->end_status = WTERMSIG(wait_status);
    }
}

/* R-RING-4: an end that the ring does not have may be known from its wait status. */
static void find_end(const struct wio_seal *seal, const struct wio_seal_ring *ring,
                     struct wio_process_info *info)
{
    int wait_status = 0;
    info->end = ring->header.end <= WIO_END_SIGNAL ? ring->header.end : WIO_END_NONE;
    info->end_status = ring->header.end_status;
    if (info->end != WIO_END_NONE) {
        return;
    }
    if (ring->has_successor) { /* by a raw system call, which nothing in the process noticed */
        info->end = WIO_END_EXEC;
        return;
    }
    const char *boot_id = ring->header.boot_id;
    bool is_elsewhere = boot_id[0] != '\0' && strcmp(boot_id, seal->boot_id) != 0;
    if (is_elsewhere || seal->params->ended == NULL ||
        !seal->params->ended(seal->params->ended_arg, ring->header.pid, ring->header.start_mono_ns,
                             &wait_status)) {
        return;
    }
    wio_seal_put_end(wait_status, info);
}

/* By fork: the ring says so. By exec: an earlier image with this pid. Else by the parent's pid. */
static uint32_t find_parent(const struct wio_seal *seal, const struct wio_seal_ring *ring)
{
    if (ring->parent != UINT32_MAX && seal->rings[ring->parent].process != UINT32_MAX) {
        return seal->rings[ring->parent].process;
    }
    const struct wio_ring_header *header = &ring->header;
    const uint64_t *before =
        wio_map_get(&seal->processes, wio_seal_pid_key(header->host, header->pid));
    if (before != NULL) {
        const uint64_t *start = wio_map_get(&seal->process_starts, *before);
        if (start == NULL || *start == header->pid_start) {
            return (uint32_t)*before;
        }
    }
    const uint64_t *former = find_former(seal, header);
    if (former != NULL) {
        return (uint32_t)*former;
    }
    const uint64_t *parent =
        wio_map_get(&seal->processes, wio_seal_pid_key(header->host, header->ppid));
    return parent == NULL ? UINT32_MAX : (uint32_t)*parent;
}

struct process_texts {
    struct wio_blob exe;
    struct wio_blob argv;
    struct wio_blob cwd;
};

static void texts_fini(struct process_texts *texts)
{
    wio_blob_fini(&texts->exe);
    wio_blob_fini(&texts->argv);
    wio_blob_fini(&texts->cwd);
}

/* A child of fork says nothing of its program: it is that of its parent. */
static const struct wio_seal_ring *program_of(const struct wio_seal *seal,
                                              const struct wio_seal_ring *ring)
{
    while (ring->exe.size == 0 && ring->parent != UINT32_MAX) {
        ring = &seal->rings[ring->parent];
    }
    return ring;
}

static enum wio_status describe(struct wio_seal *seal, struct wio_seal_ring *ring,
                                const struct wio_seal_work *work, struct process_texts *texts,
                                struct wio_process_info *info)
{
    const struct wio_ring_header *header = &ring->header;
    const struct wio_seal_ring *program = program_of(seal, ring);
    WIO_TRY(put_path(seal, &program->exe, &texts->exe));
    WIO_TRY(put_arguments(seal, &program->argv, &texts->argv));
    WIO_TRY(put_path(seal, ring->cwd.size == 0 ? &program->cwd : &ring->cwd, &texts->cwd));
    uint64_t dropped = header->dropped > work->dropped ? header->dropped : work->dropped;
    uint64_t evicted = header->evicted > work->evicted ? header->evicted : work->evicted;
    *info = (struct wio_process_info){
        .pid = header->pid,
        .ppid = header->ppid,
        .rank = header->rank >= 0 ? header->rank : -1,
        .ranks = header->ranks > 0 ? (uint32_t)header->ranks : 0,
        .start_ns = ring->start_ns,
        .end_ns = work->last_ns > ring->start_ns ? work->last_ns : ring->start_ns,
        .host = header->host,
        .job = header->job,
        .exe = (const char *)texts->exe.data,
        .argv = (const char *)texts->argv.data,
        .cwd = (const char *)texts->cwd.data,
        .dropped = dropped + work->lost + evicted,
        .evicted = evicted,
        .opened = work->opened,
        .opened_count = work->opened_count,
        .unseen_count = WIO_UNSEEN_COUNT,
        .unseen = header->unseen,
    };
    if (header->end_mono_ns != 0) {
        uint64_t end_ns = wio_seal_time(seal, ring, header->end_mono_ns);
        info->end_ns = end_ns > info->end_ns ? end_ns : info->end_ns;
    }
    find_end(seal, ring, info);
    wio_seal_remark_refused(seal, ring, program);
    return WIO_OK;
}

static enum wio_status add_process(struct wio_seal *seal, struct wio_seal_ring *ring,
                                   const struct wio_process_info *info, struct wio_error *err)
{
    WIO_TRY(wio_segment_process(seal->segment, info, &ring->process, err));
    enum wio_status status =
        wio_map_put(&seal->processes, wio_seal_pid_key(info->host, info->pid), ring->process);
    if (status == WIO_OK) {
        status = wio_map_put(&seal->process_starts, ring->process, ring->header.pid_start);
    }
    if (status == WIO_OK) {
        status = wio_map_put(&seal->images, image_key(&ring->header), ring->process);
    }
    return status == WIO_OK ? WIO_OK : wio_segment_fail(seal->segment, status, err);
}

/* Called before the events (they need its number) and after them (what was lost, when it ended). */
enum wio_status wio_seal_process(struct wio_seal *seal, struct wio_seal_ring *ring,
                                 struct wio_seal_work *work, struct wio_error *err)
{
    WIO_CLEANUP(texts_fini) struct process_texts texts = {0};
    struct wio_process_info info;
    enum wio_status status = describe(seal, ring, work, &texts, &info);
    if (status != WIO_OK) {
        return wio_segment_fail(seal->segment, status, err);
    }
    if (ring->process == UINT32_MAX) {
        info.parent = find_parent(seal, ring);
        return add_process(seal, ring, &info, err);
    }
    info.parent = seal->segment->processes[ring->process].info.parent;
    return wio_segment_process_update(seal->segment, ring->process, &info, err);
}

enum wio_status wio_seal_vfork_child(struct wio_seal *seal, struct wio_seal_ring *ring,
                                     struct wio_seal_work *work, const struct wio_slot_clock *clock,
                                     uint32_t *process_out, struct wio_error *err)
{
    const uint64_t *known = wio_map_get(&work->vfork, (uint32_t)clock->pid);
    if (known != NULL) {
        *process_out = (uint32_t)*known;
        return WIO_OK;
    }
    struct wio_process_info info = seal->segment->processes[ring->process].info;
    info.pid = clock->pid;
    info.ppid = ring->header.pid;
    info.parent = ring->process;
    info.start_ns = wio_seal_time(seal, ring, wio_ticks_to_ns(&work->ticks, clock->ticks));
    info.end_ns = info.start_ns;
    info.dropped = 0;
    info.evicted = 0;
    info.opened_count = 0;
    info.unseen_count = 0;
    info.end = WIO_END_EXEC; /* all that such a child can do, besides _exit */
    info.end_status = 0;
    WIO_TRY(wio_segment_process(seal->segment, &info, process_out, err));
    enum wio_status status = wio_map_put(&work->vfork, (uint32_t)clock->pid, *process_out);
    if (status == WIO_OK) {
        status = wio_map_put(&seal->processes, wio_seal_pid_key(ring->header.host, clock->pid),
                             *process_out);
    }
    return status == WIO_OK ? WIO_OK : wio_segment_fail(seal->segment, status, err);
}
