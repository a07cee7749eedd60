/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processors that a thread may use, one after the other. Which of them a program runs on
 * decides what a small write to a device costs: the device interrupts one of them, and from another
 * one that sleeps waking up takes longer.
 *
 * Source: sched_setaffinity(2).
 */
#ifndef WIO_CALIBRATE_PROCESSORS_H
#define WIO_CALIBRATE_PROCESSORS_H

#include <sched.h>
#include <stddef.h>

struct wio_processors {
    cpu_set_t allowed;
    size_t count; /* 0: the system does not tell */
};

struct wio_processors wio_processors_of_thread(void);
/* The calling thread goes to the one for turn `turn` of `turns`, a power of 2, and stays as long as
 * others leave it: it is free to go, since who is tied to a processor waits for all that others
 * have to do there. Two turns in a row are on the same one, and all that are used get as many: a
 * power of 2 of them, at equal distances. Returns which, below `turns`. */
size_t wio_processors_settle(const struct wio_processors *processors, size_t turn, size_t turns);

#endif
