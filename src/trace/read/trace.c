/* SPDX-License-Identifier: Apache-2.0 */
#include <whyio/trace.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "trace/edges/edge_file.h"
#include "trace/read/opening.h"
#include "trace/read/trace_internal.h"

#define SETTLE_PAUSE_NS UINT64_C(20000000)

enum { SETTLE_ATTEMPTS = 200 };

static void pending_cleanup(struct wio_pending **pending)
{
    wio_fd_cleanup(&(*pending)->fd);
}

static void close_cleanup(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

static enum wio_status no_memory(const char *file, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, file, WIO_ERROR_NO_OFFSET, "no memory for the trace");
}

/* Takes over `fd`, also on failure. A file that could not be opened is kept with the reason, which
 * is reported when it is read (and check goes on with the next). */
static enum wio_status add_segment(struct wio_trace *trace, int fd, const char *name,
                                   struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup) int owned = fd;
    struct stat st = {0};
    int open_errno = fd < 0 || fstat(owned, &st) != 0 ? errno : 0;
    if (open_errno == 0 && !S_ISREG(st.st_mode)) {
        open_errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    }
    void *array = trace->segments;
    char *copy = strdup(name);
    if (copy == NULL || wio_grow(&array, sizeof(*trace->segments), &trace->segment_capacity,
                                 trace->segment_count + 1) != WIO_OK) {
        free(copy);
        return no_memory(name, err);
    }
    trace->segments = array;
    trace->segments[trace->segment_count++] = (struct wio_reader_segment){
        .name = copy,
        .open_errno = open_errno,
        .file = {.fd = owned, .name = copy, .size = (uint64_t)st.st_size},
    };
    owned = -1;
    return WIO_OK;
}

static int compare_segments(const void *a, const void *b)
{
    return strcmp(((const struct wio_reader_segment *)a)->name,
                  ((const struct wio_reader_segment *)b)->name);
}

/* One entry of the trace directory. *is_gone_out: removed since it was listed. */
static enum wio_status find_segment(struct wio_trace *trace, int dir, const char *entry,
                                    bool *is_gone_out, struct wio_error *err)
{
    struct stat st;
    char name[4096];
    if (snprintf(name, sizeof(name), "%s/%s", trace->path, entry) >= (int)sizeof(name)) {
        errno = ENAMETOOLONG;
        return wio_error_sys(err, name, "cannot open the segment");
    }
    int fd = wio_io_open_regular(dir, entry, 0);
    if (fd < 0 && errno == ENOENT && fstatat(dir, entry, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        *is_gone_out = true;
        return WIO_OK;
    }
    return add_segment(trace, fd, name, err);
}

/* R-DIR-1, R-DIR-2: all NAME.seg, in the order of their names. */
static enum wio_status find_segments(struct wio_trace *trace, bool *is_gone_out,
                                     struct wio_error *err)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *dir = wio_io_list(trace->dir);
    *is_gone_out = false;
    if (dir == NULL) {
        return wio_error_sys(err, trace->path, "cannot open the trace");
    }
    struct dirent *entry = NULL;
    while ((errno = 0, entry = readdir(dir)) != NULL) {
        if (wio_text_ends_with(entry->d_name, ".seg")) {
            WIO_TRY(find_segment(trace, dirfd(dir), entry->d_name, is_gone_out, err));
        }
    }
    if (errno != 0) {
        return wio_error_sys(err, trace->path, "cannot read the trace directory");
    }
    if (trace->segment_count > 1) {
        qsort(trace->segments, trace->segment_count, sizeof(*trace->segments), compare_segments);
    }
    return WIO_OK;
}

static void forget_segments(struct wio_trace *trace)
{
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        wio_reader_close(&trace->segments[i]);
    }
    trace->segment_count = 0;
}

/* The names of the segments as one number, which changes when a segment comes or goes. */
static uint64_t sum_of_names(int directory)
{
    uint64_t sum = 0;
    WIO_CLEANUP(wio_dir_cleanup) DIR *dir = wio_io_list(directory);
    const struct dirent *entry = NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (wio_text_ends_with(entry->d_name, ".seg")) {
            sum += XXH3_64bits(entry->d_name, strlen(entry->d_name));
        }
    }
    return sum;
}

/* R-DIR-5: wall clocks may be stepped while a program runs, so where two segments share a boot
 * their monotonic clocks place them. */
static void place_segments(struct wio_trace *trace)
{
    uint64_t zero = UINT64_MAX;
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        struct wio_reader_segment *segment = &trace->segments[i];
        for (uint32_t k = 0; k < i; k++) {
            const struct wio_reader_segment *other = &trace->segments[k];
            if (segment->boot_id[0] != '\0' && segment->base_mono_ns != 0 &&
                other->base_mono_ns != 0 && strcmp(segment->boot_id, other->boot_id) == 0) {
                segment->base_unix_ns =
                    other->base_unix_ns + (segment->base_mono_ns - other->base_mono_ns);
                break;
            }
        }
        zero = segment->base_unix_ns < zero ? segment->base_unix_ns : zero;
    }
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        struct wio_reader_segment *segment = &trace->segments[i];
        uint64_t shift = segment->base_unix_ns - zero;
        segment->context.shift_ns = shift;
        for (uint32_t p = 0; p < segment->process_count; p++) {
            trace->processes[segment->process_base + p].start_ns += shift;
            trace->processes[segment->process_base + p].end_ns += shift;
        }
        for (uint32_t s = 0; s < segment->stream_count; s++) {
            struct wio_stream_info *stream = &trace->streams[segment->context.stream_base + s];
            stream->first_ns += shift;
            stream->last_ns += shift;
        }
    }
    trace->info.start_unix_ns = zero == UINT64_MAX ? 0 : zero;
}

static int compare_blocks(const void *a, const void *b)
{
    const struct wio_block_ref *left = a;
    const struct wio_block_ref *right = b;
    if (left->stream != right->stream) {
        return left->stream < right->stream ? -1 : 1;
    }
    if (left->first_seq != right->first_seq) {
        return left->first_seq < right->first_seq ? -1 : 1;
    }
    return (left->offset > right->offset) - (left->offset < right->offset);
}

static enum wio_status sort_blocks(struct wio_trace *trace)
{
    trace->ranges = calloc((size_t)trace->stream_count + 1, sizeof(*trace->ranges));
    if (trace->ranges == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (trace->block_count > 1) {
        qsort(trace->blocks, trace->block_count, sizeof(*trace->blocks), compare_blocks);
    }
    for (uint32_t i = 0; i < trace->block_count; i++) {
        struct wio_block_range *range = &trace->ranges[trace->blocks[i].stream];
        range->first = range->count == 0 ? i : range->first;
        range->count++;
    }
    return WIO_OK;
}

static enum wio_status read_segments(struct wio_trace *trace, struct wio_error *err)
{
    struct wio_pack pack = {0};
    enum wio_status status = WIO_OK;
    for (uint32_t i = 0; i < trace->segment_count && status == WIO_OK; i++) {
        status = wio_reader_open(trace, i, &pack, err);
    }
    wio_pack_fini(&pack);
    return status;
}

/* What sealing left for the caller, beside the segments that the directory has. */
static enum wio_status add_pending(struct wio_trace *trace, struct wio_pending *pending,
                                   struct wio_error *err)
{
    char name[4096];
    bool is_trace = trace->segment_count > 0 || pending->has_rings;
    if (pending->fd >= 0 && is_trace) {
        (void)snprintf(name, sizeof(name), "%s/raw", trace->path);
        int fd = pending->fd;
        pending->fd = -1;
        WIO_TRY(add_segment(trace, fd, name, err));
    }
    /* R-DIR-4 */
    if (trace->segment_count == 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, trace->path, WIO_ERROR_NO_OFFSET,
                             "expected segments (*.seg) or rings (raw/*.ring), found neither: "
                             "this is no trace");
    }
    return WIO_OK;
}

/* R-DIR-3: rings become a segment before anything is read. *is_settled_out: no recorder and no
 * other command has made a segment of rings that were sealed into memory here; with it the same
 * events would be in the trace twice. Nor have rings gone, to a segment, while they were read: that
 * is an error if `is_last`. */
static enum wio_status find_once(struct wio_trace *trace, const struct wio_opening *opening,
                                 bool is_last, bool *is_settled_out, struct wio_error *err)
{
    struct wio_pending pending = {.fd = -1};
    struct wio_error sealing = WIO_ERROR_INIT;
    bool is_gone = false;
    uint64_t before = sum_of_names(trace->dir);
    enum wio_status status = opening->pending(trace->dir, trace->path, opening->progress,
                                              opening->progress_arg, &pending, &sealing);
    WIO_CLEANUP(pending_cleanup) struct wio_pending *owned = &pending;
    trace->info.live = pending.is_live;
    WIO_TRY(find_segments(trace, &is_gone, err));
    bool is_same = sum_of_names(trace->dir) == before;
    if (status != WIO_OK && (is_last || (is_same && sealing.sys_errno != ENOENT))) {
        return wio_error_pass(err, &sealing);
    }
    *is_settled_out = status == WIO_OK && !is_gone && (pending.fd < 0 || is_same);
    return *is_settled_out ? add_pending(trace, owned, err) : WIO_OK;
}

static enum wio_status find_all(struct wio_trace *trace, const struct wio_opening *opening,
                                struct wio_error *err)
{
    for (unsigned i = 0; i < SETTLE_ATTEMPTS; i++) {
        bool is_settled = false;
        bool is_last = i + 1 == SETTLE_ATTEMPTS;
        WIO_TRY(find_once(trace, opening, is_last, &is_settled, err));
        if (is_settled) {
            return WIO_OK;
        }
        forget_segments(trace);
        wio_clock_sleep_ns(SETTLE_PAUSE_NS);
    }
    return wio_error_set(err, WIO_ERR_BUSY, trace->path, WIO_ERROR_NO_OFFSET,
                         "segments come and go while they are read");
}

static enum wio_status read_all(struct wio_trace *trace, struct wio_error *err)
{
    if (wio_trace_first_entries(trace) != WIO_OK) {
        return no_memory(trace->path, err);
    }
    WIO_TRY(read_segments(trace, err));
    place_segments(trace);
    if (sort_blocks(trace) != WIO_OK) {
        return no_memory(trace->path, err);
    }
    return wio_trace_summarise(trace, err);
}

/* The directory that is open is the trace, whatever gets its name meanwhile. */
static enum wio_status open_directory(struct wio_trace *trace, struct wio_error *err)
{
    trace->dir = open(trace->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (trace->dir < 0 && errno == ENOTDIR) {
        return wio_error_set(err, WIO_ERR_FORMAT, trace->path, WIO_ERROR_NO_OFFSET,
                             "expected a trace directory, found a file");
    }
    return trace->dir < 0 ? wio_error_sys(err, trace->path, "cannot open the trace") : WIO_OK;
}

/* *trace_out is the caller's to close also after a failure. */
static enum wio_status begin(const char *path, struct wio_trace **trace_out, struct wio_error *err)
{
    struct wio_trace *trace = calloc(1, sizeof(*trace));
    *trace_out = trace;
    if (trace == NULL) {
        return no_memory(path, err);
    }
    trace->dir = -1;
    trace->path = strdup(path);
    return trace->path == NULL ? no_memory(path, err) : open_directory(trace, err);
}

enum wio_status wio_trace_list(const char *path, const struct wio_opening *opening,
                               struct wio_trace **trace_out, struct wio_error *err)
{
    WIO_TRY(begin(path, trace_out, err));
    return find_all(*trace_out, opening, err);
}

enum wio_status wio_trace_edges_fault(const struct wio_trace *trace, struct wio_error *err)
{
    WIO_PRE(trace != NULL);
    return trace->edges_fault.status == WIO_OK ? WIO_OK : wio_error_pass(err, &trace->edges_fault);
}

enum wio_status wio_trace_load_events(const char *path, const struct wio_opening *opening,
                                      struct wio_trace **trace_out, struct wio_error *err)
{
    WIO_CLEANUP(close_cleanup) struct wio_trace *trace = NULL;
    WIO_TRY(begin(path, &trace, err));
    WIO_TRY(find_all(trace, opening, err));
    WIO_TRY(read_all(trace, err));
    *trace_out = trace;
    trace = NULL;
    return WIO_OK;
}

enum wio_status wio_trace_load(const char *path, const struct wio_opening *opening,
                               struct wio_trace **trace_out, struct wio_error *err)
{
    WIO_CLEANUP(close_cleanup) struct wio_trace *trace = NULL;
    WIO_TRY(wio_trace_load_events(path, opening, &trace, err));
    enum wio_status status = wio_trace_find_edges(trace, &trace->edges_fault);
    if (status == WIO_ERR_NOMEM) {
        return wio_error_pass(err, &trace->edges_fault);
    }
    *trace_out = trace;
    trace = NULL;
    return WIO_OK;
}
