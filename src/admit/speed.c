/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/speed.h"

#include <math.h>
#include <string.h>

/* Completions that an average goes over. */
#define CELL_LENGTH 16
#define OP_LENGTH 32
#define MEAN_LENGTH 64
#define DRAIN_LENGTH 32.0

void wio_speed_init(struct wio_speed *speed, double first_ns, double constant_ns, uint32_t workers)
{
    memset(speed, 0, sizeof(*speed));
    speed->first_ns = first_ns;
    speed->constant_ns = constant_ns;
    speed->mean.cost_ns = (float)first_ns;
    speed->per_cost = 1.0 / workers;
    speed->served_ns = first_ns;
    speed->elapsed_ns = first_ns / workers;
}

static void average(struct wio_speed_cell *cell, float ns, uint32_t length)
{
    cell->samples += cell->samples < length;
    cell->cost_ns += (ns - cell->cost_ns) / (float)cell->samples;
}

/* Only the time between two completions with something waiting says how fast the shard is. */
static void learn_drain(struct wio_speed *speed, const struct wio_speed_sample *sample)
{
    if (speed->was_backlogged) {
        uint64_t since_ns = sample->now_ns > speed->last_ns ? sample->now_ns - speed->last_ns : 0;
        double elapsed = fmin((double)since_ns, WIO_SPEED_COST_MAX_NS);
        speed->served_ns += (sample->estimate_ns - speed->served_ns) / DRAIN_LENGTH;
        speed->elapsed_ns += (elapsed - speed->elapsed_ns) / DRAIN_LENGTH;
        speed->per_cost = speed->elapsed_ns / fmax(speed->served_ns, 1);
    }
    speed->last_ns = sample->now_ns;
    speed->was_backlogged = sample->is_backlogged;
}

void wio_speed_learn(struct wio_speed *speed, const struct wio_speed_sample *sample)
{
    uint64_t believed =
        sample->service_ns < WIO_SPEED_COST_MAX_NS ? sample->service_ns : WIO_SPEED_COST_MAX_NS;
    float ns = (float)believed;
    struct wio_speed_cell *cell =
        &speed->cells[sample->space][sample->operation][sample->size_class];
    average(cell, ns, CELL_LENGTH);
    average(&speed->ops[sample->space][sample->operation], ns, OP_LENGTH);
    average(&speed->mean, ns, MEAN_LENGTH);
    speed->space = sample->space;
    if (speed->constant_ns == 0) {
        learn_drain(speed, sample);
    }
}
