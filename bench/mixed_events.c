/* SPDX-License-Identifier: Apache-2.0 */
#include "mixed_events.h"

#include <errno.h>
#include <stdbool.h>

#include "ops/calls.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ull;
}

static uint64_t below(struct mixed_stream *state, uint64_t limit)
{
    return next_random(&state->random) % limit;
}

/* Durations as they are measured: most near the least, a long tail. */
static uint64_t duration(struct mixed_stream *state, uint64_t least)
{
    uint64_t ns = least + below(state, least / 4 + 1);
    if (below(state, 16) == 0) {
        ns += below(state, least * 8);
    }
    return below(state, 1000) == 0 ? ns + below(state, 200000) : ns;
}

/* Names are looked up once: this is not what is measured. */
static uint16_t call_of(uint16_t op)
{
    static uint16_t calls[WIO_OP_COUNT];
    if (calls[op] == 0) {
        calls[op] = (uint16_t)wio_call_find(wio_op_name(op));
    }
    return calls[op];
}

static struct wio_event blank(struct mixed_stream *state, uint16_t op)
{
    struct wio_event event = {
        .op = op,
        .call = call_of(op),
        .fd = WIO_NO_FD,
        .fd2 = WIO_NO_FD,
        .offset = WIO_NO_OFFSET,
        .offset2 = WIO_NO_OFFSET,
        .size = WIO_NO_SIZE,
    };
    state->clock_ns += 100 + below(state, 400);
    if (below(state, 64) == 0) {
        state->clock_ns += below(state, 100000); /* the program computes */
    }
    event.t_ns = state->clock_ns;
    return event;
}

static struct wio_event small_file_event(struct mixed_stream *state)
{
    struct wio_event event;
    uint32_t path = MIXED_BIG_FILES + 1 + state->small;
    switch (state->step++) {
    case 0:
        event = blank(state, WIO_OP_stat);
        event.result = below(state, 4) == 0 ? -1 : 0;
        event.error = event.result < 0 ? ENOENT : 0;
        event.arg[1] = event.result < 0 ? 0 : 0100644;
        event.arg[2] = event.result < 0 ? 0 : (int64_t)below(state, 30000);
        event.arg[3] = event.result < 0 ? 0 : 1;
        event.dur_ns = duration(state, 900);
        break;
    case 1:
        event = blank(state, WIO_OP_open);
        event.result = 3 + MIXED_BIG_FILES;
        event.dur_ns = duration(state, 2000);
        break;
    case 2:
        event = blank(state, WIO_OP_read);
        event.fd = 3 + MIXED_BIG_FILES;
        event.offset = 0;
        event.size = 65536;
        event.result = (int64_t)below(state, 30000);
        event.dur_ns = duration(state, 1500);
        break;
    default:
        event = blank(state, WIO_OP_close);
        event.fd = 3 + MIXED_BIG_FILES;
        event.dur_ns = duration(state, 400);
        state->step = 0;
        state->small = (state->small + 1) % MIXED_SMALL_FILES;
        break;
    }
    event.path = path;
    event.source = 10 + state->step;
    return event;
}

static struct wio_event big_file_event(struct mixed_stream *state)
{
    uint32_t file = state->file;
    bool is_random = file % 4 == 3;
    bool is_write = file % 2 == 0;
    struct wio_event event = blank(state, is_write ? WIO_OP_pwrite : WIO_OP_pread);
    if (is_random) {
        state->position[file] = (int64_t)(below(state, 1 << 20) * 4096);
    }
    event.fd = 3 + (int32_t)file;
    event.path = 1 + file;
    event.offset = state->position[file];
    event.size = 4096ull << file % 5;
    event.result = (int64_t)event.size;
    event.dur_ns = duration(state, 600 + event.size / 8);
    event.source = 1 + file % 8;
    state->position[file] += event.result;
    return event;
}

static struct wio_event stdio_event(struct mixed_stream *state)
{
    struct wio_event event = blank(state, WIO_OP_fwrite);
    event.fd = 3;
    event.path = 1;
    event.size = 64;
    event.result = 64;
    event.flags = WIO_EVENT_BUFFERED;
    event.source = 9;
    return event;
}

struct wio_event mixed_next(struct mixed_stream *state)
{
    struct wio_event event;
    if (state->burst == 0) {
        state->file = (uint32_t)below(state, MIXED_BIG_FILES);
        state->burst = 1 + (uint32_t)below(state, 64);
    }
    state->burst--;
    switch (state->file % 8) {
    case 5:
        event = stdio_event(state);
        break;
    case 6:
    case 7:
        event = small_file_event(state);
        break;
    default:
        event = big_file_event(state);
        break;
    }
    state->clock_ns = event.t_ns + event.dur_ns;
    return event;
}

struct mixed_stream mixed_begin(uint32_t number)
{
    return (struct mixed_stream){.random = 88172645463325252ull + (uint64_t)number * 7919};
}
