/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/check/check_internal.h"
#include "trace/check/check_twice.h"
#include "trace/read/opening.h"

static void check_fini(struct wio_check *check)
{
    wio_trace_close(check->trace);
    check->trace = NULL;
    wio_pack_fini(&check->pack);
    free(check->blocks);
    free(check->entries);
    free(check->next_seq);
    free(check->has_block);
    free(check->counted);
    free(check->last_ns);
}

/* Move segment `i` of `all` into a trace of its own, so that its ids are those of its tables. */
static enum wio_status take_segment(struct wio_trace *all, uint32_t i, struct wio_check *check)
{
    struct wio_trace *one = calloc(1, sizeof(*one));
    check->trace = one;
    if (one == NULL || (one->path = strdup(all->path)) == NULL ||
        (one->segments = calloc(1, sizeof(*one->segments))) == NULL) {
        return WIO_ERR_NOMEM;
    }
    one->segments[0] = all->segments[i];
    one->segment_count = 1;
    one->segment_capacity = 1;
    all->segments[i] = (struct wio_reader_segment){.file = {.fd = -1}};
    return wio_trace_first_entries(one);
}

static enum wio_status check_twice(struct wio_check *check, uint32_t number)
{
    struct wio_check_twice found;
    WIO_TRY(wio_check_twice(check->trace, number, check->images, &found));
    if (found.count > 0) {
        wio_check_fault(check, wio_check_offset_of(check, WIO_BLOCK_PROCESSES),
                        "expected each process image in one segment, found %llu that segment %u "
                        "of the directory has too, first pid %d of %.200s: rings were sealed twice",
                        (unsigned long long)found.count, found.segment, found.first->pid,
                        found.first->host);
    }
    return WIO_OK;
}

/* `common` says how to report; its counts go on over the segments. */
static enum wio_status check_one(struct wio_trace *all, uint32_t i, struct wio_check *common,
                                 struct wio_error *err)
{
    struct wio_check check = *common;
    uint64_t bytes = all->segments[i].file.size;
    enum wio_status status = take_segment(all, i, &check);
    if (status == WIO_OK) {
        wio_check_segment(&check);
        status = check_twice(&check, i + 1);
    }
    common->faults = check.faults;
    common->bytes_before += bytes;
    check_fini(&check);
    return status == WIO_OK
               ? WIO_OK
               : wio_error_set(err, status, all->path, WIO_ERROR_NO_OFFSET, "no memory to check");
}

static uint64_t bytes_of(const struct wio_trace *all)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < all->segment_count; i++) {
        bytes += all->segments[i].file.size;
    }
    return bytes;
}

enum wio_status wio_trace_verify(const char *path, const struct wio_opening *opening,
                                 wio_fault_fn *fault, void *arg, struct wio_error *err)
{
    WIO_CLEANUP(wio_map_fini) struct wio_map images = {0};
    struct wio_check common = {.fault = fault,
                               .arg = arg,
                               .progress = opening->progress,
                               .progress_arg = opening->progress_arg,
                               .images = &images};
    struct wio_trace *all = NULL;
    struct wio_error finding = WIO_ERROR_INIT;
    enum wio_status status = wio_trace_list(path, opening, &all, &finding);
    if (status != WIO_OK && (all == NULL || all->segment_count == 0)) {
        wio_trace_close(all);
        if (err != NULL) {
            *err = finding;
        }
        return status;
    }
    if (status != WIO_OK) {
        common.faults++;
        fault(arg, &finding); /* rings that cannot be sealed, beside segments that can be read */
        status = WIO_OK;
    }
    common.bytes_total = bytes_of(all);
    for (uint32_t i = 0; i < all->segment_count && status == WIO_OK; i++) {
        status = check_one(all, i, &common, err);
    }
    wio_trace_close(all);
    if (status != WIO_OK) {
        return status;
    }
    return common.faults == 0 ? WIO_OK : WIO_END;
}
