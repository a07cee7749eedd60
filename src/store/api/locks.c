/* SPDX-License-Identifier: Apache-2.0 */
/* Advisory locks: one request to each segment that has bytes of the range, in their order. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/api/api_internal.h"

/* Servers lock no byte behind. */
#define OFFSET_MAX (UINT64_C(1) << 62)
#define PAUSE_MIN_NS UINT64_C(500000)
#define PAUSE_MAX_NS UINT64_C(50000000)
#define SECOND_NS UINT64_C(1000000000)
#define GIVE_BACK_NS UINT64_C(500000000)
#define SEND_NS UINT64_C(10000000)

struct advice {
    uint64_t offset;
    uint64_t size;
    bool is_exclusive;
    uint64_t deadline_ns;
};

static struct wio_store_piece piece_of(const struct wio_store_file *file,
                                       const struct advice *range, uint32_t i)
{
    if (file->place.is_segment) {
        return (struct wio_store_piece){file->place.segment, range->offset, range->size};
    }
    return wio_layout_piece(&file->place.layout, range->offset, range->size, i);
}

static uint32_t piece_count(const struct wio_store_file *file)
{
    return file->place.is_segment ? 1 : file->place.layout.segments;
}

static enum wio_status ask_piece(struct wio_store_file *file, const struct advice *range,
                                 uint16_t code, const struct wio_store_piece *piece,
                                 struct wio_error *err)
{
    WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
    struct wio_store_blockers *blockers = calloc(1, sizeof(*blockers));
    const struct api_question question = {
        .request = {.op = code,
                    .source = file->place.source,
                    .file = file->place.file,
                    .generation = file->place.generation,
                    .segment = piece->segment,
                    .offset = piece->offset,
                    .size = piece->size,
                    .mode = range->is_exclusive ? WIO_LOCK_EXCLUSIVE : WIO_LOCK_SHARED},
        .is_for_target = true,
        .target = wio_layout_target(&file->place.layout, piece->segment),
        .deadline_ns = range->deadline_ns,
    };
    enum wio_status status = api_ask(file->store, &question, &answer, blockers, err);
    if (status == WIO_ERR_BUSY && blockers != NULL && blockers->listed > 0) {
        (void)pthread_mutex_lock(&file->mutex);
        free(file->blockers);
        file->blockers = blockers;
        (void)pthread_mutex_unlock(&file->mutex);
        return status;
    }
    free(blockers);
    return status;
}

/* The pieces before `end`, all of them, also after one failed: the first error is told. Where the
 * time has passed, each is still sent. What cannot be given back ends with the lease. */
static enum wio_status unlock_pieces(struct wio_store_file *file, const struct advice *range,
                                     uint32_t end, struct wio_error *err)
{
    enum wio_status first = WIO_OK;
    for (uint32_t i = 0; i < end; i++) {
        struct wio_store_piece piece = piece_of(file, range, i);
        struct advice own = *range;
        if (piece.size == 0) {
            continue;
        }
        if (first != WIO_OK) {
            uint64_t soon_ns = wio_clock_mono_ns() + SEND_NS;
            own.deadline_ns = own.deadline_ns > soon_ns ? own.deadline_ns : soon_ns;
        }
        enum wio_status status =
            ask_piece(file, &own, WIO_STORE_UNLOCK, &piece, first == WIO_OK ? err : NULL);
        first = first == WIO_OK ? status : first;
    }
    return first;
}

/* Of a range whose piece `i` failed: the pieces before, and that one unless it was refused. */
static void give_back(struct wio_store_file *file, const struct advice *range, uint32_t i,
                      bool is_refused)
{
    struct advice own = *range;
    own.deadline_ns = wio_clock_mono_ns() + GIVE_BACK_NS;
    (void)!unlock_pieces(file, &own, is_refused ? i : i + 1, NULL);
}

static enum wio_status lock_pieces(struct wio_store_file *file, const struct advice *range,
                                   struct wio_error *err)
{
    for (uint32_t i = 0; i < piece_count(file); i++) {
        struct wio_store_piece piece = piece_of(file, range, i);
        enum wio_status status =
            piece.size > 0 ? ask_piece(file, range, WIO_STORE_LOCK, &piece, err) : WIO_OK;
        if (status != WIO_OK) {
            give_back(file, range, i, status == WIO_ERR_BUSY && err->sys_errno == EAGAIN);
            return status;
        }
    }
    return WIO_OK;
}

static enum wio_status range_of(const struct wio_store_file *file, uint64_t offset, uint64_t size,
                                struct advice *range_out, struct wio_error *err)
{
    if (offset >= OFFSET_MAX || (size > 0 && size > OFFSET_MAX - offset)) {
        (void)wio_error_set(err, WIO_ERR_IO, file->path, WIO_ERROR_NO_OFFSET,
                            "the range is none of a file");
        if (err != NULL) {
            err->sys_errno = EINVAL;
        }
        return WIO_ERR_IO;
    }
    *range_out = (struct advice){.offset = offset,
                                 .size = size > 0 ? size : OFFSET_MAX - offset,
                                 .deadline_ns = api_deadline_ns(file->store, file->timeout_ns)};
    return WIO_OK;
}

static void rest(uint64_t ns)
{
    const struct timespec pause = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    (void)nanosleep(&pause, NULL);
}

enum wio_status wio_store_lock(struct wio_store_file *file, uint64_t offset, uint64_t size,
                               bool is_exclusive, bool is_waiting, struct wio_error *err)
{
    struct advice range;
    struct wio_error own = WIO_ERROR_INIT;
    uint64_t pause_ns = PAUSE_MIN_NS;
    WIO_TRY(range_of(file, offset, size, &range, err));
    range.is_exclusive = is_exclusive;
    enum wio_status status = lock_pieces(file, &range, &own);
    while (status == WIO_ERR_BUSY && own.sys_errno == EAGAIN && is_waiting &&
           wio_clock_mono_ns() + pause_ns < range.deadline_ns) {
        rest(pause_ns);
        pause_ns = pause_ns * 2 < PAUSE_MAX_NS ? pause_ns * 2 : PAUSE_MAX_NS;
        own = (struct wio_error)WIO_ERROR_INIT;
        status = lock_pieces(file, &range, &own);
    }
    if (status == WIO_ERR_BUSY && is_waiting) {
        own.sys_errno = ETIMEDOUT;
    }
    return status == WIO_OK ? WIO_OK : api_about(wio_error_pass(err, &own), file->path, err);
}

enum wio_status wio_store_unlock(struct wio_store_file *file, uint64_t offset, uint64_t size,
                                 struct wio_error *err)
{
    struct advice range;
    WIO_TRY(range_of(file, offset, size, &range, err));
    return api_about(unlock_pieces(file, &range, piece_count(file), err), file->path, err);
}
