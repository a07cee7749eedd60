/* SPDX-License-Identifier: Apache-2.0 */
/* How actors of one machine wait for each other. What a medium cannot do is NULL. */
#ifndef TRUTH_MEDIUM_H
#define TRUTH_MEDIUM_H

#include "actor.h"
#include "plan.h"

struct medium {
    const char *name;
    /* Before there are actors; `all` is how many. */
    void (*prepare)(int all);
    /* The channel from one actor to another one is made: only those that the plan needs. */
    void (*connect)(int from, int to);
    void (*send)(int from, int to, struct note note);
    struct note (*recv)(int from, int to);
    void (*meet)(void);
    void (*lock)(void);
    void (*unlock)(void);
    /* A receiver that comes late asks without waiting: senders take a nap before they send. */
    bool has_naps;
    /* The one queue. */
    void (*put)(struct note note);
    struct note (*take)(void);
};

extern const struct medium media_pipe, media_socketpair, media_tcp, media_eventfd, media_semaphore,
    media_condition, media_file, media_shared, media_barrier, media_mutex, media_flock, media_fcntl;

/* Zeroed memory that all actors share. */
void *shared_memory(unsigned long bytes);

#endif
