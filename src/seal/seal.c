/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/seal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/system/boot_id.h"
#include "ops/calls.h"
#include "seal/seal_internal.h"

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
    wio_map_fini(&work->used);
    free(work->opened);
    free(work->chunk);
}

void wio_seal_fini(struct wio_seal *seal)
{
    wio_segment_abandon(seal->segment);
    for (uint32_t i = 0; i < seal->dir_count; i++) {
        wio_ring_dir_close(&seal->dirs[i]);
    }
    free(seal->dirs);
    wio_raw_close(&seal->raw);
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
    free(seal->kin);
    wio_blob_fini(&seal->faults.lines);
    wio_blob_fini(&seal->remarks.lines);
    wio_strtab_fini(&seal->remarked);
    wio_seal_refused_fini(seal);
    wio_bound_close(&seal->bound.file);
}

static enum wio_status seal_init(struct wio_seal *seal, struct wio_error *err)
{
    wio_boot_id(seal->boot_id);
    seal->calls_hash = wio_calls_hash();
    bool is_asked = false;
    WIO_TRY(wio_hide_load(seal->raw.fd, seal->key, &is_asked, err));
    seal->is_hiding = is_asked || seal->params->anonymize;
    return WIO_OK;
}

static enum wio_status check_calls(const struct wio_seal *seal, const struct wio_seal_ring *ring,
                                   struct wio_error *err)
{
    if (ring->header.calls_hash == seal->calls_hash) {
        return WIO_OK;
    }
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, ring->path,
                         offsetof(struct wio_ring_header, calls_hash),
                         "expected the table of calls %08x of this version, found %08x: only the "
                         "version that recorded can seal this ring",
                         seal->calls_hash, ring->header.calls_hash);
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

/* R-RING-9 */
static enum wio_status take_blank(struct wio_seal *seal, struct wio_seal_ring *ring,
                                  struct wio_seal_work *work, struct wio_error *err)
{
    char user[WIO_USER_BYTES];
    wio_seal_user(ring->owner, user);
    wio_seal_remark(
        seal,
        "'%s' has no header: process %d of %s is not recorded (there was no room, or it "
        "ended as it began)",
        seal->is_hiding ? ring->name : ring->path, ring->header.pid, user);
    ring->start_ns = wio_seal_time(seal, ring, ring->header.start_mono_ns);
    seal->totals.rings += 1;
    return wio_seal_process(seal, ring, work, err);
}

static enum wio_status take_ring(struct wio_seal *seal, struct wio_seal_ring *ring,
                                 struct wio_error *err)
{
    WIO_CLEANUP(work_fini) struct wio_seal_work work = {.file = {.fd = -1}};
    if (ring->is_blank && !is_only_for_strings(ring)) {
        return take_blank(seal, ring, &work, err);
    }
    if (ring->is_blank) {
        return WIO_OK;
    }
    WIO_TRY(check_calls(seal, ring, err));
    struct wio_error fault = WIO_ERROR_INIT;
    work.chunk = calloc(1, sizeof(*work.chunk));
    if (work.chunk == NULL) {
        return wio_segment_fail(seal->segment, WIO_ERR_NOMEM, err);
    }
    const struct wio_bound *bound = NULL;
    enum wio_status status = wio_seal_bound(seal, ring, &bound, &fault);
    status = status == WIO_OK ? wio_ring_open(&work.file, seal->dirs[ring->dir].fd, ring->name,
                                              ring->path, bound, &fault)
                              : status;
    status = status == WIO_OK ? wio_seal_scan(seal, ring, &work, &fault) : status;
    if (status == WIO_OK && !is_only_for_strings(ring)) {
        ring->start_ns = wio_seal_time(seal, ring, ring->header.start_mono_ns);
        status = wio_seal_process(seal, ring, &work, &fault);
        status = status == WIO_OK ? wio_seal_events(seal, ring, &work, &fault) : status;
        status = status == WIO_OK ? wio_seal_find_opened(seal, ring, &work) : status;
        if (work.lost > 0) {
            (void)wio_error_set(&fault, WIO_ERR_FORMAT, ring->path, WIO_ERROR_NO_OFFSET,
                                "%llu records are damaged", (unsigned long long)work.lost);
            wio_seal_name_ring(seal, ring, &fault);
            wio_seal_fault(seal, &fault);
        }
        status = status == WIO_OK ? wio_seal_process(seal, ring, &work, &fault) : status;
        wio_seal_note_bound(seal, ring);
    }
    if (status != WIO_OK) {
        wio_seal_name_ring(seal, ring, &fault);
        return wio_error_pass(err, &fault);
    }
    seal->totals.rings += !is_only_for_strings(ring);
    return WIO_OK;
}

static void add_totals(struct wio_seal *seal)
{
    const struct wio_blob *remarks = &seal->remarks.lines;
    if (remarks->size > 0) {
        (void)snprintf(seal->totals.remarks, sizeof(seal->totals.remarks), "%.*s",
                       (int)remarks->size, remarks->data);
    }
    for (uint32_t i = 0; i < seal->segment->process_count; i++) {
        const struct wio_segment_process *process = &seal->segment->processes[i];
        seal->totals.dropped += process->info.dropped;
        seal->totals.evicted += process->info.evicted;
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
            wio_seal_forget_defs(ring);
        }
    }
    enum wio_status status = wio_seal_settle_kin(seal);
    if (status != WIO_OK) {
        return wio_segment_fail(seal->segment, status, err);
    }
    add_totals(seal);
    return seal->params->look_at_files ? wio_seal_files(seal, err) : WIO_OK;
}

static enum wio_status put_notes(struct wio_seal *seal, unsigned key,
                                 const struct wio_seal_notes *notes, struct wio_error *err)
{
    const struct wio_blob *lines = &notes->lines;
    return lines->size == 0
               ? WIO_OK
               : wio_segment_meta(seal->segment, key, (const char *)lines->data, lines->size, err);
}

/* Everything into seal->segment, which is finished on success. `name` is NULL in memory. */
static enum wio_status fill(struct wio_seal *seal, const char *name, struct wio_error *err)
{
    const struct wio_seal_params *params = seal->params;
    if (params->decorate != NULL) {
        WIO_TRY(params->decorate(params->decorate_arg, seal->segment, err));
    }
    WIO_TRY(take_rings(seal, err));
    WIO_TRY(wio_seal_put_bound(seal, err));
    WIO_TRY(put_notes(seal, WIO_SEGMENT_META_FAULTS, &seal->faults, err));
    WIO_TRY(put_notes(seal, WIO_SEGMENT_META_REMARKS, &seal->remarks, err));
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

/* NOLINTNEXTLINE(readability-function-size): wio_seal_begin with one more */
enum wio_status wio_seal_begin_at(struct wio_seal *seal, int at, const char *dir,
                                  const char *ring_dir, bool is_alone,
                                  const struct wio_seal_params *params, struct wio_error *err)
{
    *seal =
        (struct wio_seal){.params = params, .raw = WIO_RAW_INIT, .bound = {.file = WIO_BOUND_INIT}};
    WIO_TRY(wio_raw_open_at(&seal->raw, at, dir, err));
    if (is_alone && !wio_raw_lock(&seal->raw) && seal->raw.fd < 0) {
        WIO_TRY(wio_raw_reopen(&seal->raw, err));
    }
    WIO_TRY(seal_init(seal, err));
    return wio_seal_find(seal, dir, ring_dir, err);
}

enum wio_status wio_seal_begin(struct wio_seal *seal, const char *dir, const char *ring_dir,
                               bool is_alone, const struct wio_seal_params *params,
                               struct wio_error *err)
{
    return wio_seal_begin_at(seal, -1, dir, ring_dir, is_alone, params, err);
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

/* Some rings have gone, so their segment is all there is of them: it stays, though what it has of
 * the rings that stay is sealed once more. */
static void tell_twice(struct wio_seal *seal)
{
    char *text = seal->totals.remarks;
    size_t used = strlen(text);
    (void)snprintf(text + used, sizeof(seal->totals.remarks) - used,
                   "rings can be neither removed nor marked as sealed: their events come twice\n");
}

/* What is left of a segment whose rings can be neither removed nor marked: nothing, as they would
 * be sealed once more by each command. It goes only while all of its rings are there. */
static enum wio_status withdraw(struct wio_seal *seal, const char *file, const char *name,
                                enum wio_seal_left left, struct wio_error *err)
{
    char entry[NAME_MAX + 1];
    (void)snprintf(entry, sizeof(entry), "%s.seg", name);
    if (left != WIO_SEAL_LEFT_ALL || unlinkat(seal->raw.dir, entry, 0) != 0) {
        tell_twice(seal);
        return WIO_OK;
    }
    return wio_error_set(err, WIO_ERR_IO, file, WIO_ERROR_NO_OFFSET,
                         "cannot take the rings away, nor note that they are sealed");
}

enum wio_status wio_seal_into(struct wio_seal *seal, const char *dir, const char *name,
                              struct wio_error *err)
{
    char file[4096];
    struct stat st;
    /* R-RING-5 */
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        seal->rings[i].is_skipped = seal->rings[i].is_live && !seal->params->keep_rings;
    }
    if (seal->params->rings_only && !has_unsealed(seal)) {
        return WIO_OK; /* another process has sealed them in the meantime */
    }
    WIO_TRY(wio_seal_find_clock(seal, err));
    struct wio_segment_params params = segment_params(seal);
    (void)snprintf(file, sizeof(file), "%s/%s.seg", dir, name);
    /* Into the directory that was judged, whatever has its name now. */
    WIO_TRY(seal->raw.dir < 0
                ? wio_segment_create(file, &params, &seal->segment, err)
                : wio_segment_create_at(seal->raw.dir, file, &params, &seal->segment, err));
    WIO_TRY(fill(seal, name, err));
    bool is_there = fstatat(seal->raw.dir, strrchr(file, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) == 0;
    seal->totals.bytes = is_there ? (uint64_t)st.st_size : 0;
    wio_seal_count_live(seal);
    enum wio_seal_left left = seal->params->keep_rings
                                  ? WIO_SEAL_LEFT_NONE
                                  : wio_seal_remove(seal, seal->params->holds_lock);
    if (left != WIO_SEAL_LEFT_NONE) {
        WIO_TRY(withdraw(seal, file, name, left, err));
    }
    if (seal->params->totals != NULL) {
        *seal->params->totals = seal->totals;
    }
    return WIO_OK;
}

enum wio_status wio_seal(const char *dir, const char *ring_dir, const char *name,
                         const struct wio_seal_params *params, struct wio_error *err)
{
    WIO_CLEANUP(wio_seal_fini) struct wio_seal seal;
    WIO_TRY(wio_seal_begin(&seal, dir, ring_dir, !params->holds_lock, params, err));
    return wio_seal_into(&seal, dir, name, err);
}

enum wio_status wio_seal_into_memory(struct wio_seal *seal, const char *dir, int *fd_out,
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
    WIO_CLEANUP(wio_seal_fini) struct wio_seal seal;
    *fd_out = -1;
    WIO_TRY(wio_seal_begin(&seal, dir, ring_dir, false, params, err));
    return wio_seal_into_memory(&seal, dir, fd_out, err);
}

void wio_seal_count(const struct wio_seal *seal, struct wio_seal_survey *survey_out)
{
    *survey_out = (struct wio_seal_survey){
        .is_writable = seal->raw.is_own && faccessat(seal->raw.dir, ".", W_OK, AT_EACCESS) == 0,
        .is_going_on = seal->is_held,
    };
    for (uint32_t i = 0; i < seal->dir_count; i++) {
        const struct wio_ring_dir *dir = &seal->dirs[i];
        survey_out->is_writable = survey_out->is_writable && dir->is_own &&
                                  faccessat(dir->fd, ".", W_OK, AT_EACCESS) == 0;
    }
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_seal_ring *ring = &seal->rings[i];
        survey_out->rings += !ring->is_for_strings;
        survey_out->sealed += ring->is_for_strings;
        survey_out->live += ring->is_live;
        survey_out->is_going_on = survey_out->is_going_on || ring->is_live;
    }
}

enum wio_status wio_seal_survey(const char *dir, struct wio_seal_survey *survey_out,
                                struct wio_error *err)
{
    static const struct wio_seal_params params = {.struct_size = sizeof(params)};
    WIO_CLEANUP(wio_seal_fini) struct wio_seal seal;
    *survey_out = (struct wio_seal_survey){0};
    /* Without the lock on raw/: all recorders of a launch look at about the same time. */
    WIO_TRY(wio_seal_begin(&seal, dir, NULL, false, &params, err));
    wio_seal_count(&seal, survey_out);
    return WIO_OK;
}
