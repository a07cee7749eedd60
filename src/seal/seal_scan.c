/* SPDX-License-Identifier: Apache-2.0 */
/* The first reading of a ring: everything that may be defined behind its use in another writer's
 * chunk. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "seal/seal_internal.h"

static enum wio_status add_completion(struct wio_seal_work *work, const union wio_slot *slot)
{
    void *array = work->completions;
    WIO_TRY(wio_grow(&array, sizeof(*work->completions), &work->completion_capacity,
                     work->completion_count + 1));
    work->completions = array;
    work->completions[work->completion_count++] = (struct wio_seal_completion){
        .key = slot->completion.key,
        .ticks = slot->completion.ticks,
        .result = slot->completion.result,
    };
    return WIO_OK;
}

static enum wio_status add_meta(struct wio_seal_ring *ring, const union wio_slot *slot)
{
    size_t bytes = 0;
    const char *text = wio_slot_payload(slot, &bytes);
    struct wio_blob *place = slot->text.id == WIO_META_EXE    ? &ring->exe
                             : slot->text.id == WIO_META_ARGV ? &ring->argv
                             : slot->text.id == WIO_META_CWD  ? &ring->cwd
                                                              : NULL;
    if (text == NULL || place == NULL || place->size > 0) {
        return WIO_OK;
    }
    return wio_blob_put(place, text, bytes);
}

static enum wio_status add_record(struct wio_seal *seal, struct wio_seal_ring *ring,
                                  struct wio_seal_work *work, const union wio_slot *slot)
{
    if (ring->header.keep == WIO_BOUND_LAST) {
        WIO_TRY(wio_seal_note_fds(ring, work, slot));
    }
    switch (slot->any.kind) {
    case WIO_SLOT_STRING:
        return wio_seal_define(ring, slot);
    case WIO_SLOT_CLOCK:
        return slot->clock.mono_ns == 0
                   ? WIO_OK
                   : wio_ticks_add(&work->ticks, slot->clock.ticks, slot->clock.mono_ns);
    case WIO_SLOT_MODULE:
        return wio_seal_module(seal, work, slot);
    case WIO_SLOT_META:
        return add_meta(ring, slot);
    case WIO_SLOT_COMPLETION:
        return add_completion(work, slot);
    default:
        return WIO_OK; /* R-CHUNK-3; events and stacks come with the second reading */
    }
}

static int compare_completions(const void *a, const void *b)
{
    const struct wio_seal_completion *left = a;
    const struct wio_seal_completion *right = b;
    if (left->key != right->key) {
        return left->key < right->key ? -1 : 1;
    }
    return (left->ticks > right->ticks) - (left->ticks < right->ticks);
}

/* Where the pairs of one ring span less than a second, the rate that others of this boot have
 * measured is better. */
static enum wio_status ready_clock(struct wio_seal *seal, const struct wio_seal_ring *ring,
                                   struct wio_seal_work *work)
{
    const struct wio_ring_header *header = &ring->header;
    work->ticks.is_ns = header->clock == WIO_CLOCK_MONOTONIC_NS;
    WIO_TRY(wio_ticks_add(&work->ticks, header->start_ticks, header->start_mono_ns));
    if (header->end_mono_ns != 0) {
        WIO_TRY(wio_ticks_add(&work->ticks, header->end_ticks, header->end_mono_ns));
    }
    wio_ticks_ready(&work->ticks, wio_seal_ns_per_tick(seal, ring));
    return WIO_OK;
}

enum wio_status wio_seal_scan(struct wio_seal *seal, struct wio_seal_ring *ring,
                              struct wio_seal_work *work, struct wio_error *err)
{
    enum wio_status status = WIO_OK;
    for (uint32_t place = 0; place < work->file.place_count && status == WIO_OK;) {
        const union wio_slot *slot = NULL;
        WIO_TRY(wio_ring_chunk(&work->file, &place, work->chunk, err));
        while (status == WIO_OK && (slot = wio_chunk_next(work->chunk)) != NULL) {
            status = add_record(seal, ring, work, slot);
        }
        wio_seal_progress(seal, WIO_CHUNK_BYTES / 2);
    }
    status = status == WIO_OK ? ready_clock(seal, ring, work) : status;
    if (status != WIO_OK) {
        return wio_segment_fail(seal->segment, status, err);
    }
    if (work->completion_count > 1) {
        qsort(work->completions, work->completion_count, sizeof(*work->completions),
              compare_completions);
    }
    work->initial_modules = work->module_count;
    return WIO_OK;
}
