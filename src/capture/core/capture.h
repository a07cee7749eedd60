/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner interface of capture: what every wrapper is made of.
 *
 *     ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
 *     {
 *         const uintptr_t source = CAP_CALLER();
 *         struct cap_thread *self = cap_enter_fd(source, WIO_CALL_pwrite, fd);
 *         if (CAP_UNLIKELY(self == NULL)) {
 *             return CAP_REAL(pwrite)(fd, buf, size, offset);
 *         }
 *         struct cap_event ev = CAP_EVENT(pwrite, source);
 *         ev.begin = cap_begin(self);
 *         ssize_t result = CAP_REAL(pwrite)(fd, buf, size, offset);
 *         ev.end = cap_now();
 *         ...
 *         cap_emit(self, &ev);
 *         return result;
 *     }
 *
 * Rules. Everything here is signal safe and thread safe, takes no lock on the path, allocates
 * nothing from the program's heap, and never touches errno: capture's own system calls are raw
 * (raw.h). A wrapper that calls libc for anything but the real function brackets that with
 * CAP_KEEP_ERRNO. There is no recursion guard: nothing here calls a wrapped symbol. Where the real
 * function itself calls wrapped symbols, bracket it with cap_mute and cap_unmute.
 */
#ifndef WIO_CAPTURE_CORE_CAPTURE_H
#define WIO_CAPTURE_CORE_CAPTURE_H

#include <sys/types.h>

#include "base/clock.h"
#include "capture/core/attributes.h"
#include "capture/core/slots.h"
#include "capture/core/state.h"

/* ---- entering a wrapper ------------------------------------------------------------------- */

/*
 * The calling thread's writer, or NULL: pass the call through, record nothing (not recording at
 * all, inside an MPI library, in a child that shares memory, ...). `source` is the wrapper's return
 * address. The forms with fd and path let MPI-IO's file operations be told from an MPI library's
 * own business; use them for open, close, data, sync and size operations.
 */
struct cap_thread *cap_enter_slow(uintptr_t source, unsigned call, int fd,
                                  const char *path) CAP_HIDDEN;

static inline struct cap_thread *cap_enter_fd(uintptr_t source, unsigned call, int fd)
{
    struct cap_thread *self = cap_self;
    if (CAP_LIKELY(source - self->lo < self->span)) {
        return self;
    }
    return cap_enter_slow(source, call, fd, NULL);
}

static inline struct cap_thread *cap_enter_path(uintptr_t source, unsigned call, const char *path)
{
    struct cap_thread *self = cap_self;
    if (CAP_LIKELY(source - self->lo < self->span)) {
        return self;
    }
    return cap_enter_slow(source, call, -1, path);
}

static inline struct cap_thread *cap_enter(uintptr_t source, unsigned call)
{
    return cap_enter_fd(source, call, -1);
}

/* Nothing that this thread does is recorded between the two. They nest. */
static inline void cap_mute(struct cap_thread *self)
{
    self->mute++;
    self->span = 0;
}

static inline void cap_unmute(struct cap_thread *self)
{
    self->mute--;
}

/* Now, in ticks of the ring's clock. */
uint64_t cap_now_slow(void) CAP_HIDDEN;

static inline uint64_t cap_now(void)
{
#if defined(__x86_64__)
    if (CAP_LIKELY(cap_clock_is_tsc)) {
        return wio_clock_tsc();
    }
#endif
    return cap_now_slow();
}

/*
 * Processor time (cpu.c). Asking for it costs two system calls, so it is done where much time has
 * gone by since the last time: before a call when the thread came from a long computation, behind a
 * call that took long. What lies between two such moments and is short is not told apart.
 */
#define CAP_LONG ((uint64_t)1 << 18) /* ticks: about 0.1 ms */
/* Both asked too seldom: tells of the time since then. Returns the time now. */
uint64_t cap_cpu_before(struct cap_thread *self) CAP_HIDDEN;
void cap_cpu_behind(struct cap_thread *self, uint64_t begin, uint64_t end) CAP_HIDDEN;

/* The begin of a call that the thread makes (NULL: of one that is not recorded): now. */
static inline uint64_t cap_begin(struct cap_thread *self)
{
    uint64_t now = cap_now();
    return CAP_LIKELY(self == NULL || now - self->sampled < CAP_LONG) ? now : cap_cpu_before(self);
}

/* ---- the real functions ------------------------------------------------------------------- */

extern cap_function *cap_real_table[WIO_CALL_COUNT] CAP_HIDDEN;
/* Look up the next definition behind ours; a function that fails with ENOSYS where there is none.
 */
cap_function *cap_real_find(unsigned call) CAP_HIDDEN;

/*
 * Look up, in the constructor, what programs call between a dlopen or dlsym that failed and its
 * dlerror: to print, to unlock, to close, to look for a file. A dlsym of ours in between would take
 * the message away.
 */
void cap_real_find_early(void) CAP_HIDDEN;

/* The next definition of any symbol behind ours, also in libraries of local scope; NULL = none. */
void *cap_find_symbol(const char *name) CAP_HIDDEN;

static inline cap_function *cap_real(unsigned call)
{
    cap_function *function = __atomic_load_n(&cap_real_table[call], __ATOMIC_RELAXED);
    return CAP_LIKELY(function != NULL) ? function : cap_real_find(call);
}

/* The real function as a callable of the wrapper's own type (it must be declared). */
#define CAP_REAL(symbol) ((__typeof__(&symbol))cap_real(WIO_CALL_##symbol))

/* ---- events ------------------------------------------------------------------------------- */

/* The event of a thread with flags (stack, vfork child, MPI internals) or pending locks. */
void cap_emit_flagged(struct cap_thread *self, const struct cap_event *ev,
                      const struct cap_ext *ext) CAP_HIDDEN;
/* The event with more fields: two slots. */
void cap_emit_ext(struct cap_thread *self, const struct cap_event *ev,
                  const struct cap_ext *ext) CAP_HIDDEN;

static inline void cap_emit(struct cap_thread *self, const struct cap_event *ev)
{
    if (CAP_UNLIKELY(ev->end - self->sampled >= CAP_LONG)) {
        cap_cpu_behind(self, ev->begin, ev->end);
    }
    if (CAP_UNLIKELY(self->special != 0) && !cap_site_is_quiet(self, ev->source)) {
        const struct cap_event copy = *ev; /* or the caller's would have to lie in memory */
        cap_emit_flagged(self, &copy, NULL);
        return;
    }
    uint32_t seq;
    uint8_t *slot = cap_reserve(self, 1, &seq);
    if (CAP_LIKELY(slot != NULL)) {
        cap_fill(slot, ev, WIO_SLOT_EVENT);
        cap_publish(slot, 1, seq);
    }
}

/* An asynchronous request with `key` (from cap_key) has ended with `result` (-errno on failure). */
void cap_complete(struct cap_thread *self, uint64_t key, int64_t result, uint64_t ticks) CAP_HIDDEN;
/* A key that no other request of this process image has. Never 0. */
uint64_t cap_key(void) CAP_HIDDEN;

/* Count what happened and was not recorded (enum wio_unseen). */
void cap_unseen(unsigned kind) CAP_HIDDEN;
/* The same, `count` of them at once. */
void cap_unseen_more(unsigned kind, uint64_t count) CAP_HIDDEN;

/* ---- strings ------------------------------------------------------------------------------ */

/* Id of any text (a link's target, an attribute's name), which is not a path to be completed.
 * Paths: files/paths.h. */
uint32_t cap_text(struct cap_thread *self, const char *text, size_t bytes) CAP_HIDDEN;
/* Id of a path below the directory with id `base`. */
uint32_t cap_string_below(struct cap_thread *self, uint32_t base, const char *text,
                          size_t bytes) CAP_HIDDEN;

/* Is this a text that the kernel can read? For calls that may have failed before they looked. */
bool cap_is_readable(const char *path) CAP_HIDDEN;

/* ---- the process ---------------------------------------------------------------------------- */

/* The process ends with `status` now (exit, _exit, ...): marks the ring. */
void cap_mark_end(uint32_t end, int32_t status) CAP_HIDDEN;

#endif
