/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam store/io.h as a simulation: many processes in one thread, time that is a number, and
 * chance that follows from a seed. What happens is an event (a timer, bytes that arrive, a flush
 * that ends); a step is one event. The same seed and the same code give the same trace.
 *
 *     struct wio_sim *sim = wio_sim_create(&(struct wio_sim_options){.seed = 7});
 *     struct wio_sim_node *node = wio_sim_node(sim, "target0");
 *     struct wio_io *io = wio_sim_start(node);      a process there
 *     .. code of the store over `io` ..
 *     wio_sim_run(sim, 10000);
 *
 * Bytes of one direction of a connection arrive in order, in pieces of any size, late by chance;
 * between connections there is no order. A crash of a node loses any subset of its unflushed
 * sectors of 512 bytes, and names that were not synced from some point on. A process that was
 * ended is a dead world to its code: every function does nothing, so that the code can give its
 * memory back as always.
 */
#ifndef WIO_TESTS_SIM_H
#define WIO_TESTS_SIM_H

#include "store/io.h"

struct wio_sim;
struct wio_sim_node;

/* Chances are in millionths of the events of their kind. */
struct wio_sim_options {
    uint64_t seed;
    uint64_t delay_ns;    /* of bytes on their way, at least; 0: 20 us */
    unsigned late;        /* chance that they take up to 1,000 times as long */
    unsigned reset;       /* chance, per piece, that the connection breaks */
    unsigned flush_fails; /* chance of EIO of a flush */
    unsigned write_fails; /* .. of a write */
    unsigned read_fails;  /* .. of a read */
    unsigned write_back;  /* chance, per write, that some dirty sector reaches the disk by itself */
    uint64_t flush_ns;    /* of a flush; 0: 100 us */
    unsigned slow_disk;   /* chance that a flush takes 1,000 times as long */
    uint64_t disk_bytes;  /* of each node; 0: 1 GiB. Beyond: ENOSPC */
    size_t window_bytes;  /* that are on their way in one direction; 0: 256 KiB */
    void *log;            /* FILE that gets a line per event; NULL: none */
};

struct wio_sim *wio_sim_create(const struct wio_sim_options *options);
void wio_sim_destroy(struct wio_sim *sim);
/* For changes in the middle: a test may begin without faults and have them later. */
struct wio_sim_options *wio_sim_options(struct wio_sim *sim);

/* ---- time ---- */
/* Up to so many events. False: nothing is left to happen. */
bool wio_sim_run(struct wio_sim *sim, uint64_t steps);
uint64_t wio_sim_now_ns(const struct wio_sim *sim);
uint64_t wio_sim_steps(const struct wio_sim *sim);
/* Over all events so far: equal traces have equal hashes. */
uint64_t wio_sim_hash(const struct wio_sim *sim);
/* The simulation's own chance, for tests that decide by the same seed. */
uint64_t wio_sim_random(struct wio_sim *sim);
bool wio_sim_chance(struct wio_sim *sim, unsigned millionths);
/* Call it at a time from now. */
void wio_sim_later(struct wio_sim *sim, uint64_t after_ns, void (*call)(void *context),
                   void *context);

/* ---- nodes ---- */
/* The one of that name, made where it is not there. It has a disk and a clock. */
struct wio_sim_node *wio_sim_node(struct wio_sim *sim, const char *name);
/* A process on it; several may be there at once. Valid until the simulation is destroyed. */
struct wio_io *wio_sim_start(struct wio_sim_node *node);
/* The kernel says of connections from this node whose they are. */
void wio_sim_set_user(struct wio_sim_node *node, uint32_t uid, uint32_t gid);
/* The process ends (kill -9): its connections break, what it wrote stays in the node's page cache.
 */
void wio_sim_kill(struct wio_io *io);
/* The node loses power: all its processes end, and the disk is what chance left of it. */
void wio_sim_crash(struct wio_sim_node *node);
/* The wall clock jumps; the monotonic clock only ever runs. */
void wio_sim_jump(struct wio_sim_node *node, int64_t by_ns);
/* What the process does now takes its loop so long: its clock is ahead of the simulation's by it,
 * and what comes to it waits. */
void wio_sim_spend(struct wio_io *io, uint64_t ns);
/* All flushes of the node take so many times as long; 1: as before. */
void wio_sim_slow(struct wio_sim_node *node, unsigned times);
/* No bytes pass between the two, nor from or to any where one is NULL, until it is healed; the
 * connections stay. */
void wio_sim_part(struct wio_sim *sim, struct wio_sim_node *a, struct wio_sim_node *b);
void wio_sim_heal(struct wio_sim *sim);

/* ---- between both ends ---- */
/*
 * Sees each piece of bytes before it arrives, and may change it. `from_caller`: it goes from the
 * side that connected. Bytes that are to be dropped or added are a test's to send by connections
 * of its own.
 */
typedef void wio_sim_middle(void *context, bool from_caller, uint8_t *bytes, size_t size);
void wio_sim_set_middle(struct wio_sim *sim, wio_sim_middle *middle, void *context);

/* ---- what happened ---- */
struct wio_sim_counts {
    uint64_t pieces;
    uint64_t resets;
    uint64_t flushes;
    uint64_t flush_failures;
    uint64_t write_failures;
    uint64_t no_space;
    uint64_t crashes;
    uint64_t sectors_lost; /* dirty ones that a crash dropped */
    uint64_t sectors_kept;
    uint64_t names_lost;
    uint64_t parted; /* pieces that a partition held back */
};
const struct wio_sim_counts *wio_sim_counts(const struct wio_sim *sim);

#endif
