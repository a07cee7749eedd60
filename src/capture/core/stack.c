/* SPDX-License-Identifier: Apache-2.0 */
/* By the unwind tables that every program carries. */
#include "capture/core/stack.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unwind.h>

#include "base/cleanup.h"
#include "capture/core/features.h"
#include "capture/core/hash.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "ops/code_owner.h"

#define DEPTH_MAX 64u
#define KNOWN (sizeof(((struct cap_thread *)NULL)->stacks) / sizeof(uint64_t))

/* R-SOURCE-1. Samples of a call site: so many at once, then after 2, 4, 8 .. calls, at last after
 * each .. */
#define AT_ONCE 4u
#define PAUSE_MAX 32768u
/* .. and this many calls later where there was no time for one. */
#define PAUSE_BUSY 64u
/* Of the thread's time, once it has taken so many. */
#define SHARE 128u
#define FREE_SAMPLES 128u

/* Frames that are taken behind the first one of the program's own code: that one may be a template
 * of a library's header, compiled into the program, and the next ones too. */
#define BEHIND_OWN 8u

struct stack_walk {
    uintptr_t source; /* frames before this one are our own */
    uintptr_t frames[DEPTH_MAX];
    unsigned count;
    unsigned most;       /* frames: less than DEPTH_MAX where the last one is known */
    bool is_to_own_code; /* the frame that is the program's own is the last .. */
    bool is_behind_own;  /* .. or BEHIND_OWN more are taken */
};

static __thread bool is_walking __attribute__((tls_model("initial-exec")));

bool cap_is_walking(void)
{
    return is_walking;
}

static enum wio_code_kind kind_of(uintptr_t address)
{
    struct cap_module module;
    return cap_module_look_up(address, &module) ? (enum wio_code_kind)module.kind
                                                : WIO_CODE_LIBRARY;
}

/* The program's own code is reached. */
static _Unwind_Reason_Code end_behind_own(struct stack_walk *walk)
{
    if (!walk->is_behind_own) {
        return _URC_END_OF_STACK;
    }
    walk->is_to_own_code = false;
    walk->most = walk->count + BEHIND_OWN < DEPTH_MAX ? walk->count + BEHIND_OWN : DEPTH_MAX;
    return _URC_NO_REASON;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
    struct stack_walk *walk = argument;
    uintptr_t address = _Unwind_GetIP(context);
    if (address == 0 || walk->count == walk->most) {
        return _URC_END_OF_STACK;
    }
    if (walk->count > 0 || address == walk->source) {
        walk->frames[walk->count++] = address;
        if (walk->is_to_own_code && kind_of(address) != WIO_CODE_LIBRARY) {
            return end_behind_own(walk);
        }
    }
    return _URC_NO_REASON;
}

static uint64_t hash_of(const struct stack_walk *walk)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (unsigned i = 0; i < walk->count; i++) {
        hash = cap_hash_step(hash, walk->frames[i]);
    }
    return hash;
}

/* Ids come from the hash, so that every thread names the same stack alike without a shared table:
 * the 32 bits are unique enough for the few thousand stacks of a program. */
static uint32_t write_stack(struct cap_thread *self, const struct stack_walk *walk)
{
    uint64_t hash = hash_of(walk);
    uint32_t id = (uint32_t)(hash >> 32) | 1;
    uint64_t *known = &self->stacks.written[hash % KNOWN];
    if (*known != hash) {
        struct wio_slot_text head = {.kind = WIO_SLOT_STACK, .id = id};
        if (!cap_text_record(self, &head, walk->frames, walk->count * sizeof(walk->frames[0]), NULL,
                             0)) {
            return 0;
        }
        *known = hash;
    }
    return id;
}

uint32_t cap_stack(struct cap_thread *self, uintptr_t source)
{
    CAP_KEEP_ERRNO;
    struct stack_walk walk = {.source = source, .most = DEPTH_MAX};
    is_walking = true;
    (void)_Unwind_Backtrace(on_frame, &walk);
    is_walking = false;
    if ((cap_process.sites & CAP_PENDING_SCRIPT) != 0) {
        walk.count += cap_on_script_frames(self, walk.frames + walk.count, DEPTH_MAX - walk.count);
    }
    return walk.count > 0 ? write_stack(self, &walk) : 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The site comes to the front of its set, where the next call looks for it. */
static struct cap_site *find_site(struct cap_thread *self, uint32_t tag)
{
    struct cap_site *set = self->stacks.sites[tag / 2 % CAP_SITE_SETS];
    struct cap_site found = {.tag = tag, .left = 1};
    unsigned at = 0;
    while (at < CAP_SITE_WAYS - 1 && set[at].tag != tag) {
        at++;
    }
    if (set[at].tag == tag) {
        found = set[at];
    }
    for (; at > 0; at--) {
        set[at] = set[at - 1];
    }
    set[0] = found;
    return &set[0];
}

/* Handlers may have stacks of a few KiB. */
static bool is_on_signal_stack(void)
{
    stack_t now = {0};
    return raw_call3(SYS_sigaltstack, 0, (long)&now, 0) == 0 && (now.ss_flags & SS_ONSTACK) != 0;
}

static bool has_time(struct cap_thread *self, uint64_t now)
{
    if (self->stacks.first == 0) {
        self->stacks.first = now;
    }
    return self->stacks.count < FREE_SAMPLES ||
           self->stacks.ticks <= (now - self->stacks.first) / SHARE;
}

static uint16_t pause_after(unsigned taken)
{
    const unsigned pause = taken < AT_ONCE        ? 1
                           : taken < AT_ONCE + 14 ? 2u << (taken - AT_ONCE)
                                                  : PAUSE_MAX;
    return (uint16_t)(pause < PAUSE_MAX ? pause : PAUSE_MAX);
}

static uint32_t take_sample(struct cap_thread *self, uintptr_t source, uint64_t begin)
{
    CAP_KEEP_ERRNO;
    struct stack_walk walk = {
        .source = source, .most = DEPTH_MAX, .is_to_own_code = true, .is_behind_own = true};
    is_walking = true;
    (void)_Unwind_Backtrace(on_frame, &walk);
    is_walking = false;
    const uint32_t id = walk.count > 1 ? write_stack(self, &walk) : 0;
    self->stacks.ticks += cap_now() - begin;
    self->stacks.count++;
    return id;
}

/* ---- interpreted programs -------------------------------------------------------------------- */

/* From the call to the interpreter. What lies further out is its own. */
static void walk_to_interpreter(struct stack_walk *walk)
{
    if (kind_of(walk->source) == WIO_CODE_INTERPRETER || is_walking) {
        walk->frames[walk->count++] = walk->source;
        return;
    }
    walk->is_to_own_code = true;
    is_walking = true;
    (void)_Unwind_Backtrace(on_frame, walk);
    is_walking = false;
}

/* 0: code of the program's own has called, or its lines are not known. */
static uint32_t take_script_stack(struct cap_thread *self, uintptr_t source)
{
    CAP_KEEP_ERRNO;
    struct stack_walk walk = {.source = source, .most = DEPTH_MAX};
    walk_to_interpreter(&walk);
    if (walk.count == 0 || kind_of(walk.frames[walk.count - 1]) == WIO_CODE_OWN) {
        return 0;
    }
    unsigned found = cap_on_script_frames(self, walk.frames + walk.count, DEPTH_MAX - walk.count);
    walk.count += found;
    return found > 0 ? write_stack(self, &walk) : 0;
}

/* 0: the thread is in no such program, or it has no line here. Both outcomes are remembered, the
 * last one in front. */
static uint32_t script_stack(struct cap_thread *self, uintptr_t source)
{
    const uint64_t place = cap_on_script_place();
    const uint64_t tag = cap_hash_step(place, source) | 1;
    struct cap_script_site *set = self->stacks.scripts[tag >> 32 & (CAP_SCRIPT_SETS - 1)];
    if (place == 0) {
        return 0;
    }
    if (CAP_LIKELY(set[0].tag == tag)) {
        return set[0].id;
    }
    struct cap_script_site site = set[1];
    if (site.tag != tag) {
        if (is_on_signal_stack()) {
            return 0;
        }
        site = (struct cap_script_site){tag, take_script_stack(self, source)};
    }
    set[1] = set[0];
    set[0] = site;
    return site.id;
}

/* ---- which one is due ------------------------------------------------------------------------ */

uint32_t cap_stack_sample(struct cap_thread *self, const struct cap_event *ev)
{
    if (ev->source - self->lo < self->span) {
        self->has_pending &= (uint8_t) ~(CAP_PENDING_SITE | CAP_PENDING_SCRIPT);
        return 0;
    }
    if ((self->has_pending & cap_process.sites & CAP_PENDING_SCRIPT) != 0) {
        const uint32_t id = script_stack(self, ev->source);
        if (id != 0) {
            return id;
        }
    }
    struct cap_site *site = find_site(self, self->stacks.site_tag);
    if (CAP_LIKELY(--site->left > 0)) {
        return 0;
    }
    const uint64_t now = cap_now();
    if (is_walking || !has_time(self, now) || is_on_signal_stack()) {
        site->left = PAUSE_BUSY;
        return 0;
    }
    site->taken += site->taken < UINT16_MAX ? 1 : 0;
    site->left = pause_after(site->taken);
    return kind_of(ev->source) == WIO_CODE_LIBRARY ? take_sample(self, ev->source, now) : 0;
}
