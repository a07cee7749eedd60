/* SPDX-License-Identifier: Apache-2.0 */
#include "job/lines.h"

#include <stddef.h>

#include "base/memory.h"

#define LINES_FIRST 64u
#define LINE_BYTES sizeof(struct wio_job_line)

static void view_destroy(const struct wio_alloc *alloc, struct wio_job_view *view)
{
    alloc->put(alloc->context, view->memory);
    alloc->put(alloc->context, view->owners);
    alloc->put(alloc->context, view);
}

static struct wio_job_view *view_create(const struct wio_alloc *alloc, uint32_t lines)
{
    struct wio_job_view *view = alloc->get(alloc->context, sizeof(*view));
    if (view == NULL) {
        return NULL;
    }
    view->memory = wio_alloc_array(alloc, (size_t)lines + 1, LINE_BYTES);
    view->owners = wio_alloc_array(alloc, (size_t)lines * WIO_JOB_WAYS, sizeof(*view->owners));
    if (view->memory == NULL || view->owners == NULL) {
        view_destroy(alloc, view);
        return NULL;
    }
    const size_t beyond = (uintptr_t)view->memory % LINE_BYTES;
    char *first = (char *)view->memory + (beyond == 0 ? 0 : LINE_BYTES - beyond);
    view->lines = (struct wio_job_line *)(void *)first;
    view->mask = lines - 1;
    return view;
}

enum wio_status wio_job_lines_init(struct wio_job_lines *lines, const struct wio_alloc *alloc)
{
    struct wio_job_view *view = view_create(alloc, LINES_FIRST);
    lines->alloc = *alloc;
    atomic_init(&lines->view, view);
    return view != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

void wio_job_lines_fini(struct wio_job_lines *lines)
{
    struct wio_job_view *view = atomic_load_explicit(&lines->view, memory_order_relaxed);
    while (view != NULL) {
        struct wio_job_view *before = view->before;
        view_destroy(&lines->alloc, view);
        view = before;
    }
}

struct wio_job_view *wio_job_lines_grow(struct wio_job_lines *lines)
{
    const struct wio_job_view *now = atomic_load_explicit(&lines->view, memory_order_relaxed);
    return view_create(&lines->alloc, 2 * (now->mask + 1));
}

void wio_job_lines_publish(struct wio_job_lines *lines, struct wio_job_view *view)
{
    view->before = atomic_load_explicit(&lines->view, memory_order_relaxed);
    atomic_store_explicit(&lines->view, view, memory_order_release);
}

void wio_job_view_set(struct wio_job_view *view, uint32_t place, uint64_t word, uint32_t due)
{
    struct wio_job_line *line = &view->lines[place / WIO_JOB_WAYS];
    atomic_store_explicit(&line->due[place % WIO_JOB_WAYS], due, memory_order_relaxed);
    atomic_store_explicit(&line->word[place % WIO_JOB_WAYS], word, memory_order_release);
}

static unsigned free_way(const struct wio_job_line *line)
{
    unsigned way = 0;
    while (way < WIO_JOB_WAYS &&
           atomic_load_explicit(&line->word[way], memory_order_relaxed) != 0) {
        way++;
    }
    return way;
}

/* There is a free place: the table grows before it is full. */
uint32_t wio_job_view_put(struct wio_job_view *view, uint64_t word, uint32_t due, uint32_t owner)
{
    for (uint32_t at = wio_job_view_home(view, (uint32_t)word);; at = (at + 1) & view->mask) {
        struct wio_job_line *line = &view->lines[at];
        const unsigned way = free_way(line);
        if (way < WIO_JOB_WAYS) {
            view->owners[at * WIO_JOB_WAYS + way] = owner;
            wio_job_view_set(view, at * WIO_JOB_WAYS + way, word, due);
            return at * WIO_JOB_WAYS + way;
        }
        atomic_fetch_add_explicit(&line->passed, 1, memory_order_relaxed);
    }
}

void wio_job_view_remove(struct wio_job_view *view, uint32_t place)
{
    struct wio_job_line *last = &view->lines[place / WIO_JOB_WAYS];
    _Atomic uint64_t *word = &last->word[place % WIO_JOB_WAYS];
    const uint32_t tid = (uint32_t)atomic_load_explicit(word, memory_order_relaxed);
    atomic_store_explicit(word, 0, memory_order_release);
    for (uint32_t at = wio_job_view_home(view, tid); &view->lines[at] != last;
         at = (at + 1) & view->mask) {
        atomic_fetch_sub_explicit(&view->lines[at].passed, 1, memory_order_relaxed);
    }
}

uint32_t wio_job_view_find(const struct wio_job_view *view, uint32_t tid)
{
    for (uint32_t at = wio_job_view_home(view, tid), end = at + view->mask;; at++) {
        const struct wio_job_line *line = &view->lines[at & view->mask];
        for (unsigned way = 0; way < WIO_JOB_WAYS; way++) {
            if ((uint32_t)atomic_load_explicit(&line->word[way], memory_order_relaxed) == tid) {
                return (at & view->mask) * WIO_JOB_WAYS + way;
            }
        }
        if (atomic_load_explicit(&line->passed, memory_order_relaxed) == 0 || at == end) {
            return WIO_NO_INDEX;
        }
    }
}
