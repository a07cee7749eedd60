/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/event_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/io.h"

#define LABEL "temporary file of --sort"

/* A sorted part of the file, or at the end what is in memory; a window of it is loaded. */
struct sort_run {
    uint64_t offset; /* in the file, of what is not loaded yet */
    uint64_t left;   /* events that are not loaded yet */
    struct wio_event *window;
    size_t count;
    size_t at;
};

struct wio_event_sort {
    struct wio_event *events;
    size_t count;
    size_t room;
    int fd;           /* -1 = none */
    uint64_t written; /* bytes */
    struct sort_run *runs;
    uint32_t run_count;
    uint32_t run_capacity;
    uint32_t *heap; /* of runs that have an event, the first one's the longest */
    uint32_t heap_count;
    bool is_started; /* the top of the heap was given out */
};

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory to sort events");
}

enum wio_status wio_event_sort_create(size_t bytes, struct wio_event_sort **sort_out,
                                      struct wio_error *err)
{
    struct wio_event_sort *sort = calloc(1, sizeof(*sort));

    *sort_out = NULL;
    if (sort == NULL) {
        return no_memory(err);
    }
    sort->fd = -1;
    sort->room = (bytes != 0 ? bytes : WIO_EVENT_SORT_BYTES) / sizeof(*sort->events);
    sort->room = sort->room > 0 ? sort->room : 1;
    sort->events = malloc(sort->room * sizeof(*sort->events));
    if (sort->events == NULL) {
        free(sort);
        return no_memory(err);
    }
    *sort_out = sort;
    return WIO_OK;
}

void wio_event_sort_destroy(struct wio_event_sort *sort)
{
    if (sort == NULL) {
        return;
    }
    if (sort->fd >= 0) {
        (void)close(sort->fd);
    }
    free(sort->events);
    free(sort->runs);
    free(sort->heap);
    free(sort);
}

/* ---- order ---- */

static int by_duration(const void *a, const void *b)
{
    const struct wio_event *x = a;
    const struct wio_event *y = b;

    if (x->dur_ns != y->dur_ns) {
        return x->dur_ns > y->dur_ns ? -1 : 1;
    }
    if (x->t_ns != y->t_ns) {
        return x->t_ns < y->t_ns ? -1 : 1;
    }
    if (x->stream != y->stream) {
        return x->stream < y->stream ? -1 : 1;
    }
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static const struct wio_event *first_of(const struct wio_event_sort *sort, uint32_t run)
{
    return &sort->runs[run].window[sort->runs[run].at];
}

static bool is_before(const struct wio_event_sort *sort, uint32_t a, uint32_t b)
{
    return by_duration(first_of(sort, a), first_of(sort, b)) < 0;
}

/* What is at `at` may belong further down. */
static void sink(struct wio_event_sort *sort, uint32_t at)
{
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < sort->heap_count && is_before(sort, sort->heap[child], sort->heap[least])) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        uint32_t run = sort->heap[at];
        sort->heap[at] = sort->heap[least];
        sort->heap[least] = run;
        at = least;
    }
}

/* ---- runs ---- */

static enum wio_status open_file(struct wio_event_sort *sort, struct wio_error *err)
{
    const char *dir = getenv("TMPDIR");
    char name[4096];

    dir = dir != NULL && dir[0] != '\0' ? dir : "/tmp";
    sort->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (sort->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        (void)snprintf(name, sizeof(name), "%s/whyio-sort-XXXXXX", dir);
        sort->fd = mkostemp(name, O_CLOEXEC);
        if (sort->fd >= 0) {
            (void)unlink(name);
        }
    }
    if (sort->fd < 0) {
        return wio_error_sys(err, dir, "cannot make a temporary file to sort events");
    }
    return WIO_OK;
}

static enum wio_status add_run(struct wio_event_sort *sort, const struct sort_run *run)
{
    void *array = sort->runs;

    WIO_TRY(wio_make_room(&array, sizeof(*sort->runs), &sort->run_capacity, sort->run_count + 1));
    sort->runs = array;
    sort->runs[sort->run_count++] = *run;
    return WIO_OK;
}

static enum wio_status spill(struct wio_event_sort *sort, struct wio_error *err)
{
    const struct sort_run run = {.offset = sort->written, .left = sort->count};
    const size_t bytes = sort->count * sizeof(*sort->events);

    if (sort->fd < 0) {
        WIO_TRY(open_file(sort, err));
    }
    qsort(sort->events, sort->count, sizeof(*sort->events), by_duration);
    WIO_TRY(wio_io_pwrite(sort->fd, LABEL, sort->events, bytes, sort->written, err));
    if (add_run(sort, &run) != WIO_OK) {
        return no_memory(err);
    }
    sort->written += bytes;
    sort->count = 0;
    return WIO_OK;
}

enum wio_status wio_event_sort_add(struct wio_event_sort *sort, const struct wio_event *event,
                                   struct wio_error *err)
{
    if (sort->count == sort->room) {
        WIO_TRY(spill(sort, err));
    }
    sort->events[sort->count++] = *event;
    return WIO_OK;
}

/* ---- the merge ---- */

/* The next window of a run: each has its share of the memory. */
static enum wio_status load(struct wio_event_sort *sort, struct sort_run *run,
                            struct wio_error *err)
{
    size_t share = sort->room / sort->run_count;

    share = share > 0 ? share : 1;
    run->count = run->left < share ? (size_t)run->left : share;
    run->at = 0;
    const size_t bytes = run->count * sizeof(*run->window);
    WIO_TRY(wio_io_pread(sort->fd, LABEL, run->window, bytes, run->offset, err));
    run->offset += bytes;
    run->left -= run->count;
    return WIO_OK;
}

/* More runs than events fit: then one for each. */
static enum wio_status make_windows(struct wio_event_sort *sort, struct wio_error *err)
{
    if (sort->room < sort->run_count) {
        struct wio_event *events = reallocarray(sort->events, sort->run_count, sizeof(*events));
        if (events == NULL) {
            return no_memory(err);
        }
        sort->events = events;
        sort->room = sort->run_count;
    }
    size_t share = sort->room / sort->run_count;
    for (uint32_t i = 0; i < sort->run_count; i++) {
        sort->runs[i].window = sort->events + i * share;
        WIO_TRY(load(sort, &sort->runs[i], err));
    }
    return WIO_OK;
}

static enum wio_status begin_merge(struct wio_event_sort *sort, struct wio_error *err)
{
    sort->heap = calloc((size_t)sort->run_count + 1, sizeof(*sort->heap));
    if (sort->heap == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < sort->run_count; i++) {
        if (sort->runs[i].count > 0) {
            sort->heap[sort->heap_count++] = i;
        }
    }
    for (uint32_t i = sort->heap_count / 2; i-- > 0;) {
        sink(sort, i);
    }
    return WIO_OK;
}

enum wio_status wio_event_sort_finish(struct wio_event_sort *sort, struct wio_error *err)
{
    if (sort->run_count > 0) {
        if (sort->count > 0) {
            WIO_TRY(spill(sort, err));
        }
        WIO_TRY(make_windows(sort, err));
        return begin_merge(sort, err);
    }
    const struct sort_run all = {.window = sort->events, .count = sort->count};
    if (sort->count > 1) {
        qsort(sort->events, sort->count, sizeof(*sort->events), by_duration);
    }
    return add_run(sort, &all) == WIO_OK ? begin_merge(sort, err) : no_memory(err);
}

/* Behind the event that was given out last. */
static enum wio_status move_on(struct wio_event_sort *sort, struct wio_error *err)
{
    struct sort_run *run = &sort->runs[sort->heap[0]];

    if (++run->at == run->count) {
        if (run->left > 0) {
            WIO_TRY(load(sort, run, err));
        } else {
            sort->heap[0] = sort->heap[--sort->heap_count];
        }
    }
    sink(sort, 0);
    return WIO_OK;
}

enum wio_status wio_event_sort_next(struct wio_event_sort *sort, const struct wio_event **event_out,
                                    struct wio_error *err)
{
    if (sort->is_started && sort->heap_count > 0) {
        WIO_TRY(move_on(sort, err));
    }
    sort->is_started = true;
    if (sort->heap_count == 0) {
        return WIO_END;
    }
    *event_out = first_of(sort, sort->heap[0]);
    return WIO_OK;
}
