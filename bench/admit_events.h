/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a simulation, by time, those of one time in the order in which they were added. */
#ifndef WIO_BENCH_ADMIT_EVENTS_H
#define WIO_BENCH_ADMIT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_event {
    uint64_t at_ns;
    uint64_t order;
    uint32_t what; /* the simulation's */
    uint32_t which;
};

struct sim_events {
    struct sim_event *heap;
    size_t count;
    size_t room;
    uint64_t order;
};

/* Ends the program where there is no memory. */
void sim_events_add(struct sim_events *events, uint64_t at_ns, uint32_t what, uint32_t which);
bool sim_events_take(struct sim_events *events, struct sim_event *event_out);

/* At least `need` elements in *array; new ones are zero. Ends the program where there is no
 * memory. */
void sim_room(void **array, size_t *room, size_t need, size_t size);

#endif
