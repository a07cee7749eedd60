/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_uring: rings that the program shares with the kernel, seen from beside.
 *
 * Requests never pass through a function: the program writes them into the submission ring and
 * reads their ends from the completion ring. What passes by are the calls that submit or wait; at
 * each of them the new entries of both rings are read from where they lie. To know where that is,
 * a ring is noted when it is made: from the mmap calls of a program that does it itself, or from
 * the struct io_uring of liburing, which maps rings by system calls of its own.
 *
 * Two readers never wait for each other: a thread that finds a side of a ring busy goes on (another
 * one is reading the same entries). Source: io_uring(7), <linux/io_uring.h>.
 */
#ifndef WIO_CAPTURE_ASYNC_URING_H
#define WIO_CAPTURE_ASYNC_URING_H

#include <linux/io_uring.h>

#include "capture/async/async.h"

/* A file registered with a ring; its descriptor may be closed while the ring keeps it. */
struct cap_uring_file {
    int fd; /* -1 = empty place */
    uint32_t path;
    bool is_mpi; /* MPI-IO had opened it */
};

struct cap_uring_range {
    uintptr_t lo;
    uintptr_t hi;
};

enum { CAP_URING_SQ, CAP_URING_CQ, CAP_URING_SQES, CAP_URING_RANGES };

struct cap_uring {
    uint32_t number; /* of the ring, unique in the process; 0 = the place is free. Stays first */
    int fd;
    int pid;             /* only this process touches the rings: a child may not have them mapped */
    uint32_t flags;      /* IORING_SETUP_* */
    uint32_t features;   /* IORING_FEAT_* */
    uint32_t registered; /* index by which enter may name it, + 1; 0 = none */
    int32_t registered_by; /* the thread whose index that is: each has its own */
    bool has_skips;        /* of requests that post no end where all is well */
    bool is_hidden;        /* requests are counted, not recorded: uring_hidden.h */
    struct io_sqring_offsets sq_off;
    struct io_cqring_offsets cq_off;
    struct cap_uring_range ranges[CAP_URING_RANGES]; /* all set: the pointers below are good */

    const unsigned *sq_head;
    const unsigned *sq_tail;
    const unsigned *sq_array; /* NULL: entry i is request i */
    const uint8_t *sqes;
    unsigned sq_entries;
    unsigned sqe_bytes;
    unsigned sq_seen; /* entries below were recorded */
    uint32_t sq_busy;

    const unsigned *cq_head;
    const unsigned *cq_tail;
    const uint8_t *cqes;
    unsigned cq_entries;
    unsigned cqe_bytes;
    unsigned cq_seen;
    uint32_t cq_busy;

    struct cap_uring_file *files;
    unsigned file_count;
    unsigned file_room;
};

/* The ring with which this thread is inside liburing, whose own calls are known; NULL = none. */
struct cap_uring_place {
    const struct cap_uring *ring;
    uintptr_t frame; /* of the wrapper */
};
extern __thread struct cap_uring_place cap_uring_inside __attribute__((tls_model("initial-exec")))
CAP_HIDDEN;

/* Is a call with this ring, by a function with this frame, liburing's own? */
static inline bool cap_uring_is_own(const struct cap_uring *ring, uintptr_t frame)
{
    return ring != NULL && ring == cap_uring_inside.ring &&
           cap_is_within(frame, cap_uring_inside.frame);
}

/* The part of liburing's struct io_uring that has been the same since 2.0. */
struct cap_lib_uring {
    struct {
        unsigned *head, *tail, *mask, *entries, *flags, *dropped, *array;
        struct io_uring_sqe *sqes;
        unsigned sqe_head, sqe_tail;
        size_t ring_bytes;
        void *ring;
        unsigned pad[4];
    } sq;
    struct {
        unsigned *head, *tail, *mask, *entries, *flags, *overflow;
        struct io_uring_cqe *cqes;
        size_t ring_bytes;
        void *ring;
        unsigned pad[4];
    } cq;
    unsigned flags;
    int ring_fd;
    unsigned features;
};

/* ---- the table of rings (uring_table.c) -------------------------------------------------------
 */

/* io_uring_setup gave `fd`. */
void cap_uring_opened(int fd, const struct io_uring_params *params) CAP_HIDDEN;
/* mmap(fd, offset) gave `address`: one of the parts of a ring, if fd is one. */
void cap_uring_mapped(int fd, uint64_t offset, const void *address, size_t bytes) CAP_HIDDEN;
/* The wrapper of `call`, called from `source`, takes these addresses away: completions of rings
 * there are recorded, and the rings are not touched any more. Cheap while no ring exists. */
void cap_uring_unmapped(uintptr_t source, unsigned call, const void *address,
                        size_t bytes) CAP_HIDDEN;
/* The ring of a descriptor, if its parts are known and it belongs to this process; else NULL. */
struct cap_uring *cap_uring_find(int fd) CAP_HIDDEN;
/* The same by the index that IORING_REGISTER_RING_FDS gave. */
struct cap_uring *cap_uring_find_registered(unsigned index) CAP_HIDDEN;
/* The same by where its submissions lie. */
struct cap_uring *cap_uring_at(const unsigned *sq_head) CAP_HIDDEN;
/* The ring of liburing's structure, noted now if it was not before. */
struct cap_uring *cap_uring_of_library(const struct cap_lib_uring *library) CAP_HIDDEN;
void cap_uring_forget(struct cap_uring *ring) CAP_HIDDEN;
/* The ring of this descriptor, which io_uring_setup gave just now, is not to be recorded. */
void cap_uring_hide(int fd) CAP_HIDDEN;
/* Has a wrapped call shown a ring with this descriptor, here or in a parent by fork? */
bool cap_uring_is_known(int fd) CAP_HIDDEN;

/* Does this descriptor lead to a ring at all? (uring_raw.c; asks the kernel.) */
bool cap_uring_is_ring(int fd) CAP_HIDDEN;

/* One side of a ring is read by one thread at a time: false where another does. */
static inline bool cap_uring_take(uint32_t *busy)
{
    return __atomic_exchange_n(busy, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void cap_uring_release(uint32_t *busy)
{
    __atomic_store_n(busy, 0, __ATOMIC_RELEASE);
}

/* ---- registered files and rings (uring_registered.c) ------------------------------------------
 */

/* `first` + `count` beyond the table are cut off; set_files makes a new table. */
void cap_uring_set_files(struct cap_thread *self, struct cap_uring *ring, const int *fds,
                         unsigned count) CAP_HIDDEN;
void cap_uring_update_files(struct cap_thread *self, struct cap_uring *ring, unsigned first,
                            const int *fds, unsigned count) CAP_HIDDEN;
void cap_uring_drop_files(struct cap_uring *ring) CAP_HIDDEN;
/* io_uring_register succeeded: notes what concerns files and ring descriptors. */
void cap_uring_registered(struct cap_thread *self, struct cap_uring *ring, unsigned operation,
                          const void *arg, unsigned count) CAP_HIDDEN;

/* ---- requests (uring_request.c) ---------------------------------------------------------------
 */

uint64_t cap_uring_key(const struct cap_uring *ring, uint64_t user_data) CAP_HIDDEN;
/* What an entry asks for. Reads memory that the entry points to (paths, vectors), and notes what
 * becomes of the ring's registered files. */
struct cap_request cap_uring_request(struct cap_thread *self, struct cap_uring *ring,
                                     const struct io_uring_sqe *sqe) CAP_HIDDEN;

/* ---- walking (uring_walk.c) -------------------------------------------------------------------
 */

/* One submission while it is under way. */
struct cap_uring_batch {
    struct cap_uring *ring; /* NULL: nothing to do */
    unsigned first;
    unsigned count;
};

/* The entry at this position of the submission ring. */
struct io_uring_sqe cap_uring_entry(const struct cap_uring *ring, unsigned position) CAP_HIDDEN;
/* The position behind the entries that io_uring_enter takes, of which it is to take `submit`. */
unsigned cap_uring_tail_of(const struct cap_uring *ring, unsigned submit) CAP_HIDDEN;
/* Before the call that submits: record entries up to `tail`. When it returns, others may have
 * collected the requests and released what they point to. */
struct cap_uring_batch cap_uring_before_submit(struct cap_thread *self, const struct cap_event *ev,
                                               struct cap_uring *ring, unsigned tail) CAP_HIDDEN;
/* After it: what the kernel did not take is recorded as refused, and comes again. */
void cap_uring_after_submit(struct cap_thread *self, const struct cap_event *ev,
                            const struct cap_uring_batch *batch, long result) CAP_HIDDEN;
/* Record the ends of requests that have arrived: now the program could know of them. */
void cap_uring_reap(struct cap_thread *self, struct cap_uring *ring) CAP_HIDDEN;

/* ---- io_uring_enter by function or number (uring_raw.c) ---------------------------------------
 */

/* `result` of the rest: as the kernel gives it, -errno on failure. */
struct cap_uring_batch cap_uring_before_enter(struct cap_thread *self, const struct cap_event *ev,
                                              unsigned fd, unsigned submit,
                                              unsigned flags) CAP_HIDDEN;
void cap_uring_after_enter(struct cap_thread *self, struct cap_event *ev,
                           const struct cap_uring_batch *batch, long result) CAP_HIDDEN;
void cap_uring_after_setup(struct cap_thread *self, struct cap_event *ev, unsigned entries,
                           const struct io_uring_params *params, long result) CAP_HIDDEN;

struct cap_uring_registration {
    unsigned fd;
    unsigned operation;
    const void *arg;
    unsigned count;
};
void cap_uring_after_register(struct cap_thread *self, struct cap_event *ev,
                              const struct cap_uring_registration *what, long result) CAP_HIDDEN;

#endif
