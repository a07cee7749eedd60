/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a generated program does: for each actor (a process, a thread or a rank) a list of steps,
 * the same in every process that asks with the same arguments. No plan deadlocks as long as sends
 * do not wait.
 */
#ifndef TRUTH_PLAN_H
#define TRUTH_PLAN_H

enum { MAX_ACTORS = 32, MAX_STEPS = 4096 };

enum step_kind {
    STEP_SEND, /* to peer */
    STEP_RECV, /* from peer */
    STEP_ALL,  /* all actors take part; peer is the root, if there is one; what it is: `round` */
    STEP_LOCK, /* a section in which only one actor is */
    STEP_PUT,  /* into the one queue */
    STEP_TAKE, /* from it */
};

struct step {
    enum step_kind kind;
    int actor;
    int peer;
    int round;
};

struct plan {
    int actors;
    int count;
    struct step steps[MAX_STEPS];
};

/* Pattern: chain, ring, halo, gather, scatter, random, all, lock, queue. -1: there is none of
 * that name, or the plan would be too long. */
int plan_make(struct plan *plan, const char *pattern, int actors, int rounds, unsigned seed);

#endif
