/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/processors.h"

struct wio_processors wio_processors_of_thread(void)
{
    struct wio_processors processors = {.count = 0};
    if (sched_getaffinity(0, sizeof(processors.allowed), &processors.allowed) == 0) {
        processors.count = (size_t)CPU_COUNT(&processors.allowed);
    }
    return processors;
}

/* The number of the one that has so many allowed ones before it. */
static size_t number_of(const struct wio_processors *processors, size_t place)
{
    size_t number = 0;
    while (!CPU_ISSET(number, &processors->allowed) || place-- > 0) {
        number++;
    }
    return number;
}

size_t wio_processors_settle(const struct wio_processors *processors, size_t turn, size_t turns)
{
    size_t used = turns / 2;
    cpu_set_t one;
    while (used > processors->count) {
        used /= 2;
    }
    if (used < 2) {
        return 0;
    }
    size_t which = turn / 2 % used;
    CPU_ZERO(&one);
    CPU_SET(number_of(processors, which * processors->count / used), &one);
    if (sched_setaffinity(0, sizeof(one), &one) == 0) { /* else it stays where it is */
        (void)sched_setaffinity(0, sizeof(processors->allowed), &processors->allowed);
    }
    return which;
}
