/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of processes, threads, signals and ranks. */
#ifndef WIO_CAUSAL_INFER_THREADS_STATE_H
#define WIO_CAUSAL_INFER_THREADS_STATE_H

#include "base/pair_map.h"
#include "causal/infer/list.h"
#include "causal/match/match.h"

/* A slot of a table of descriptors: 1 + file, the top bit says that exec closes it. */
#define WIO_INFER_CLOEXEC 0x80000000u

struct wio_infer_image {
    uint32_t *fds;
    size_t fd_room;
    uint64_t events_left;
    uint32_t successor;    /* image that exec made of it; WIO_INFER_NONE */
    uint32_t main_stream;  /* the thread that fork made; WIO_INFER_NONE: it has no event */
    uint32_t first_stream; /* all of its threads: next_stream goes on */
    uint32_t first_child; /* images whose parent it is, by start; some that are born are left out */
    uint32_t next_child;
    struct wio_infer_list ranges; /* files of which it has locked ranges: id in `a` */
    bool is_born;
};

/* causal/threads: image.c, process.c, helper.c */
struct wio_infer_processes {
    struct wio_infer_image *images;
    uint32_t *next_stream;         /* per stream: the next of its image */
    uint32_t *same_token;          /* per stream: the next one of its image with its token */
    struct wio_pair_map thread_of; /* (image, token) -> first thread to come, then by same_token */
    struct wio_pair_map made_of;   /* (image, token) -> last thread made by a call */
    struct wio_pair_map image_of;  /* (host, pid) -> latest image that has begun */
    struct wio_pair_map
        helper_of; /* (system's stream or popen's image, seq or descriptor) -> pid */
};

/* semaphore.c, sem_wait_zero.c */
struct wio_infer_semaphore {
    struct wio_infer_list posts;   /* `a` is what is left of them, `b` when they come */
    struct wio_infer_list takings; /* the last one of each thread */
    struct wio_infer_list calls;   /* under way: `a` is what they take, `b` the operation */
    uint32_t receives;             /* of a message, that are under way */
    uint64_t initial;              /* what is left of its first value */
    bool has_initial;
};

/* causal/threads/thread.c: of a condition or a futex word; the room in a message queue. */
struct wio_infer_wakes {
    struct wio_infer_list wakes; /* of `a` waiters, by the bits `b` */
    struct wio_infer_list moved; /* waiters that are moved to the word `b` */
};

/* causal/threads/thread.c */
struct wio_infer_barrier {
    uint64_t members; /* that have come, where no rounds are told */
};

/* signal.c */
struct wio_infer_signals {
    struct wio_pair_map list_of; /* (host and pid, signal) -> list */
};

/* A receive, send or collective of MPI that has not ended, or may not be matched yet. */
struct wio_infer_request {
    struct wio_message message;
    struct wio_collective_call call;
    uint32_t queue; /* of receives; WIO_INFER_NONE */
    uint32_t next;  /* in the queue, or free */
    uint8_t what;   /* enum wio_infer_request_kind */
    bool is_done;
};

struct wio_infer_rank {
    uint32_t rank;
    uint32_t size;
    bool is_inter; /* an intercommunicator */
};

/* causal/threads/mpi.c */
struct wio_infer_mpi {
    struct wio_pair_map rank_of; /* (image, communicator object) -> index of ranks */
    struct wio_infer_rank *ranks;
    size_t rank_room;
    uint32_t rank_count;
    struct wio_pair_map request_of; /* (image, key) -> request */
    struct wio_infer_request *requests;
    size_t request_room;
    uint32_t request_count;
    uint32_t request_free;
    struct wio_pair_map queue_of;  /* (image, communicator object) -> queue */
    struct wio_infer_list *queues; /* receives in the order in which they were posted */
    size_t queue_room;
    uint32_t queue_count;
};

#endif
