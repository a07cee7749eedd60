/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events the change of a finding is about: those of its steps, by call site, operation,
 * thread and file, as far as the kind of change asks for that: what files are merged into concerns
 * their close as well, whatever its line; an aggregator works for all ranks; a phase is balanced as
 * a whole. Private to the room.
 */
#ifndef WIO_EXPLAIN_GAIN_SCOPE_H
#define WIO_EXPLAIN_GAIN_SCOPE_H

#include <stdint.h>

#include <whyio/status.h>

#include "explain/findings/finding.h"
#include "predict/changes/change.h"

/* Zero-initialise; release with wio_gain_scope_fini, also after an error. */
struct wio_gain_scope {
    struct wio_change_scope of; /* its lists are those below */
    uint32_t *sources;
    uint32_t *streams;
    uint32_t *paths;
    uint16_t *ops;
};

WIO_MUST_CHECK enum wio_status wio_gain_scope_init(struct wio_gain_scope *scope,
                                                   const struct wio_steps *steps,
                                                   const struct wio_finding *finding,
                                                   enum wio_change_kind kind);
void wio_gain_scope_fini(struct wio_gain_scope *scope);

#endif
