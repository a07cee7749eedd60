/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state with a table of texts that grows, and events made in one line:
 *
 *     struct world w;
 *     world_begin(&w, NULL);
 *     do_event(&w, (struct wio_event){.op = WIO_OP_open, .path = text(&w, "/a"), .result = 3});
 *     assert_int_equal(behind_fd(&w, 0, 3).file, named(&w, 0, "/a").file);
 *     world_end(&w);
 *
 * Images: 0 is pid 10; 1 is pid 11, made by 0; 2 is what 1 becomes by exec; 3 is pid 12, made by 0;
 * 4 is pid 10 of another host. Stream i belongs to image i.
 */
#ifndef WIO_TESTS_UNIT_STATE_WORLD_H
#define WIO_TESTS_UNIT_STATE_WORLD_H

#include <string.h>

#include "ops/calls.h"
#include "state/state.h"
#include "support/unit.h"

enum { WORLD_TEXTS = 4096, WORLD_IMAGES = 5 };

struct world {
    struct wio_state *state;
    const char *texts[WORLD_TEXTS];
    uint32_t text_count;
    uint64_t seq;
    uint64_t t_ns;
};

static const struct wio_state_process world_processes[WORLD_IMAGES] = {
    {10, 0, WIO_NO_INDEX, 0}, {11, 0, 0, 5}, {11, 0, 1, 6}, {12, 0, 0, 7}, {10, 1, WIO_NO_INDEX, 0},
};

static inline const char *world_text(void *context, uint32_t string)
{
    const struct world *w = context;
    return string < w->text_count ? w->texts[string] : "";
}

/* `text` must outlive the world. */
static inline uint32_t text(struct world *w, const char *text)
{
    for (uint32_t i = 1; i < w->text_count; i++) {
        if (strcmp(w->texts[i], text) == 0) {
            return i;
        }
    }
    assert_true(w->text_count < WORLD_TEXTS);
    w->texts[w->text_count] = text;
    return w->text_count++;
}

static inline enum wio_status world_create(struct world *w, const struct wio_alloc *alloc,
                                           const uint64_t events[WORLD_IMAGES])
{
    struct wio_state_stream streams[WORLD_IMAGES];
    static struct wio_state_stream kept[WORLD_IMAGES];
    for (uint32_t i = 0; i < WORLD_IMAGES; i++) {
        streams[i] = (struct wio_state_stream){i, events != NULL ? events[i] : 1000000};
    }
    memcpy(kept, streams, sizeof(kept));
    *w = (struct world){.texts = {""}, .text_count = 1};
    const struct wio_state_params params = {.alloc = *alloc,
                                            .processes = world_processes,
                                            .process_count = WORLD_IMAGES,
                                            .streams = kept,
                                            .stream_count = WORLD_IMAGES,
                                            .string_count = WORLD_TEXTS,
                                            .text = world_text,
                                            .context = w};
    return wio_state_create(&params, &w->state);
}

static inline void world_begin(struct world *w, const uint64_t events[WORLD_IMAGES])
{
    assert_int_equal(world_create(w, &WIO_ALLOC_HEAP, events), WIO_OK);
}

static inline void world_end(struct world *w)
{
    wio_state_destroy(w->state);
}

/* An event of stream `event.stream`, one moment after the one before. Descriptor 0 is none: tests
 * use 3 and more. */
static inline struct wio_event do_event(struct world *w, struct wio_event event)
{
    event.fd = event.fd == 0 ? WIO_NO_FD : event.fd;
    event.fd2 = event.fd2 == 0 ? WIO_NO_FD : event.fd2;
    event.seq = w->seq++;
    event.t_ns = event.t_ns != 0 ? event.t_ns : ++w->t_ns;
    assert_int_equal(wio_state_event(w->state, &event), WIO_OK);
    return event;
}

static inline struct wio_state_file behind_fd(const struct world *w, uint32_t image, int64_t fd)
{
    struct wio_state_file file;
    wio_state_fd(w->state, image, fd, &file);
    return file;
}

static inline struct wio_state_file named(struct world *w, uint32_t image, const char *path)
{
    struct wio_state_file file;
    assert_int_equal(wio_state_name(w->state, image, text(w, path), true, &file), WIO_OK);
    return file;
}

#endif
