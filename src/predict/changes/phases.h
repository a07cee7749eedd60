/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of a parallel program: the time between two collectives in which all of its ranks take
 * part, and before the first and behind the last of them. Without such collectives there is one.
 */
#ifndef WIO_PREDICT_CHANGES_PHASES_H
#define WIO_PREDICT_CHANGES_PHASES_H

#include <stdint.h>

#include <whyio/status.h>

#include "predict/program.h"

/* Zero-initialise; release with wio_program_phases_fini. */
struct wio_program_phases {
    const struct wio_program *program;
    uint64_t *ends;    /* of all but the last: when the collective behind it had all, rising, ns */
    uint32_t *streams; /* of each rank: the one that takes part in the most collectives */
    uint32_t *ranks;   /* of each stream: rank, UINT32_MAX: none */
    uint32_t count;    /* of phases, at least 1 */
    uint32_t rank_count; /* that have a stream: numbered 0, 1 .. without the gaps of the trace */
};

WIO_MUST_CHECK enum wio_status wio_program_phases_init(struct wio_program_phases *phases,
                                                       const struct wio_program *program);
void wio_program_phases_fini(struct wio_program_phases *phases);

/* In which phase a moment of the trace is. */
uint32_t wio_program_phases_at(const struct wio_program_phases *phases, uint64_t t_ns);
/* The first event of a rank's stream in a phase, and that with which it comes to the collective
 * behind it; of the last phase the stream's last event. */
uint64_t wio_program_phases_begin(const struct wio_program_phases *phases, uint32_t phase,
                                  uint32_t rank);
uint64_t wio_program_phases_end(const struct wio_program_phases *phases, uint32_t phase,
                                uint32_t rank);

#endif
