/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From recorded synchronisation to edges: sends to receives, bytes written to bytes read, members
 * to collectives, releases to acquires, makers of a file to polls for it.
 *
 * Feed one matcher with the calls of all threads. What must be in order: the calls of one thread as
 * they happened (receives in the order in which they were posted); for one channel, lock or file
 * the calls of all threads by time: releases, writes and makers at their begin, acquires, reads and
 * polls at their end. Messages and collectives need no order between threads.
 *
 * A released thread waits for the operation *before* the releasing call, see edge.h. Where there is
 * none (the call is the thread's first) it waits for what precedes the call that made that thread,
 * if wio_match_born told of it; else there is nothing to wait for, and no edge.
 *
 * Channels, locks and communicators are named by the number that their edges bear as `object`.
 * Files are numbers too: memory grows with the largest (16 bytes each).
 *
 * Memory: what is not matched so far, the last release of each reader of a lock, and for each
 * collective that is not complete a bit per thread.
 *
 * Unless a function says otherwise it gives WIO_OK or WIO_ERR_NOMEM; after an error the matcher may
 * only be destroyed.
 */
#ifndef WIO_CAUSAL_MATCH_MATCH_H
#define WIO_CAUSAL_MATCH_MATCH_H

#include "causal/core/edge.h"

struct wio_match;

/* Edges go into `edges`, which must outlive the matcher; memory comes from its allocator. */
WIO_MUST_CHECK enum wio_status wio_match_create(struct wio_edges *edges,
                                                struct wio_match **match_out);
/* Accepts NULL. */
void wio_match_destroy(struct wio_match *match);

/* One thread sent at `sent_ns`, and another had received it at `received_ns`, by the times that
 * were fed: messages, members of collectives (of large ones only some pairs), bytes of sockets. */
struct wio_match_meeting {
    uint64_t sent_ns;
    uint64_t received_ns;
    uint32_t from_thread;
    uint32_t to_thread;
};
typedef enum wio_status wio_match_watch_fn(void *context, const struct wio_match_meeting *meeting);
/* Calls `watch` for all that is matched from now on. */
void wio_match_watch(struct wio_match *match, wio_match_watch_fn *watch, void *context);

/* `thread`, whose first operation is `first_op`, was made by operation `by.op` of another thread.
 * To be told before the thread's first call. */
void wio_match_born(struct wio_match *match, uint32_t thread, uint64_t first_op,
                    struct wio_point by);
/* The edge (its `from` is the releasing call) from the operation before that call, as above. */
WIO_MUST_CHECK enum wio_status wio_match_edge_from_before(struct wio_match *match,
                                                          struct wio_edge edge);

/*
 * A message of MPI. Ranks are those of the communicator; source and tag of a receive are what its
 * status says, never ANY_SOURCE or ANY_TAG. The k-th send of (communicator, source, destination,
 * tag) meets the k-th receive: MPI's messages do not overtake. A cancelled receive, or one from
 * MPI_PROC_NULL, is not fed.
 */
struct wio_message {
    uint32_t communicator;
    uint32_t source;
    uint32_t destination;
    int32_t tag;
    bool is_synchronous; /* MPI_Ssend, MPI_Issend: it waits for the receive too */
    uint32_t thread;
    uint64_t begin_op; /* MPI_Isend, MPI_Irecv, MPI_Start */
    uint64_t end_op;   /* MPI_Wait or what else completed it; begin_op of a blocking call */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t bytes; /* of MPI_Send, which may wait for its receive or not; else 0 */
};

WIO_MUST_CHECK enum wio_status wio_match_send(struct wio_match *match,
                                              const struct wio_message *send);
WIO_MUST_CHECK enum wio_status wio_match_receive(struct wio_match *match,
                                                 const struct wio_message *receive);
/* All messages were there: what MPI_Send waited for is known now, by all sends of its size. */
WIO_MUST_CHECK enum wio_status wio_match_messages_end(struct wio_match *match);

/*
 * A stream of bytes (pipe, one direction of a socket) or the count of an eventfd: a read waits for
 * the writes of its bytes. A read of 0 bytes waits for nothing. `when_ns`: begin of the write, end
 * of the read; only for `watch`.
 */
WIO_MUST_CHECK enum wio_status wio_match_write(struct wio_match *match, uint32_t channel,
                                               enum wio_evidence evidence, struct wio_point at,
                                               uint64_t bytes, uint64_t when_ns);
WIO_MUST_CHECK enum wio_status wio_match_read(struct wio_match *match, uint32_t channel,
                                              enum wio_evidence evidence, struct wio_point at,
                                              uint64_t bytes, uint64_t when_ns);
/* A read that leaves the bytes where they are (MSG_PEEK, tee): it waits for them all the same. */
WIO_MUST_CHECK enum wio_status wio_match_peek(struct wio_match *match, uint32_t channel,
                                              enum wio_evidence evidence, struct wio_point at,
                                              uint64_t bytes);

enum wio_collective_kind {
    WIO_COLLECTIVE_ALL,       /* barrier, allreduce, allgather, alltoall, file open */
    WIO_COLLECTIVE_FROM_ROOT, /* broadcast, scatter */
    WIO_COLLECTIVE_TO_ROOT,   /* reduce, gather */
    WIO_COLLECTIVE_SCAN,      /* each rank waits for all lower ones */
    WIO_COLLECTIVE_LOOSE,     /* as ALL if every member left after the last one came; else no member
                                 waited */
    WIO_COLLECTIVE_ROLES      /* as `gives` and `takes` of each member say */
};

/* One rank's part in the `sequence`-th collective of a communicator. */
struct wio_collective_call {
    uint32_t communicator;
    enum wio_evidence evidence;
    uint64_t sequence;
    uint32_t size; /* ranks in the communicator */
    uint32_t rank; /* below size; of ROLES below the number of threads */
    uint32_t root; /* of FROM_ROOT and TO_ROOT */
    enum wio_collective_kind kind;
    uint32_t thread;
    uint64_t enter_op;
    uint64_t leave_op;
    uint64_t enter_ns; /* for LOOSE, and for `watch` */
    uint64_t leave_ns;
    bool gives; /* of ROLES */
    bool takes;
};

/* The last member makes the collective. If one member says LOOSE, it is. WIO_ERR_FORMAT where ranks
 * disagree on size, kind or root, or one is there twice: the message names communicator, sequence
 * and rank. It is left out, or, where a thread is two ranks, the collective. */
WIO_MUST_CHECK enum wio_status wio_match_collective(struct wio_match *match,
                                                    const struct wio_collective_call *call,
                                                    struct wio_error *err);

/*
 * A lock. `shared`: a reader's. An acquire follows the last exclusive release of another thread, an
 * exclusive one the shared releases since then too. Class mutex.
 *
 * An exclusive acquire of a lock that another thread has taken and not released is possible where a
 * release was noted late: it follows that release when it comes.
 */
WIO_MUST_CHECK enum wio_status wio_match_acquire(struct wio_match *match, uint32_t lock,
                                                 enum wio_evidence evidence, struct wio_point at,
                                                 bool shared);
/* The thread that has it for itself, as far as is known; else WIO_NO_INDEX. */
WIO_MUST_CHECK enum wio_status wio_match_owner(struct wio_match *match, uint32_t lock,
                                               uint32_t *thread_out);
WIO_MUST_CHECK enum wio_status wio_match_release(struct wio_match *match, uint32_t lock,
                                                 enum wio_evidence evidence, struct wio_point at,
                                                 bool shared);

/* A run of failed polls for one file, then one that succeeded: replayed as one WAIT-UNTIL. */
struct wio_wait_until {
    uint64_t first_op; /* the first failed poll */
    uint64_t last_op;  /* the one that succeeded */
    uint64_t looks;    /* failed polls; 0: this was no wait */
};

/* A file came to be (link, mkdir, open with O_EXCL), or, if not `surely`, came to be or was there
 * (rename, open with O_CREAT): `at` is the operation itself, which ended then. */
WIO_MUST_CHECK enum wio_status wio_match_made(struct wio_match *match, uint32_t file,
                                              struct wio_point at, uint64_t end_ns, bool surely);
/* The thread that has made it, as far as is known; else WIO_NO_INDEX. */
uint32_t wio_match_maker(const struct wio_match *match, uint32_t file);
/* It is gone (unlink, rename to another name) by an operation that began then. */
WIO_MUST_CHECK enum wio_status wio_match_gone(struct wio_match *match, uint32_t file,
                                              struct wio_point at, uint64_t begin_ns);
/* stat, access, open .. that found the file or failed with ENOENT. The edge comes from the maker,
 * if that was another thread, unless a poll failed that tells of a later time than the making: that
 * of its begin, or earlier where changes by other threads show late. `wait_out` says whether a wait
 * ends here. */
WIO_MUST_CHECK enum wio_status wio_match_look(struct wio_match *match, uint32_t file,
                                              struct wio_point at, uint64_t tells_of_ns, bool found,
                                              struct wio_wait_until *wait_out);
/* The same for what can only be done when the file is gone (open with O_EXCL, mkdir, link), and was
 * or failed with EEXIST, at that time. */
WIO_MUST_CHECK enum wio_status wio_match_look_gone(struct wio_match *match, uint32_t file,
                                                   struct wio_point at, uint64_t begin_ns,
                                                   bool is_gone, struct wio_wait_until *wait_out);
/* The thread does some other I/O: it is not waiting. (Sleeping between polls is waiting.) */
void wio_match_other(struct wio_match *match, uint32_t thread);

/* What is not matched so far; at the end of a complete trace all are 0, or a file is missing. */
struct wio_match_left {
    uint64_t sends;
    uint64_t receives;
    uint64_t read_bytes; /* without a write */
    uint64_t collectives;
};
struct wio_match_left wio_match_left(const struct wio_match *match);

#endif
