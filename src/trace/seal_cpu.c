/* SPDX-License-Identifier: Apache-2.0 */
/* Processor times: from records between two moments to the events that lie there. R-CPU-1 */
#include "trace/seal_internal.h"

/* What lies between the two moments beside the time in question (short calls, mostly) and is not
 * told apart: ticks. */
#define SLACK ((uint64_t)1 << 19)

void wio_seal_cpu_record(struct wio_seal_cpu *cpu, const struct wio_slot_cpu *slot)
{
    if (slot->to <= slot->from) {
        return;
    }
    cpu->records[0] = cpu->records[1];
    cpu->records[1] = (struct wio_seal_cpu_record){.from = slot->from,
                                                   .to = slot->to,
                                                   .cpu_ns = slot->cpu_ns,
                                                   .last_end = cpu->last_end,
                                                   .has_slept = slot->has_slept != 0};
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* How much of it belongs to [begin, end), which ends where the record does; 0: it is about other
 * times, too. A thread that did not sleep was kept from its processor, and that for long: what it
 * lacks is taken from the long part. */
static uint64_t share(const struct wio_ticks *ticks, uint64_t begin, uint64_t end,
                      const struct wio_seal_cpu_record *record)
{
    uint64_t length = end - begin;
    uint64_t slack = begin > record->from ? begin - record->from : record->from - begin;
    if (slack > SLACK && slack > length / 8) {
        return 0;
    }
    uint64_t length_ns = wio_ticks_length(ticks, length);
    uint64_t lacking_ns =
        less(wio_ticks_length(ticks, record->to - record->from), record->cpu_ns);
    uint64_t cpu_ns = less(length_ns, lacking_ns);
    if (record->has_slept && record->cpu_ns < length_ns) {
        cpu_ns = record->cpu_ns;
    }
    return cpu_ns > 0 ? cpu_ns : 1;
}

void wio_seal_cpu_event(struct wio_seal_cpu *cpu, const struct wio_ticks *ticks,
                        const struct wio_slot_event *slot, struct wio_event *event)
{
    const uint64_t begin = slot->begin;
    const uint64_t end = begin + (slot->dur_error & 0xffffffffffffull);
    for (unsigned i = 0; i < 2; i++) {
        struct wio_seal_cpu_record *record = &cpu->records[i];
        if (record->to == begin && record->last_end != 0 && record->last_end < begin) {
            event->gap_cpu_ns = share(ticks, record->last_end, begin, record);
            event->gap_slept = event->gap_cpu_ns != 0 && record->has_slept;
        } else if (record->to == end && begin < end) {
            event->dur_cpu_ns = share(ticks, begin, end, record);
            event->dur_slept = event->dur_cpu_ns != 0 && record->has_slept;
        } else {
            continue;
        }
        record->to = 0;
    }
    cpu->last_end = end > cpu->last_end ? end : cpu->last_end;
}
