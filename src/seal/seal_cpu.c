/* SPDX-License-Identifier: Apache-2.0 */
/* Processor times: from records between two moments to the events that lie there. R-CPU-1 */
#include "seal/seal_internal.h"

/* What lies between the two moments beside the time in question (short calls, mostly) and is not
 * told apart: ticks. */
#define SLACK ((uint64_t)1 << 19)
/* What is shorter is not told of, and counts as computing: ticks. */
#define LONG ((uint64_t)1 << 18)

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
    uint64_t lacking_ns = less(wio_ticks_length(ticks, record->to - record->from), record->cpu_ns);
    uint64_t cpu_ns = less(length_ns, lacking_ns);
    if (record->has_slept && record->cpu_ns < length_ns) {
        cpu_ns = record->cpu_ns;
    }
    return cpu_ns > 0 ? cpu_ns : 1;
}

/* Of `cpu_ns` between two moments what was used behind one in between. Where in a time the thread
 * had no processor is not known, but that it was in what is long. */
static uint64_t used_behind(const struct wio_ticks *ticks, uint64_t before, uint64_t behind,
                            uint64_t cpu_ns)
{
    uint64_t behind_ns = wio_ticks_length(ticks, behind);
    if (behind < LONG) {
        return behind_ns < cpu_ns ? behind_ns : cpu_ns;
    }
    if (before < LONG) {
        return less(cpu_ns, wio_ticks_length(ticks, before));
    }
    return (uint64_t)((double)cpu_ns * ((double)behind / (double)(before + behind)));
}

/* An event that the thread tells of late, behind the record, parts the time that the record is
 * about: a lock that was free when it was taken (R-SYNC-2). What is left is the time behind it. */
static void divide(const struct wio_ticks *ticks, struct wio_seal_cpu_record *record,
                   uint64_t begin, uint64_t end, struct wio_event *event)
{
    bool has_event_before = record->last_end != 0;
    uint64_t from = record->last_end > record->from ? record->last_end : record->from;
    if (begin >= record->to || end > record->to || begin < record->last_end) {
        return;
    }
    uint64_t cpu_ns = begin > from ? share(ticks, from, record->to, record) : 0;
    record->last_end = end;
    if (cpu_ns == 0) {
        return;
    }
    uint64_t rest_ns = used_behind(ticks, begin - from, record->to - begin, cpu_ns);
    if (has_event_before && begin - from >= LONG) {
        event->gap_cpu_ns = cpu_ns > rest_ns ? cpu_ns - rest_ns : 1;
        event->gap_slept = record->has_slept;
    }
    record->from = begin;
    record->cpu_ns = rest_ns;
}

void wio_seal_cpu_event(struct wio_seal_cpu *cpu, const struct wio_ticks *ticks,
                        const struct wio_slot_event *slot, struct wio_event *event)
{
    const uint64_t begin = slot->begin;
    const uint64_t end = begin + (slot->dur_error & 0xffffffffffffull);
    for (unsigned i = 0; i < 2; i++) {
        struct wio_seal_cpu_record *record = &cpu->records[i];
        if (record->to == 0) {
            continue; /* none, or it has its event */
        }
        if (record->to == begin && record->last_end != 0 && record->last_end < begin) {
            event->gap_cpu_ns = share(ticks, record->last_end, begin, record);
            event->gap_slept = event->gap_cpu_ns != 0 && record->has_slept;
        } else if (record->to == end && begin < end) {
            event->dur_cpu_ns = share(ticks, begin, end, record);
            event->dur_slept = event->dur_cpu_ns != 0 && record->has_slept;
        } else {
            divide(ticks, record, begin, end, event);
            continue;
        }
        record->to = 0;
    }
    cpu->last_end = end > cpu->last_end ? end : cpu->last_end;
}
