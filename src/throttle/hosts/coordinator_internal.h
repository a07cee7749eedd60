/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of throttle/hosts/coordinator.h share. */
#ifndef WIO_THROTTLE_HOSTS_COORDINATOR_INTERNAL_H
#define WIO_THROTTLE_HOSTS_COORDINATOR_INTERNAL_H

#include <sys/types.h>

#include "throttle/hosts/admission.h"
#include "throttle/hosts/coordinator.h"

/* A recorder of this run. */
struct wio_director_peer {
    struct wio_remote_link link; /* closed: it has ended, or is lost */
    uint32_t host;
    int32_t pid;
    uint32_t wave;
    bool is_done;
    uint32_t *places; /* on our board, of its nodes */
    uint32_t count;
    uint32_t announced;
    uint32_t arrived;
};

struct wio_director {
    struct wio_board *board;
    struct wio_admission *admission;
    char address[WIO_REMOTE_ADDRESS_BYTES];
    char **hosts; /* host h is hosts[h - 1]; of all runs */
    uint32_t host_count;
    struct wio_remote_welcome welcome;
    struct wio_director_peer *peers; /* of this run */
    uint32_t peer_count;
    uint32_t wave;
    struct wio_director_look *looks; /* per place of the board */
    uint32_t *told;                  /* per place: what its recorder knows that it may do */
    struct wio_remote_grant *grants; /* that are sent just now */
    struct wio_blob body;            /* that is sent just now */
    struct wio_director_totals totals;
};

/* coordinator_core.c: the recorders of the run before. */
void wio_director_forget_peers(struct wio_director *director);

/* coordinator_answer.c: wait for what it says, at most until then, and write that on the board. */
void wio_director_hear(struct wio_director *director, struct wio_director_peer *peer,
                       uint64_t until_ns, struct wio_director_news *news);
/* It is gone before its command. */
void wio_director_lose(struct wio_director *director, struct wio_director_peer *peer);

#endif
