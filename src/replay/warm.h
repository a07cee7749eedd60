/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Did the run read its files from a device or from memory? Pure.
 *
 * Only reads of what was there before the run and that the run comes to for the first time tell.
 * A read that goes on where the last one of its file ended may find what was read ahead; one that
 * begins elsewhere (also the first) has to wait for a device, which takes RP_WARM_LATENCY_NS and
 * the transfer at least. It decides for the bytes that are read on from there.
 */
#ifndef WIO_REPLAY_WARM_H
#define WIO_REPLAY_WARM_H

#include <stdbool.h>
#include <stdint.h>

/* Few devices answer sooner, and few transfer more: 20 us, 3 bytes per ns. */
#define RP_WARM_LATENCY_NS 20000u
#define RP_WARM_BYTES_PER_NS 3u

/* Of one file. Zero-initialise. */
struct rp_warm {
    uint64_t end;          /* of what was read or written so far */
    uint64_t memory_bytes; /* read for the first time, as fast as from memory .. */
    uint64_t device_bytes; /* .. or not */
    bool is_memory;        /* the read that began the stretch was */
};

/* A read of `bytes` at `offset` that took dur_ns; `wrote_end`: of what the run has written. */
void rp_warm_see(struct rp_warm *warm, uint64_t offset, uint64_t bytes, uint64_t dur_ns,
                 uint64_t wrote_end);

#endif
