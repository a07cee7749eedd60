/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue.h"

#include <math.h>
#include <stdbool.h>

/* Requests below this many pages (1 MiB) are merged. */
#define MERGE_PAGES 256
#define ROOM_FIRST 64
/* Who counts by shorter slices passes evenly. */
#define SLICE_LEAST_S 1e-6

void wio_queue_init(struct wio_queue *queue, const struct wio_alloc *alloc,
                    const struct wio_queue_device *device)
{
    *queue = (struct wio_queue){
        .alloc = *alloc, .device = *device, .granted = UINT64_MAX, .head_done_s = HUGE_VAL};
    if (device->slice_s < SLICE_LEAST_S) {
        queue->device.slice_s = 0;
    }
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

/* Slices are counted from the first write after a rest, and from the begin of the last but one
 * later on; what they had left over is lost then (rule 14). */
static void renew_slices(struct wio_queue *queue, double now)
{
    double slice_s = queue->device.slice_s;
    double passed_by = floor((now - queue->slice_begin_s) / slice_s);
    if (now > queue->slice_end_s) {
        queue->slice_begin_s = now;
        queue->passed = 0;
    } else if (passed_by >= 2) {
        queue->slice_begin_s += (passed_by - 1) * slice_s;
        queue->passed = fmax(queue->passed - (passed_by - 1) * slice_s / queue->device.page_s, 0);
    }
}

/* How long pages take from `start_s` on: what has no room in the slices that have begun waits for
 * one that has, but for what may pass in front. */
static double pass_slices(struct wio_queue *queue, double pages, double start_s, bool is_first)
{
    const struct wio_queue_device *device = &queue->device;
    double slice_pages = device->slice_s / device->page_s;
    renew_slices(queue, start_s);
    queue->passed += pages;
    double before = fmax(ceil(queue->passed / slice_pages) - 1, 0); /* slices that are full */
    double opens_s = queue->slice_begin_s + before * device->slice_s;
    double end_s = start_s + pages * device->burst_page_s;
    if (opens_s > start_s && !is_first) {
        double rest = queue->passed - before * slice_pages;
        end_s = fmax(end_s, opens_s + rest * device->burst_page_s);
    }
    double paid_s = queue->slice_begin_s + queue->passed * device->page_s;
    double slices = fmax(ceil(end_s / device->slice_s) + 1, ceil(paid_s / device->slice_s));
    queue->slice_end_s = fmax(queue->slice_end_s, slices * device->slice_s);
    return end_s - start_s;
}

/* How long the device takes from `start_s` on: at the speed of its buffer as far as there is room
 * in it, which empties meanwhile; then as the medium makes room (rule 14). */
static double serve_s(struct wio_queue *queue, double pages, double start_s)
{
    const struct wio_queue_device *device = &queue->device;
    if (device->slice_s > 0) {
        return pass_slices(queue, pages, start_s, false);
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

/* Who waits for a slice does not keep others from passing, who wait for the same one. */
static double take_slices(struct wio_queue *queue, double seconds, double now, bool is_first)
{
    const struct wio_queue_device *device = &queue->device;
    double pages = seconds / device->page_s;
    double start_s = wio_queue_take(queue, pages * device->burst_page_s, now);
    return start_s + pass_slices(queue, pages, start_s, is_first);
}

double wio_queue_owe(struct wio_queue *queue, double seconds, double now)
{
    bool has_slices = queue->device.slice_s > 0;
    return has_slices ? take_slices(queue, seconds, now, true)
                      : wio_queue_pass(queue, seconds, now);
}

double wio_queue_pass(struct wio_queue *queue, double seconds, double now)
{
    if (queue->device.slice_s > 0) {
        return take_slices(queue, seconds, now, false);
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
