/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the plug-in. The model follows SimGrid's clock: each call of the API and each step of
 * the flusher first runs it up to that time, never ahead. SimGrid may run other actors in every
 * call of a function sg_...: the object is consistent whenever one is made.
 */
#ifndef WHYIO_PLUGIN_SIMGRID_H
#define WHYIO_PLUGIN_SIMGRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <simgrid/actor.h>
#include <simgrid/disk.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>

#include <whyio/simgrid.h>

#include "base/map.h"
#include "model/model.h"

/* The flusher's writes: what the disk does in so many seconds, but not less than this many bytes.
 * It is how precisely others are felt, and what SimGrid has to do for a byte. */
#define WIO_SIMGRID_CHUNK_S 0.01
#define WIO_SIMGRID_CHUNK_MIN (UINT64_C(1) << 20)

struct wio_simgrid {
    char *name; /* of the disk, for errors */
    sg_disk_t disk;
    struct wio_model *model;
    struct wio_model_params params;
    struct wio_map calls;   /* task of the model -> struct wio_simgrid_call * that is under way */
    uint64_t chunk;         /* of the flusher's writes, bytes */
    uint64_t written;       /* by the flusher, ever, bytes */
    double precision_s;     /* of SimGrid's clock */
    double rest_until_s;    /* when the flusher goes on by itself, while it rests */
    bool is_resting;        /* the flusher: has nothing to write */
    bool is_down;           /* the flusher has been killed */
    sg_sem_t work;          /* it rests here */
    sg_sem_t granted;       /* actors wait here until the disk has written more */
    unsigned waiting;       /* of them */
    enum wio_status status; /* WIO_ERR_NOMEM once the flusher met it */
};

/* One operation of an actor; lies on its stack. */
struct wio_simgrid_call {
    struct wio_simgrid *disk;
    uint32_t task;
    bool is_done;
    struct wio_model_result result;
};

/* ---- machine.c ---- */
WIO_MUST_CHECK enum wio_status wio_simgrid_params(const struct wio_simgrid_machine *machine,
                                                  sg_disk_t disk, struct wio_model_params *params,
                                                  struct wio_error *err);

/* ---- disk.c ---- */
/* The model comes up to `time_s`; calls that have ended are told. */
WIO_MUST_CHECK enum wio_status wio_simgrid_advance(struct wio_simgrid *disk, double time_s,
                                                   struct wio_error *err);

/* The model's device may be so far ahead of what is known to be written: the chunk that is being
 * written, and as much again, as SimGrid rounds a disk's progress to bytes at every event. */
static inline uint64_t wio_simgrid_ahead(const struct wio_simgrid *disk)
{
    return 2 * disk->chunk;
}

/* ---- flusher.c ---- */
void wio_simgrid_flusher_start(struct wio_simgrid *disk);
/* After the model has done something: is there work for it? */
void wio_simgrid_flusher_nudge(struct wio_simgrid *disk);

#endif
