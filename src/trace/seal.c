/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/seal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "trace/calls.h"
#include "trace/seal_internal.h"

/* The list of faults is one text of META: of a machine that lost its power with a hundred thousand
 * processes it must not become more than a block holds. */
#define FAULTS_MAX_BYTES (1u << 20)

static void put_fault(struct wio_seal *seal, const char *line)
{
    /* Without memory for the note the ring is still left out: nothing better can be done. */
    if (wio_blob_put(&seal->faults, line, strlen(line)) == WIO_OK) {
        (void)!wio_blob_u8(&seal->faults, '\n');
    }
}

void wio_seal_fault(struct wio_seal *seal, const struct wio_error *fault)
{
    char line[2048];
    if (seal->faults.size >= FAULTS_MAX_BYTES) {
        if (!seal->has_more_faults) {
            put_fault(seal, "there is more damage than is listed");
        }
        seal->has_more_faults = true;
        return;
    }
    struct wio_error told = *fault;
    const char *slash = strrchr(fault->file, '/');
    if (seal->is_hiding && slash != NULL) {
        (void)snprintf(told.file, sizeof(told.file), "%s", slash + 1);
    }
    wio_error_format(&told, line, sizeof(line));
    put_fault(seal, line);
}

void wio_seal_progress(struct wio_seal *seal, uint64_t bytes)
{
    seal->done_bytes += bytes;
    if (seal->done_bytes > seal->total_bytes) {
        seal->done_bytes = seal->total_bytes;
    }
    if (seal->params->progress != NULL) {
        seal->params->progress(seal->params->progress_arg, seal->done_bytes, seal->total_bytes,
                               "B");
    }
}

static void work_fini(struct wio_seal_work *work)
{
    wio_ring_close(&work->file);
    wio_ticks_fini(&work->ticks);
    free(work->modules);
    wio_map_fini(&work->sources);
    wio_map_fini(&work->stacks);
    free(work->completions);
    wio_map_fini(&work->streams);
    wio_map_fini(&work->vfork);
    free(work->chunk);
}

static void seal_fini(struct wio_seal *seal)
{
    wio_segment_abandon(seal->segment);
    wio_seal_unlock(seal);
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        wio_seal_ring_fini(&seal->rings[i]);
    }
    free(seal->rings);
    wio_strtab_fini(&seal->machines);
    free(seal->rates);
    wio_strtab_fini(&seal->paths);
    free(seal->path_ids);
    for (uint32_t i = 0; i < seal->elf_count; i++) {
        wio_elf_fini(&seal->elf[i]);
    }
    free(seal->elf);
    wio_strtab_fini(&seal->elf_names);
    wio_map_fini(&seal->processes);
    wio_map_fini(&seal->images);
    wio_map_fini(&seal->process_starts);
    wio_blob_fini(&seal->faults);
}

static enum wio_status seal_init(struct wio_seal *seal, const char *dir,
                                 const struct wio_seal_params *params, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob boot = {0};
    *seal = (struct wio_seal){.params = params};
    enum wio_status status = wio_io_read_file("/proc/sys/kernel/random/boot_id", 64, &boot, err);
    if (status == WIO_ERR_NOMEM) {
        return status;
    }
    if (status == WIO_OK) {
        size_t bytes = strcspn((const char *)boot.data, "\n");
        (void)snprintf(seal->boot_id, sizeof(seal->boot_id), "%.*s", (int)bytes, boot.data);
    }
    bool is_asked = false;
    WIO_TRY(wio_hide_load(dir, seal->key, &is_asked, err));
    seal->is_hiding = is_asked || params->anonymize;
    return WIO_OK;
}

static enum wio_status check_calls(const struct wio_seal_ring *ring, struct wio_error *err)
{
    if (ring->header.calls_hash == wio_calls_hash()) {
        return WIO_OK;
    }
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, ring->path,
                         offsetof(struct wio_ring_header, calls_hash),
                         "expected the table of calls %08x of this version, found %08x: only the "
                         "version that recorded can seal this ring",
                         wio_calls_hash(), ring->header.calls_hash);
}

/* Its events come later, or have come: its strings are those of its children, too (R-STRING-2). */
static bool is_only_for_strings(const struct wio_seal_ring *ring)
{
    return ring->is_for_strings || ring->is_skipped;
}

static bool is_needed(const struct wio_seal_ring *ring)
{
    return !ring->is_skipped || ring->is_asked;
}

/* Live rings that one of those to be sealed looks strings up in. Parents stand before children. */
static void find_asked(struct wio_seal *seal)
{
    for (uint32_t i = seal->ring_count; i > 0; i--) {
        const struct wio_seal_ring *ring = &seal->rings[i - 1];
        bool asks = ring->is_asked || !is_only_for_strings(ring);
        if (asks && ring->parent != UINT32_MAX) {
            seal->rings[ring->parent].is_asked = true;
        }
    }
}

static enum wio_status take_ring(struct wio_seal *seal, struct wio_seal_ring *ring,
                                 struct wio_error *err)
{
    WIO_TRY(check_calls(ring, err));
    WIO_CLEANUP(work_fini) struct wio_seal_work work = {.file = {.fd = -1}};
    struct wio_error fault = WIO_ERROR_INIT;
    work.chunk = calloc(1, sizeof(*work.chunk));
    if (work.chunk == NULL) {
        return wio_segment_fail(seal->segment, WIO_ERR_NOMEM, err);
    }
    enum wio_status status = wio_ring_open(&work.file, ring->path, &fault);
    status = status == WIO_OK ? wio_seal_scan(seal, ring, &work, &fault) : status;
    if (status == WIO_OK && !is_only_for_strings(ring)) {
        ring->start_ns = wio_seal_time(seal, ring, ring->header.start_mono_ns);
        status = wio_seal_process(seal, ring, &work, &fault);
        status = status == WIO_OK ? wio_seal_events(seal, ring, &work, &fault) : status;
        if (work.lost > 0) {
            (void)wio_error_set(&fault, WIO_ERR_FORMAT, ring->path, WIO_ERROR_NO_OFFSET,
                                "%llu records are damaged", (unsigned long long)work.lost);
            wio_seal_fault(seal, &fault);
        }
        status = status == WIO_OK ? wio_seal_process(seal, ring, &work, &fault) : status;
    }
    if (status != WIO_OK) {
        if (err != NULL) {
            *err = fault;
        }
        return status;
    }
    seal->totals.rings += !is_only_for_strings(ring);
    return WIO_OK;
}

static void add_totals(struct wio_seal *seal)
{
    for (uint32_t i = 0; i < seal->segment->process_count; i++) {
        const struct wio_segment_process *process = &seal->segment->processes[i];
        seal->totals.dropped += process->info.dropped;
        for (uint32_t k = 0; k < WIO_UNSEEN_COUNT; k++) {
            seal->totals.unseen[k] += process->unseen[k];
        }
    }
}

static enum wio_status take_rings(struct wio_seal *seal, struct wio_error *err)
{
    find_asked(seal);
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        seal->total_bytes += is_needed(&seal->rings[i]) ? seal->rings[i].file_bytes : 0;
    }
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        struct wio_seal_ring *ring = &seal->rings[i];
        if (!is_needed(ring)) {
            continue;
        }
        WIO_TRY(take_ring(seal, ring, err));
        if (!ring->has_children) {
            wio_map_fini(&ring->def_index);
            wio_blob_fini(&ring->text);
        }
    }
    add_totals(seal);
    return seal->params->look_at_files ? wio_seal_files(seal, err) : WIO_OK;
}

/* Everything into seal->segment, which is finished on success. `name` is NULL in memory. */
static enum wio_status fill(struct wio_seal *seal, const char *name, struct wio_error *err)
{
    const struct wio_seal_params *params = seal->params;
    if (params->decorate != NULL) {
        WIO_TRY(params->decorate(params->decorate_arg, seal->segment, err));
    }
    WIO_TRY(take_rings(seal, err));
    if (seal->faults.size > 0) {
        WIO_TRY(wio_segment_meta(seal->segment, WIO_SEGMENT_META_FAULTS,
                                 (const char *)seal->faults.data, seal->faults.size, err));
    }
    if (name != NULL && !params->keep_rings) {
        wio_seal_mark(seal, name);
    }
    struct wio_segment *segment = seal->segment;
    seal->segment = NULL;
    return wio_segment_finish(segment, err);
}

static struct wio_segment_params segment_params(const struct wio_seal *seal)
{
    return (struct wio_segment_params){
        .struct_size = sizeof(struct wio_segment_params),
        .base_unix_ns = seal->base_unix_ns,
        .base_mono_ns = seal->base_mono_ns,
        .boot_id = seal->base_boot_id,
    };
}

/* One sealing at a time: who comes second finds nothing left. Where the directory cannot be locked
 * (a file system without locks) there is only this one. */
static int lock_rings(const char *dir, const char *ring_dir)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s%s", ring_dir == NULL ? dir : ring_dir,
                   ring_dir == NULL ? "/raw" : "");
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)flock(fd, LOCK_EX);
    }
    return fd;
}

static enum wio_status begin(struct wio_seal *seal, const char *dir, const char *ring_dir,
                             const struct wio_seal_params *params, struct wio_error *err)
{
    WIO_TRY(seal_init(seal, dir, params, err));
    return wio_seal_find(seal, dir, ring_dir, err);
}

static bool has_unsealed(const struct wio_seal *seal)
{
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        if (!seal->rings[i].is_for_strings) {
            return true;
        }
    }
    return false;
}

static enum wio_status seal_into(struct wio_seal *seal, const char *dir, const char *ring_dir,
                                 const char *name, struct wio_error *err)
{
    char file[4096];
    struct stat st;
    /* R-RING-5 */
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        seal->rings[i].is_skipped = seal->rings[i].is_live && !seal->params->keep_rings;
    }
    if (seal->params->rings_only && !has_unsealed(seal)) {
        return WIO_OK; /* somebody else has sealed them in the meantime */
    }
    WIO_TRY(wio_seal_find_clock(seal, err));
    struct wio_segment_params params = segment_params(seal);
    (void)snprintf(file, sizeof(file), "%s/%s.seg", dir, name);
    WIO_TRY(wio_segment_create(file, &params, &seal->segment, err));
    WIO_TRY(fill(seal, name, err));
    seal->totals.bytes = stat(file, &st) == 0 ? (uint64_t)st.st_size : 0;
    if (!seal->params->keep_rings) {
        wio_seal_remove(seal, dir, ring_dir);
    }
    if (seal->params->totals != NULL) {
        *seal->params->totals = seal->totals;
    }
    return WIO_OK;
}

enum wio_status wio_seal(const char *dir, const char *ring_dir, const char *name,
                         const struct wio_seal_params *params, struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup) int lock = params->holds_lock ? -1 : lock_rings(dir, ring_dir);
    struct wio_seal seal;
    (void)lock; /* held until here ends */
    enum wio_status status = begin(&seal, dir, ring_dir, params, err);
    status = status == WIO_OK ? seal_into(&seal, dir, ring_dir, name, err) : status;
    seal_fini(&seal);
    return status;
}

static enum wio_status seal_to_memory(struct wio_seal *seal, const char *dir, int *fd_out,
                                      struct wio_error *err)
{
    WIO_TRY(wio_seal_find_clock(seal, err));
    struct wio_segment_params params = segment_params(seal);
    WIO_CLEANUP(wio_fd_cleanup) int fd = memfd_create("whyio-sealed", MFD_CLOEXEC);
    int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        return wio_error_sys(err, dir, "cannot seal into memory");
    }
    WIO_TRY(wio_segment_create_fd(copy, dir, &params, &seal->segment, err));
    WIO_TRY(fill(seal, NULL, err));
    *fd_out = fd;
    fd = -1;
    if (seal->params->totals != NULL) {
        *seal->params->totals = seal->totals;
    }
    return WIO_OK;
}

enum wio_status wio_seal_to_fd(const char *dir, const char *ring_dir, int *fd_out,
                               const struct wio_seal_params *params, struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup) int lock = lock_rings(dir, ring_dir);
    struct wio_seal seal;
    *fd_out = -1;
    (void)lock; /* held until here ends */
    enum wio_status status = begin(&seal, dir, ring_dir, params, err);
    status = status == WIO_OK ? seal_to_memory(&seal, dir, fd_out, err) : status;
    seal_fini(&seal);
    return status;
}

enum wio_status wio_seal_clear(const char *dir, struct wio_error *err)
{
    static const struct wio_seal_params params = {.struct_size = sizeof(params)};
    WIO_CLEANUP(wio_fd_cleanup) int lock = lock_rings(dir, NULL);
    struct wio_seal seal;
    (void)lock; /* held until here ends */
    enum wio_status status = begin(&seal, dir, NULL, &params, err);
    if (status == WIO_OK && !seal.is_held && !has_unsealed(&seal)) {
        wio_seal_remove(&seal, dir, NULL);
    }
    seal_fini(&seal);
    return status;
}

/* Is the directory of the ring one where the ring could be taken away? */
static bool can_remove(const struct wio_seal_ring *ring)
{
    char path[4096];
    int length = (int)(ring->name - ring->path);
    (void)snprintf(path, sizeof(path), "%.*s.", length, ring->path);
    return access(path, W_OK) == 0;
}

enum wio_status wio_seal_survey(const char *dir, struct wio_seal_survey *survey_out,
                                struct wio_error *err)
{
    static const struct wio_seal_params params = {.struct_size = sizeof(params)};
    struct wio_seal seal;
    *survey_out = (struct wio_seal_survey){.is_writable = access(dir, W_OK) == 0};
    enum wio_status status = begin(&seal, dir, NULL, &params, err);
    survey_out->is_going_on = seal.is_held;
    for (uint32_t i = 0; i < seal.ring_count && status == WIO_OK; i++) {
        const struct wio_seal_ring *ring = &seal.rings[i];
        survey_out->rings += !ring->is_for_strings;
        survey_out->sealed += ring->is_for_strings;
        survey_out->live += ring->is_live;
        survey_out->is_going_on = survey_out->is_going_on || ring->is_live;
        survey_out->is_writable = survey_out->is_writable && can_remove(ring);
    }
    seal_fini(&seal);
    return status;
}
