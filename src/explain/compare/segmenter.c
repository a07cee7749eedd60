/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/compare/segmenter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"

#define MAX_RUNS 256u
#define DATA_WEIGHT 65536u
#define META_WEIGHT 4096u
#define DATA_UNITS 16u
#define META_UNITS 1u
#define EXCURSION_SHARE 0.02
#define FIRST_GRAIN (1.0 / 1024)

void wio_segmenter_fini(struct wio_segmenter *segmenter)
{
    free(segmenter->phases);
    *segmenter = (struct wio_segmenter){0};
}

static uint64_t weight_of(const struct wio_phase *phase)
{
    return phase->weight[WIO_IO_READ] + phase->weight[WIO_IO_WRITE] + phase->weight[WIO_IO_META];
}

enum wio_phase_kind wio_phase_kind(const struct wio_phase *phase)
{
    uint64_t read = phase->weight[WIO_IO_READ];
    uint64_t write = phase->weight[WIO_IO_WRITE];
    uint64_t data = read + write;

    if (phase->weight[WIO_IO_META] / 9 >= data) {
        return WIO_PHASE_META;
    }
    if (read >= data - data / 10) {
        return WIO_PHASE_READ;
    }
    return write >= data - data / 10 ? WIO_PHASE_WRITE : WIO_PHASE_BOTH;
}

const char *wio_phase_kind_name(enum wio_phase_kind kind)
{
    static const char *const names[] = {"read", "write", "read+write", "metadata"};
    return names[kind];
}

static uint32_t merge_file(uint32_t a, uint32_t b)
{
    if (a == b || b == WIO_FILE_NONE_OF) {
        return a;
    }
    return a == WIO_FILE_NONE_OF ? b : WIO_FILE_SEVERAL;
}

void wio_phase_merge(struct wio_phase *phase, const struct wio_phase *other)
{
    for (unsigned i = 0; i < WIO_IO_KINDS; i++) {
        phase->weight[i] += other->weight[i];
    }
    phase->units += other->units;
    wio_tally_merge(&phase->tally, &other->tally);
    phase->first_ns = phase->first_ns < other->first_ns ? phase->first_ns : other->first_ns;
    phase->last_ns = phase->last_ns > other->last_ns ? phase->last_ns : other->last_ns;
    phase->file = merge_file(phase->file, other->file);
}

/* Would a person call these two neighbours one phase? */
static bool are_alike(const struct wio_phase *a, const struct wio_phase *b)
{
    uint32_t file = merge_file(a->file, b->file);

    if (wio_phase_kind(a) != wio_phase_kind(b)) {
        return false;
    }
    return file != WIO_FILE_SEVERAL || a->file == WIO_FILE_SEVERAL || b->file == WIO_FILE_SEVERAL;
}

static bool are_same_kind(const struct wio_phase *a, const struct wio_phase *b)
{
    return wio_phase_kind(a) == wio_phase_kind(b);
}

/* Join neighbours for which `is_one` holds. */
static void coalesce(struct wio_segmenter *self,
                     bool (*is_one)(const struct wio_phase *, const struct wio_phase *))
{
    uint32_t kept = 0;

    WIO_PRE(self->count == 0 || self->phases != NULL);
    for (uint32_t i = 1; i < self->count; i++) {
        if (is_one(&self->phases[kept], &self->phases[i])) {
            wio_phase_merge(&self->phases[kept], &self->phases[i]);
        } else {
            self->phases[++kept] = self->phases[i];
        }
    }
    self->count = self->count > 0 ? kept + 1 : 0;
}

/* All operations and bytes of the rank so far. */
struct whole {
    uint64_t units;
    uint64_t bytes;
};

static struct whole whole_of(const struct wio_segmenter *self)
{
    struct whole whole = {0, 0};

    for (uint32_t i = 0; i < self->count; i++) {
        whole.units += self->phases[i].units;
        whole.bytes += self->phases[i].tally.bytes;
    }
    return whole;
}

static double share_of(const struct wio_phase *phase, struct whole whole)
{
    double units = whole.units > 0 ? (double)phase->units / (double)whole.units : 0;
    double bytes = whole.bytes > 0 ? (double)phase->tally.bytes / (double)whole.bytes : 0;
    return units > bytes ? units : bytes;
}

/* Join neighbours that both have less than `grain` of the whole. */
static void coalesce_light(struct wio_segmenter *self, struct whole whole, double grain)
{
    uint32_t kept = 0;

    for (uint32_t i = 1; i < self->count; i++) {
        if (share_of(&self->phases[kept], whole) < grain &&
            share_of(&self->phases[i], whole) < grain) {
            wio_phase_merge(&self->phases[kept], &self->phases[i]);
        } else {
            self->phases[++kept] = self->phases[i];
        }
    }
    self->count = kept + 1;
}

/* Make room for half of the runs. Doubling the grain ends: at last it exceeds every share. */
static void compact(struct wio_segmenter *self)
{
    double grain = FIRST_GRAIN;

    coalesce(self, are_alike);
    while (self->count > MAX_RUNS / 2) {
        coalesce_light(self, whole_of(self), grain);
        coalesce(self, are_alike);
        grain *= 2;
    }
}

static enum wio_status make_room(struct wio_segmenter *self)
{
    void *phases = self->phases;

    WIO_TRY(wio_make_room(&phases, sizeof(*self->phases), &self->capacity, self->count + 1));
    self->phases = phases;
    return WIO_OK;
}

/* Does the operation finish what came before it? The time of an fsync is that of the writes. */
static bool is_finishing(unsigned op)
{
    enum wio_class cls = wio_op_class(op);
    return cls == WIO_CLASS_SYNC || cls == WIO_CLASS_ASYNC_SYNC || cls == WIO_CLASS_STDIO_FLUSH ||
           cls == WIO_CLASS_CLOSE;
}

/* The run that an operation continues: of nothing but its kind, on its file. */
static struct wio_phase *find_run(struct wio_segmenter *self, enum wio_io_kind kind, uint32_t file,
                                  bool is_last_part)
{
    struct wio_phase *last;

    if (self->count == 0) {
        return NULL;
    }
    last = &self->phases[self->count - 1];
    if (is_last_part) {
        return last;
    }
    return last->file == file && last->weight[kind] == weight_of(last) ? last : NULL;
}

static uint64_t weight_of_event(enum wio_io_kind kind, bool is_last_part,
                                const struct wio_event *event)
{
    if (is_last_part) {
        return 0;
    }
    return kind == WIO_IO_META ? META_WEIGHT : DATA_WEIGHT + wio_account_bytes(event);
}

enum wio_status wio_segmenter_add(struct wio_segmenter *segmenter, enum wio_io_kind kind,
                                  uint32_t file, const struct wio_event *event)
{
    uint32_t file_key = kind == WIO_IO_META ? WIO_FILE_NONE_OF : file;
    bool is_last_part = is_finishing(event->op);
    struct wio_phase *run = find_run(segmenter, kind, file_key, is_last_part);
    uint64_t end_ns = event->t_ns + event->dur_ns;

    if (run == NULL) {
        if (segmenter->count == MAX_RUNS) {
            compact(segmenter);
        }
        WIO_TRY(make_room(segmenter));
        WIO_PRE(segmenter->phases != NULL);
        run = &segmenter->phases[segmenter->count++];
        *run = (struct wio_phase){.first_ns = event->t_ns, .file = file_key, .ranks = 1};
    }
    run->weight[kind] += weight_of_event(kind, is_last_part, event);
    run->units += is_last_part ? 0 : kind == WIO_IO_META ? META_UNITS : DATA_UNITS;
    wio_tally_add(&run->tally, event);
    run->last_ns = end_ns > run->last_ns ? end_ns : run->last_ns;
    return WIO_OK;
}

static uint32_t lightest(const struct wio_segmenter *self, struct whole whole)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < self->count; i++) {
        if (share_of(&self->phases[i], whole) < share_of(&self->phases[best], whole)) {
            best = i;
        }
    }
    return best;
}

static bool is_excursion(const struct wio_phase *phase, struct whole whole)
{
    return phase->units < DATA_UNITS || share_of(phase, whole) < EXCURSION_SHARE;
}

/* Join run `i` with the one behind it, the last one with the one before it. */
static void absorb(struct wio_segmenter *self, uint32_t i)
{
    uint32_t at = i + 1 < self->count ? i : i - 1;

    wio_phase_merge(&self->phases[at], &self->phases[at + 1]);
    memmove(&self->phases[at + 1], &self->phases[at + 2],
            (self->count - at - 2) * sizeof(*self->phases));
    self->count--;
}

void wio_segmenter_finish(struct wio_segmenter *segmenter)
{
    struct whole whole = whole_of(segmenter);

    coalesce(segmenter, are_alike);
    while (segmenter->count > 1) {
        uint32_t i = lightest(segmenter, whole);
        if (!is_excursion(&segmenter->phases[i], whole)) {
            break;
        }
        absorb(segmenter, i);
        coalesce(segmenter, are_alike);
    }
    if (segmenter->count > WIO_PHASES_PER_RANK) {
        coalesce(segmenter, are_same_kind);
    }
    while (segmenter->count > WIO_PHASES_PER_RANK) {
        absorb(segmenter, lightest(segmenter, whole));
        coalesce(segmenter, are_same_kind);
    }
}
