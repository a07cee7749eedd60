/* SPDX-License-Identifier: Apache-2.0 */
#include "cawl_reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 65536
#define FILES 16

struct block {
    uint64_t file;
    double offset, end, endtime;
    bool active;
};

/* Blocks stand in order of insertion: the first of equal endtimes was inserted first. */
struct reference {
    struct wio_model_params p;
    struct block blocks[BLOCKS];
    int count;
    double time, io_time, bw_avg, delay;
    struct {
        double last, position, pending;
        bool used;
    } files[FILES];
};

struct reference *reference_create(const struct wio_model_params *params)
{
    struct reference *r = calloc(1, sizeof(*r));
    r->p = *params;
    return r;
}

void reference_destroy(struct reference *reference)
{
    free(reference);
}

static double dirty(const struct reference *r)
{
    double sum = 0;
    for (int i = 0; i < r->count; i++) {
        sum += r->blocks[i].end - r->blocks[i].offset;
    }
    return sum;
}

static bool expired(const struct reference *r)
{
    for (int i = 0; i < r->count; i++) {
        if (r->blocks[i].endtime < r->time - r->p.dirty_expire) {
            return true;
        }
    }
    return false;
}

static int oldest(const struct reference *r, bool active)
{
    int best = -1;
    for (int i = 0; i < r->count; i++) {
        if (r->blocks[i].active == active &&
            (best < 0 || r->blocks[i].endtime < r->blocks[best].endtime)) {
            best = i;
        }
    }
    return best;
}

static void delete (struct reference *r, int i)
{
    memmove(&r->blocks[i], &r->blocks[i + 1], (size_t)(r->count - i - 1) * sizeof(r->blocks[0]));
    r->count--;
}

static void append(struct reference *r, uint64_t file, double offset, double end, double endtime,
                   bool active)
{
    if (end > offset) {
        r->blocks[r->count++] = (struct block){file, offset, end, endtime, active};
    }
}

static int actives(const struct reference *r)
{
    int n = 0;
    for (int i = 0; i < r->count; i++) {
        n += r->blocks[i].active;
    }
    return n;
}

static void clean(struct reference *r, double interval)
{
    while (r->count > 0 && (dirty(r) >= r->p.limit_bg || expired(r))) {
        while (actives(r) > r->count / 2) {
            r->blocks[oldest(r, true)].active = false;
        }
        int i = oldest(r, false);
        double size = r->blocks[i].end - r->blocks[i].offset;
        if (interval >= size / r->p.bw_dev) {
            interval -= size / r->p.bw_dev;
            delete (r, i);
        } else {
            r->blocks[i].offset += interval * r->p.bw_dev;
            break;
        }
    }
}

/* The overlapped block with the lowest offset that has not been handled yet. */
static int first_overlap(const struct reference *r, uint64_t file, double from, double end)
{
    int best = -1;
    for (int i = 0; i < r->count; i++) {
        const struct block *b = &r->blocks[i];
        if (b->file == file && b->end > from && b->offset < end &&
            (best < 0 || b->offset < r->blocks[best].offset)) {
            best = i;
        }
    }
    return best;
}

static void insert(struct reference *r, uint64_t file, double offset, double end, double endtime,
                   bool keep_new)
{
    double at = offset;
    int i;
    while (at < end && (i = first_overlap(r, file, at, end)) >= 0) {
        struct block old = r->blocks[i];
        double lo = fmax(old.offset, at);
        double hi = fmin(old.end, end);
        delete (r, i);
        append(r, file, old.offset, fmin(old.end, offset), old.endtime, old.active);
        append(r, file, fmax(old.offset, end), old.end, old.endtime, old.active);
        if (keep_new) {
            append(r, file, at, lo, endtime, false);
            append(r, file, lo, hi, endtime, true);
        }
        at = hi;
    }
    if (keep_new) {
        append(r, file, at, end, endtime, false);
    }
}

static void write_call(struct reference *r, uint64_t file, double offset, double size, double delay,
                       struct wio_model_result *result)
{
    r->time += delay;
    clean(r, delay);
    double setpoint = (r->p.limit_bg + r->p.limit_hard) / 2;
    double d = dirty(r);
    double rate = r->p.bw_ramdisk;
    result->state = WIO_MODEL_STATE_FREE;
    if (d >= setpoint) {
        double ratio = 1 + pow((setpoint - d) / (r->p.limit_hard - setpoint), 3);
        rate = r->io_time > 0 ? fmin(r->bw_avg * ratio, r->p.bw_reduced) : r->p.bw_reduced;
        if (ratio <= 0 || rate <= 0) {
            rate = fmin(r->p.bw_dev, r->p.bw_reduced);
        }
        result->state = WIO_MODEL_STATE_THROTTLE;
    } else if (d >= r->p.limit_bg || expired(r)) {
        rate = r->p.bw_reduced;
        result->state = WIO_MODEL_STATE_ASYNC;
    }
    double cost = size / rate + r->p.sc_w;
    insert(r, file, offset, offset + size, r->time + cost, true);
    r->bw_avg = (r->bw_avg * r->io_time + size) / (r->io_time + cost);
    r->io_time += cost;
    r->time += cost;
    clean(r, cost);
    result->cost_s += cost;
}

static void flush(struct reference *r, uint64_t file, struct wio_model_result *result)
{
    double pending = r->files[file].pending;
    if (pending > 0) {
        double delay = r->delay;
        r->delay = 0;
        r->files[file].pending = 0;
        write_call(r, file, r->files[file].position - pending, pending, delay, result);
    }
}

static void step_fwrite(struct reference *r, const struct wio_model_op *op,
                        struct wio_model_result *result)
{
    double size = (double)op->size;
    double offset = (double)op->offset;
    r->delay += op->delay_s + r->p.c_lib;
    result->cost_s = r->p.c_lib;
    if (offset != r->files[op->file].position) {
        flush(r, op->file, result);
    }
    double pending = r->files[op->file].pending;
    if (size <= r->p.bf - pending) {
        result->cost_s += size / r->p.bw_mem;
        r->delay += size / r->p.bw_mem;
        r->files[op->file].pending += size;
    } else {
        double copy = (r->p.bf - pending) / r->p.bw_mem;
        double rest = size - (r->p.bf - pending);
        double delay = r->delay + copy;
        result->cost_s += copy;
        write_call(r, op->file, offset - pending, r->p.bf, delay, result);
        double left = fmod(rest, r->p.bf);
        if (rest >= r->p.bf) {
            write_call(r, op->file, offset - pending + r->p.bf, rest - left, 0, result);
        }
        result->cost_s += left / r->p.bw_mem;
        r->delay = left / r->p.bw_mem;
        r->files[op->file].pending = left;
    }
    r->files[op->file].position = offset + size;
}

static void step_beside(struct reference *r, const struct wio_model_op *op,
                        struct wio_model_result *result)
{
    double size = (double)op->size;
    double offset = (double)op->offset;
    bool random = op->random == WIO_MODEL_RANDOM_YES ||
                  (op->random == WIO_MODEL_RANDOM_UNKNOWN && r->files[op->file].used &&
                   r->files[op->file].last != offset);
    r->time += op->delay_s;
    clean(r, op->delay_s);
    double before = dirty(r);
    double rem = fmod(size, r->p.bs);
    switch (op->method) {
    case WIO_MODEL_READ:
    case WIO_MODEL_READ_DIRECT:
        result->cost_s = r->p.sc_w + size / r->p.bw_rdev;
        break;
    case WIO_MODEL_TRUNCATE:
    case WIO_MODEL_WRITE_OUT:
    case WIO_MODEL_FORGET:
        break;
    case WIO_MODEL_SYNCFS:
        result->cost_s = r->p.sc_sw + before / r->p.bw_dev;
        r->count = 0;
        break;
    case WIO_MODEL_FSYNC:
    case WIO_MODEL_FDATASYNC:
        insert(r, op->file, 0, HUGE_VAL, 0, false);
        result->cost_s = r->p.sc_sw + (before - dirty(r)) / r->p.bw_dev;
        break;
    case WIO_MODEL_DIRECT:
    case WIO_MODEL_DIRECT_NOSYNC:
        insert(r, op->file, offset, offset + size, 0, false);
        result->cost_s = r->p.sc_sw + random * r->p.c_sk + size / r->p.bw_dev;
        break;
    case WIO_MODEL_WRITE:
    case WIO_MODEL_SYNC:
    case WIO_MODEL_FWRITE:
    case WIO_MODEL_FFLUSH:
    case WIO_MODEL_METHOD_COUNT:
    default:
        insert(r, op->file, offset, offset + size, 0, false);
        result->cost_s = r->p.sc_sw + random * r->p.c_sk + size / r->p.bw_ramdisk +
                         (size - rem) / r->p.bw_dev +
                         (rem > 0 ? r->p.bs / r->p.bw_rdev + r->p.bs / r->p.bw_dev : 0);
    }
    r->time += result->cost_s;
}

void reference_step(struct reference *r, const struct wio_model_op *op,
                    struct wio_model_result *result)
{
    *result = (struct wio_model_result){0};
    if (op->method == WIO_MODEL_WRITE) {
        write_call(r, op->file, (double)op->offset, (double)op->size, op->delay_s, result);
    } else if (op->method == WIO_MODEL_FWRITE) {
        step_fwrite(r, op, result);
    } else if (op->method == WIO_MODEL_FFLUSH) {
        r->delay += op->delay_s;
        flush(r, op->file, result);
    } else {
        step_beside(r, op, result);
    }
    if (wio_model_flow(op->method) != WIO_MODEL_MOVES_NOTHING) {
        r->files[op->file].used = true;
        r->files[op->file].last = (double)op->offset + (double)op->size;
    }
    result->time_s = r->time;
    result->dirty_bytes = dirty(r);
}
