/* SPDX-License-Identifier: Apache-2.0 */
/* What threads used of the processors while they computed, and in long calls. FORMAT.md#cpu. */
#include <sys/resource.h>
#include <time.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"

/* CPU time of the calling thread in ns; WIO_NO_OFFSET where it cannot be had. */
static int64_t count_cpu_ns(void)
{
    struct timespec ts = {0};
    return raw_call3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&ts, 0) == 0
               ? (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec
               : WIO_NO_OFFSET;
}

/* How often the thread has slept: lost its processor while it had nothing to do on it. One that is
 * taken away (another thread's turn) or yielded does not count. */
static bool count_sleeps(uint64_t *sleeps_out)
{
    struct rusage usage;
    if (raw_call3(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0) != 0) {
        return false;
    }
    *sleeps_out = (uint64_t)usage.ru_nvcsw;
    return true;
}

static void tell(struct cap_thread *self, uint64_t to, int64_t cpu_ns, bool has_slept)
{
    uint32_t seq;
    uint8_t *bytes = cap_reserve(self, 1, &seq);
    if (bytes == NULL) { /* that is no lost event */
        self->writer.dropped--;
        (void)__atomic_fetch_sub(&cap_process.header->dropped, 1, __ATOMIC_RELAXED);
        return;
    }
    struct wio_slot_cpu *slot = (struct wio_slot_cpu *)(void *)bytes;
    slot->kind = WIO_SLOT_CPU;
    slot->has_slept = has_slept;
    slot->reserved = 0;
    slot->from = self->sampled;
    slot->to = to;
    slot->cpu_ns = (uint64_t)cpu_ns;
    for (unsigned i = 0; i < 4; i++) {
        slot->reserved2[i] = 0;
    }
    cap_publish(bytes, 1, seq);
}

/* A child in our memory is another thread than this one: what it uses is not looked at. */
static bool is_guest(const struct cap_thread *self)
{
    return (self->flags & WIO_EVENT_VFORK) != 0 || self->watch != CAP_WATCH_NONE;
}

/* Ask, and tell what it was since the last time. `at`: ticks; 0: when it has been asked. Returns
 * those. */
static uint64_t sample(struct cap_thread *self, uint64_t at, bool is_told)
{
    uint64_t sleeps = self->cpu.sleeps;
    int64_t cpu_ns = count_sleeps(&sleeps) ? count_cpu_ns() : WIO_NO_OFFSET;
    at = at != 0 ? at : cap_now();
    bool is_known = self->cpu.ns >= 0 && cpu_ns >= self->cpu.ns && at > self->sampled;
    if (is_told && is_known) {
        tell(self, at, cpu_ns - self->cpu.ns, sleeps != self->cpu.sleeps);
    }
    self->cpu.ns = cpu_ns;
    self->cpu.sleeps = sleeps;
    self->sampled = at;
    return at;
}

uint64_t cap_cpu_before(struct cap_thread *self)
{
    return is_guest(self) || !self->is_ready ? cap_now() : sample(self, 0, true);
}

void cap_cpu_behind(struct cap_thread *self, uint64_t begin, uint64_t end)
{
    if (end > self->sampled && !is_guest(self)) {
        (void)sample(self, end, end - begin >= CAP_LONG / 2);
    }
}
