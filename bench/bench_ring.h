/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed events as a ring, which is what is sealed. */
#ifndef WIO_BENCH_BENCH_RING_H
#define WIO_BENCH_BENCH_RING_H

#include <stdint.h>

/* DIR/raw/bench.ring, as `writers` threads of one process leave it: the events are divided among
 * them. Ends the program where it cannot be written. */
void bench_ring_write(const char *dir, unsigned writers, uint64_t events);

#endif
