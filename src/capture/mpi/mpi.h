/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture of MPI, without mpi.h: one library for every MPI. Handles are opaque words; what differs
 * between the two families of libraries is one table (mpi_abi.c).
 *
 * A generated wrapper (scripts/gen_mpi.py; MPI_x, PMPI_x and MPI_x_c have the same shape):
 *
 *     struct cap_mpi m;
 *     if (!cap_mpi_enter(&m, WIO_CALL_MPI_Bcast, source, false)) {
 *         return call(buf, count, type, root, comm);
 *     }
 *     cap_mpi_before_coll(&m, comm);
 *     cap_mpi_begin(&m, CAP_STATE_IN_MPI);
 *     cap_mpi_end(&m, call(buf, count, type, root, comm));
 *     m.ev.size = ...;
 *     cap_mpi_after_coll(&m, root, NULL);
 *     return cap_mpi_leave(&m);
 *
 * MPI may not be called from signal handlers, so that the tables behind this need only a lock of
 * our own against other threads. Wrappers inside wrappers pass through: Open MPI's Fortran calls
 * PMPI_x, MPICH's MPI_x, and ROMIO both.
 */
#ifndef WIO_CAPTURE_MPI_MPI_H
#define WIO_CAPTURE_MPI_MPI_H

#include "capture/core/capture.h"
#include "capture/mpi/mpi_judge.h"
#include "capture/throttle/hold.h"

typedef intptr_t cap_mpi_word; /* a handle: of MPICH the low 32 bits count */

/* What a family of libraries has in its mpi.h. */
struct cap_mpi_abi {
    uint8_t handle_bytes;
    uint8_t status_bytes;
    uint8_t source_at; /* in a status */
    uint8_t tag_at;
    uint8_t error_at;
    int any_source;
    int proc_null;
    int root; /* of an intercommunicator's collective: this process */
    int any_tag;
    int error_truncate;
    int error_in_status;
    int lock_shared;
    int topology_graph;
    int topology_cart;
    int topology_distributed;
    void *status_ignore;
    void *in_place;
    cap_mpi_word comm_world;
    cap_mpi_word comm_self;
    cap_mpi_word comm_null;
    cap_mpi_word request_null;
    cap_mpi_word request_empty; /* Open MPI: of sends that were over at once */
};
extern struct cap_mpi_abi cap_mpi_abi CAP_HIDDEN;

/* Functions of the library that we call ourselves: none of them communicates. */
struct cap_mpi_functions {
    int (*Comm_rank)(cap_mpi_word comm, int *rank);
    int (*Comm_size)(cap_mpi_word comm, int *size);
    int (*Comm_remote_size)(cap_mpi_word comm, int *size);
    int (*Comm_test_inter)(cap_mpi_word comm, int *flag);
    int (*Comm_group)(cap_mpi_word comm, void *group);
    int (*Comm_remote_group)(cap_mpi_word comm, void *group);
    int (*Win_get_group)(cap_mpi_word win, void *group);
    int (*Group_size)(cap_mpi_word group, int *size);
    int (*Group_free)(void *group);
    int (*Group_translate_ranks)(cap_mpi_word from, int count, const int *ranks, cap_mpi_word to,
                                 int *out);
    int (*Type_size)(cap_mpi_word type, int *size);
    int (*Error_class)(int code, int *class_out);
    int (*Topo_test)(cap_mpi_word comm, int *topology);
    int (*Cartdim_get)(cap_mpi_word comm, int *dimensions);
    int (*Cart_shift)(cap_mpi_word comm, int dimension, int distance, int *from, int *to);
    int (*Graph_neighbors_count)(cap_mpi_word comm, int rank, int *count);
    int (*Graph_neighbors)(cap_mpi_word comm, int rank, int most, int *out);
    int (*Dist_graph_neighbors_count)(cap_mpi_word comm, int *in, int *out, int *is_weighted);
    int (*Dist_graph_neighbors)(cap_mpi_word comm, int most_in, int *in, int *in_weights,
                                int most_out, int *out, int *out_weights);
};
extern struct cap_mpi_functions cap_mpi_fn CAP_HIDDEN;

/* Fill both tables, once; false where no MPI library is loaded. */
bool cap_mpi_configure(void) CAP_HIDDEN;
/* Before or inside an MPI library's own: is PMPI_x there? NULL where not. */
void *cap_mpi_symbol(const char *name) CAP_HIDDEN;
/* Fills *place; where there is no such function, one that fails. */
cap_function *cap_mpi_find_real(cap_function **place, const char *name) CAP_HIDDEN;
/* The function behind a generated symbol. */
cap_function *cap_mpi_real(unsigned symbol) CAP_HIDDEN;
/* Ranks of one MPI job agree on this number, those of two jobs do not. */
uint64_t cap_mpi_job(void) CAP_HIDDEN;

/* The handle that a variable of the program holds. */
static inline cap_mpi_word cap_mpi_load(const void *place)
{
    return cap_mpi_abi.handle_bytes == 4 ? (cap_mpi_word) * (const uint32_t *)place
                                         : *(const cap_mpi_word *)place;
}

/* A handle that was passed by value: its high half may be anything where handles are ints. */
static inline cap_mpi_word cap_mpi_word_of(cap_mpi_word given)
{
    return cap_mpi_abi.handle_bytes == 4 ? (cap_mpi_word)(uint32_t)given : given;
}

enum cap_mpi_kind { CAP_MPI_COMM = 1, CAP_MPI_WIN, CAP_MPI_FILE };

/* Ranks of a group, for the synchronisation of windows. */
struct cap_mpi_group {
    int *ranks; /* of the window; mapped memory, NULL = none */
    uint32_t count;
    uint32_t bytes; /* of the mapping */
};

enum { CAP_MPI_POST, CAP_MPI_START, CAP_MPI_GROUPS };

/* What is known of one of them (mpi_object.h). */
struct cap_mpi_object {
    uint64_t name;        /* atomic: kind and handle; 0 = free for ever, 1 = free again */
    uint64_t id;          /* 0 = the other members cannot know it: not recorded */
    uint64_t collectives; /* atomic: begun so far */
    uint64_t neighbors;   /* atomic: collectives among neighbours begun so far */
    int32_t rank;         /* numbered through in an intercommunicator, see FORMAT.md R-MPI-1 */
    int32_t size;
    int32_t local_base; /* number of rank 0 of the own group .. */
    int32_t peer_base;  /* .. and of the group that messages go to */
    int32_t local_size;
    int32_t peers; /* ranks that messages go to */
    uint32_t path; /* of a file */
    bool is_inter;
    uint64_t split_key; /* of a file's collective that has begun and not ended */
    struct cap_mpi_group groups[CAP_MPI_GROUPS];
};

/* ---- one call ----------------------------------------------------------------------------- */

struct cap_mpi {
    struct cap_thread *self;
    struct cap_mpi_object *object; /* what the call is about, where a hook before it looked */
    struct cap_event ev;
    struct cap_ext ext;
    uint64_t seq;               /* of the collective */
    uint64_t status[4];         /* ours, where the program wants none */
    struct cap_mpi_object last; /* of a handle that goes away */
    cap_mpi_word forgotten;
    int result;
};

/* False: pass the call through (not recorded, or inside another MPI call). `is_file`: system calls
 * below it are the program's I/O. */
bool cap_mpi_enter(struct cap_mpi *m, unsigned call, uintptr_t source, bool is_file) CAP_HIDDEN;

/* The same also where synchronisation is not recorded. */
bool cap_mpi_enter_always(struct cap_mpi *m, unsigned call, uintptr_t source) CAP_HIDDEN;

/* The thread's last record is from before a failed poll (cap_mpi_look). */
static inline bool cap_mpi_is_looking(const struct cap_thread *self)
{
    return self->mpi.looks != 0 && self->mpi.look_word == self->word;
}

/* Failed polls leave no records: their processor time is asked for when they end. */
static inline void cap_mpi_begin(struct cap_mpi *m, enum cap_state state)
{
    cap_state_enter(m->self, state);
    m->ev.begin = cap_mpi_is_looking(m->self) ? cap_now() : cap_begin(m->self);
}

static inline void cap_mpi_end(struct cap_mpi *m, int result)
{
    m->ev.end = cap_now();
    m->result = result;
    cap_state_leave(m->self);
}

/* Returns the call's result. The caller's range is the first one again, unless it was reset: its
 * next call is on the fast path. */
static inline int cap_mpi_leave(struct cap_mpi *m)
{
    struct cap_thread *self = m->self;
    self->callers.outer_frame = 0;
    self->flags &= (uint8_t)~CAP_MPI_FLAGS;
    uintptr_t span = self->callers.span2;
    if (self->span == 0 && span != 0) {
        self->lo = self->callers.lo2;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        self->callers.span2 = 0;
        self->span = span;
    }
    return m->result;
}

/* The event of the call itself; sets error and result where it failed. */
void cap_mpi_emit(struct cap_mpi *m) CAP_HIDDEN;
/* What the call did: an event of `call` with the times of the call, flag CAUSED. */
void cap_mpi_emit_caused(struct cap_mpi *m, unsigned call, uint64_t size, int64_t result,
                         const int64_t arg[4]) CAP_HIDDEN;
/* The class of the error that the call returned. */
int cap_mpi_error_class(int code) CAP_HIDDEN;

/* A status to give to the library: the program's, or ours where it wants none. */
static inline void *cap_mpi_status(struct cap_mpi *m, void *status)
{
    return status != cap_mpi_abi.status_ignore ? status : m->status;
}

static inline int cap_mpi_status_int(const void *status, unsigned at)
{
    return *(const int *)(const void *)((const char *)status + at);
}

/* Bytes that a completed receive or file operation got. */
uint64_t cap_mpi_status_bytes(const void *status) CAP_HIDDEN;
bool cap_mpi_status_cancelled(const void *status) CAP_HIDDEN;

/* A failed poll of `requests` requests: no event, but counted in that of the next poll that
 * succeeds. It is an event only where the library has made system calls inside that are recorded,
 * as their cause. */
void cap_mpi_look(struct cap_mpi *m, int requests) CAP_HIDDEN;
/* This poll succeeded: begin and arg3 of the event tell of the failed ones before it. */
void cap_mpi_looks_end(struct cap_mpi *m) CAP_HIDDEN;

#endif
