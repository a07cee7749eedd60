/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulations to test: SimGrid can be started once per process, so each runs in a child, and what
 * its actors note comes back in shared memory.
 *
 * The platform: host "h1" with disk "d1" (100 MiB/s), host "h2" without a disk. The machine: dirty
 * limits of 64 and 256 MiB.
 */
#ifndef WIO_TESTS_SIMGRID_WORLD_H
#define WIO_TESTS_SIMGRID_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <simgrid/disk.h>

#include <whyio/simgrid.h>

#include "model/model.h"

#define MIB 1048576.0
#define MIB_BYTES ((int64_t)1 << 20)
#define WRITE_BYTES (16 * MIB_BYTES)

#define ACTORS_MAX 4
#define REMOTES_MAX 2
#define FAULTS_MAX 32
#define NOTES_MAX 32768

struct world;

/* What an actor does, by its number. */
typedef void (*world_act)(struct world *world, int number);

struct world {
    world_act acts[ACTORS_MAX];     /* on h1, in this order; the last ones may be NULL */
    world_act remotes[REMOTES_MAX]; /* on h2; their numbers are those behind ACTORS_MAX */
    world_act prepare;              /* before the simulation runs */
    bool has_no_disk;               /* no page cache is put in front of d1 */
    struct wio_simgrid *disk;
    /* What is told: */
    size_t count;
    double notes[NOTES_MAX];
    double ends[ACTORS_MAX + REMOTES_MAX]; /* when the actor's function returned */
    double end_s;                          /* of the simulation */
    enum wio_status status;                /* the last one that was not ok */
    struct wio_error err;
    size_t fault_count;
    struct wio_error faults[FAULTS_MAX];
};

/* Run `plan` in a child and give what it has become; free() it. Fails the test where it dies. */
struct world *world_run(const struct world *plan);
/* The same; fails where anything was not WIO_OK. */
struct world *world_run_ok(const struct world *plan);
/* When actor 0 had ended. */
double world_end_of(const struct world *plan);

/* For actors. */
void world_note(struct world *world, double value);
/* Keeps the status and its error if it is none of WIO_OK. */
void world_keep(struct world *world, enum wio_status status, const struct wio_error *err);
/* One more of the faults, `err` as filled by a call that gave `status`. */
void world_fault(struct world *world, enum wio_status status, const struct wio_error *err);
void world_write(struct world *world, uint64_t file, int64_t offset, int64_t size);
/* In WRITE_BYTES, one behind the other; into the file of the actor's number. */
void world_write_64_mib(struct world *world, int number);
void world_write_2_gib(struct world *world, int number);

/* The machine as the plug-in and the model are told of it. */
extern const struct wio_simgrid_param world_machine[];
struct wio_model_params world_params(void);
struct wio_model *world_model(void);
/* SimGrid's disk. */
sg_disk_t world_disk(void);

void world_assert_near(double got, double want, double relative);

#endif
