/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernel/queue.h"

#include <math.h>
#include <stdbool.h>

/* Requests below this many pages (1 MiB) are merged. */
#define MERGE_PAGES 256
#define ROOM_FIRST 64

void wio_queue_init(struct wio_queue *queue, const struct wio_alloc *alloc,
                    const struct wio_queue_device *device)
{
    *queue = (struct wio_queue){
        .alloc = *alloc, .device = *device, .granted = UINT64_MAX, .head_done_s = HUGE_VAL};
    wio_slices_init(&queue->slices, device->slice_s, device->page_s);
}

void wio_queue_fini(struct wio_queue *queue)
{
    queue->alloc.put(queue->alloc.context, queue->requests);
    queue->requests = NULL;
}

static struct wio_queue_request *at(const struct wio_queue *queue, size_t place)
{
    return &queue->requests[(queue->head + place) & (queue->room - 1)];
}

static enum wio_status grow(struct wio_queue *queue)
{
    size_t room = queue->room > 0 ? queue->room * 2 : ROOM_FIRST;
    struct wio_queue_request *requests =
        queue->alloc.get(queue->alloc.context, room * sizeof(*requests));
    if (requests == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (size_t i = 0; i < queue->waiting; i++) {
        requests[i] = *at(queue, i);
    }
    queue->alloc.put(queue->alloc.context, queue->requests);
    queue->requests = requests;
    queue->room = room;
    queue->head = 0;
    return WIO_OK;
}

/* How many pages the last request has; the one being served takes no more. */
static uint64_t last_pages(const struct wio_queue *queue)
{
    return queue->waiting < 2 ? UINT64_MAX : queue->submitted - at(queue, queue->waiting - 2)->end;
}

static bool has_slices(const struct wio_queue *queue)
{
    return queue->slices.slice_s > 0;
}

/* When pages that come at `start_s` have passed the limit and the device, request by request. */
static double pass_slices(struct wio_queue *queue, double pages, double request_pages,
                          double page_s, double start_s)
{
    double end_s = start_s;
    while (pages > 0) {
        double request = fmin(pages, request_pages);
        end_s = fmax(end_s, wio_slices_pass(&queue->slices, request, start_s));
        end_s += request * page_s;
        pages -= request;
    }
    return end_s;
}

/* How long the device takes from `start_s` on: at the speed of its buffer as far as there is room
 * in it, which empties meanwhile; then as the medium makes room (rule 14). */
static double serve_s(struct wio_queue *queue, double pages, double start_s)
{
    const struct wio_queue_device *device = &queue->device;
    if (has_slices(queue)) {
        return pass_slices(queue, pages, HUGE_VAL, device->burst_page_s, start_s) - start_s;
    }
    double rest_s = fmax(start_s - queue->buffered_at, 0);
    double stays = 1 - device->burst_page_s / device->page_s; /* of what comes fast */
    queue->buffered = fmax(queue->buffered - rest_s / device->page_s, 0);
    double room = fmax(device->burst_pages - queue->buffered, 0);
    double fast = stays > 0 ? fmin(pages, room / stays) : 0;
    queue->buffered += fast * stays;
    return fast * device->burst_page_s + (pages - fast) * device->page_s;
}

/* When a request that the device begins to serve at `start_s` is written. */
static double serve(struct wio_queue *queue, double pages, double start_s)
{
    queue->buffered_at = start_s + serve_s(queue, pages, start_s);
    return queue->buffered_at;
}

double wio_queue_take(struct wio_queue *queue, double seconds, double now)
{
    double start_s = fmax(now, queue->free_s);
    queue->free_s = start_s + seconds;
    queue->head_done_s += seconds;
    return start_s;
}

double wio_queue_owe(struct wio_queue *queue, double seconds, double now)
{
    if (!has_slices(queue)) {
        const struct wio_queue_write write = {.medium_s = seconds, .request_pages = HUGE_VAL};
        return wio_queue_pass(queue, &write, now);
    }
    double pages = seconds / queue->device.page_s;
    double fast_s = pages * queue->device.burst_page_s;
    double start_s = wio_queue_take(queue, fast_s, now);
    wio_slices_owe(&queue->slices, pages, start_s);
    return start_s + fast_s;
}

/* A write that waits for a slice does not keep later ones from passing, which wait for the same
 * one. */
static double pass_limit(struct wio_queue *queue, const struct wio_queue_write *write, double now)
{
    double pages = write->medium_s / queue->device.page_s;
    double burst_s = pages * queue->device.burst_page_s;
    double fast_s = write->fast_s > 0 ? write->fast_s : burst_s;
    double start_s = wio_queue_take(queue, fmin(fast_s, burst_s), now);
    return pass_slices(queue, pages, write->request_pages, fast_s / pages, start_s);
}

double wio_queue_pass(struct wio_queue *queue, const struct wio_queue_write *write, double now)
{
    double seconds = write->medium_s;
    if (has_slices(queue)) {
        return pass_limit(queue, write, now);
    }
    if (queue->device.burst_pages > 0) {
        double start_s = fmax(now, queue->free_s);
        seconds = serve_s(queue, seconds / queue->device.page_s, start_s);
        queue->buffered_at = fmax(queue->buffered_at, start_s) + seconds;
    }
    return wio_queue_take(queue, seconds, now) + seconds;
}

enum wio_status wio_queue_submit(struct wio_queue *queue, uint64_t pages, uint64_t data, double now)
{
    uint64_t last = last_pages(queue);
    if (last < MERGE_PAGES && last + pages <= MERGE_PAGES) {
        queue->submitted += pages;
        queue->asked += data;
        struct wio_queue_request *request = at(queue, queue->waiting - 1);
        request->end = queue->submitted;
        request->data_end = queue->asked;
        return WIO_OK;
    }
    if (queue->waiting == queue->room && grow(queue) != WIO_OK) {
        return WIO_ERR_NOMEM;
    }
    queue->submitted += pages;
    queue->asked += data;
    *at(queue, queue->waiting) =
        (struct wio_queue_request){.end = queue->submitted, .data_end = queue->asked};
    if (queue->waiting++ == 0) {
        queue->head_done_s = serve(queue, (double)data, fmax(now, queue->free_s));
    }
    return WIO_OK;
}

void wio_queue_complete(struct wio_queue *queue)
{
    const struct wio_queue_request *request = at(queue, 0);
    if (request->data_end > queue->granted) {
        queue->head_done_s = HUGE_VAL;
        return;
    }
    queue->completed = request->end;
    queue->written = request->data_end;
    queue->head = (queue->head + 1) & (queue->room - 1);
    if (--queue->waiting == 0) {
        queue->head_done_s = HUGE_VAL;
    } else {
        queue->head_done_s =
            serve(queue, (double)(at(queue, 0)->data_end - queue->written), queue->head_done_s);
    }
}

void wio_queue_grant(struct wio_queue *queue, uint64_t pages, double now)
{
    bool is_held = queue->waiting > 0 && queue->head_done_s == HUGE_VAL;
    queue->granted = pages;
    if (is_held && at(queue, 0)->data_end <= pages) {
        queue->head_done_s = now;
    }
}
