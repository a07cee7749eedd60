/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From recorded synchronisation to edges: sends to receives, bytes written to bytes read, members
 * to collectives, releases to acquires, makers of a file to those who look for it.
 *
 * Feed one matcher with the calls of all threads. What must be in order: the calls of one thread as
 * they happened (receives in the order in which they were posted); for one channel, lock or file
 * the calls of all threads by time: releases, writes and makers at their begin, acquires, reads and
 * looks at their end. Messages and collectives need no order between threads.
 *
 * A released thread waits for the operation *before* the releasing call, see edge.h. Where there is
 * none (the call is operation 0) there is nothing to wait for, and no edge.
 *
 * Unless a function says otherwise it gives WIO_OK or WIO_ERR_NOMEM; after an error the matcher may
 * only be destroyed.
 */
#ifndef WIO_CAUSAL_MATCH_H
#define WIO_CAUSAL_MATCH_H

#include "causal/edge.h"

struct wio_match;

/* Edges go into `edges`, which must outlive the matcher; memory comes from its allocator. */
WIO_MUST_CHECK enum wio_status wio_match_create(struct wio_edges *edges,
                                                struct wio_match **match_out);
/* Accepts NULL. */
void wio_match_destroy(struct wio_match *match);

/*
 * A message of MPI. Ranks are those of the communicator; source and tag of a receive are what its
 * status says, never ANY_SOURCE or ANY_TAG. The k-th send of (communicator, source, destination,
 * tag) meets the k-th receive: MPI's messages do not overtake. A cancelled receive, or one from
 * MPI_PROC_NULL, is not fed.
 */
struct wio_message {
    uint64_t communicator;
    uint32_t source;
    uint32_t destination;
    int32_t tag;
    bool is_synchronous; /* MPI_Ssend, MPI_Issend: it waits for the receive too */
    uint32_t thread;
    uint64_t begin_op; /* MPI_Isend, MPI_Irecv, MPI_Start */
    uint64_t end_op;   /* MPI_Wait or what else completed it; begin_op of a blocking call */
};

WIO_MUST_CHECK enum wio_status wio_match_send(struct wio_match *match,
                                              const struct wio_message *send);
WIO_MUST_CHECK enum wio_status wio_match_receive(struct wio_match *match,
                                                 const struct wio_message *receive);

/*
 * A stream of bytes (pipe, one direction of a socket) or the count of an eventfd: whoever reads
 * bytes waits for whoever wrote them. A read of 0 bytes waits for nothing.
 */
WIO_MUST_CHECK enum wio_status wio_match_write(struct wio_match *match, uint64_t channel,
                                               enum wio_evidence evidence, struct wio_point at,
                                               uint64_t bytes);
WIO_MUST_CHECK enum wio_status wio_match_read(struct wio_match *match, uint64_t channel,
                                              enum wio_evidence evidence, struct wio_point at,
                                              uint64_t bytes);

enum wio_collective_kind {
    WIO_COLLECTIVE_ALL,       /* barrier, allreduce, allgather, alltoall, file open */
    WIO_COLLECTIVE_FROM_ROOT, /* broadcast, scatter */
    WIO_COLLECTIVE_TO_ROOT    /* reduce, gather */
};

/* One rank's part in the `sequence`-th collective of a communicator. */
struct wio_collective_call {
    uint64_t communicator;
    uint64_t sequence;
    uint32_t size; /* ranks in the communicator */
    uint32_t rank;
    uint32_t root; /* of FROM_ROOT and TO_ROOT */
    enum wio_collective_kind kind;
    uint32_t thread;
    uint64_t enter_op;
    uint64_t leave_op;
};

/* The last member makes the collective. WIO_ERR_FORMAT where ranks disagree on size, kind or root,
 * or one is there twice: the message names communicator, sequence and rank. */
WIO_MUST_CHECK enum wio_status wio_match_collective(struct wio_match *match,
                                                    const struct wio_collective_call *call,
                                                    struct wio_error *err);

/*
 * Mutex, flock, fcntl lock. `shared`: a reader's lock. An acquire follows the last exclusive
 * release of another thread, an exclusive one the shared releases since then too. Class mutex; the
 * edges of one lock have one `object`.
 */
WIO_MUST_CHECK enum wio_status wio_match_acquire(struct wio_match *match, uint64_t lock,
                                                 struct wio_point at, bool shared);
WIO_MUST_CHECK enum wio_status wio_match_release(struct wio_match *match, uint64_t lock,
                                                 struct wio_point at, bool shared);

/* A run of looks for one file that failed, then one that did not: replayed as one WAIT-UNTIL. */
struct wio_wait_until {
    uint64_t first_op; /* the first look that failed */
    uint64_t last_op;  /* the one that succeeded */
    uint64_t looks;    /* that failed; 0: this was no waiting */
};

/* A file came to be (open with O_CREAT, rename, link, mkdir): `at` is the operation itself. */
WIO_MUST_CHECK enum wio_status wio_match_made(struct wio_match *match, uint64_t file,
                                              struct wio_point at);
/* stat, access, open .. that found the file or failed with ENOENT. The edge comes from the maker,
 * if that was another thread. `wait_out` says whether a wait ends here. */
WIO_MUST_CHECK enum wio_status wio_match_look(struct wio_match *match, uint64_t file,
                                              struct wio_point at, bool found,
                                              struct wio_wait_until *wait_out);
/* The thread does some other I/O: it is not waiting. (Sleeping between looks is.) */
void wio_match_other(struct wio_match *match, uint32_t thread);

/* What has met nothing so far; at the end of a complete trace all are 0, or a file is missing. */
struct wio_match_left {
    uint64_t sends;
    uint64_t receives;
    uint64_t read_bytes; /* that nobody wrote */
    uint64_t collectives;
};
struct wio_match_left wio_match_left(const struct wio_match *match);

#endif
