/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process tree of a trace: processes and threads, with the operations that made them.
 *
 * A *group* is a process: its images, one after the other as exec replaced them. A group is started
 * by an operation (fork, posix_spawn, system, popen ..) of another one, or it is a root.
 */
#ifndef WIO_REPLAY_INITIAL_PROCESS_TREE_H
#define WIO_REPLAY_INITIAL_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/trace.h>

#include "base/map.h"

#ifndef RP_NONE
#define RP_NONE UINT32_MAX
#endif

/* Kinds of system calls that the capture of an image shows where stdio makes them. */
enum rp_caused { RP_CAUSED_OPEN = 1, RP_CAUSED_CLOSE = 2, RP_CAUSED_WRITE = 4 };

struct rp_image {
    uint32_t group;
    uint32_t next;        /* image that exec made of it, RP_NONE */
    uint32_t main_stream; /* RP_NONE: its first thread did nothing that was recorded */
    uint32_t streams;     /* first of its streams, chained by rp_stream.next */
    uint32_t stream_count;
    uint64_t last_ns; /* end of its last event */
    uint8_t caused;   /* enum rp_caused: what its stdio calls are known to have caused */
};

struct rp_stream {
    uint32_t image;
    uint32_t next;
    uint32_t same_token; /* another stream whose thread had the same token, RP_NONE */
    bool is_created;     /* by a pthread_create that was recorded */
    bool is_in_mpi;      /* its last event that no call has caused is a call of MPI */
};

struct rp_group {
    uint32_t head;     /* first image */
    uint32_t sibling;  /* another group started by the same operation */
    uint32_t same_pid; /* another group with this pid */
    bool is_root;
    bool is_remote; /* started by one that another rank plays: a root there (placement.h) */
    uint64_t start_ns;
    uint64_t last_ns; /* end of the last event of its last image */
};

/* An operation that makes processes. */
struct rp_birth {
    uint32_t image;
    uint32_t stream;
    uint64_t seq;
    uint64_t t_ns;
};

struct rp_family {
    const struct wio_trace *trace;
    struct rp_image *images;
    uint32_t image_count;
    struct rp_stream *streams;
    uint32_t stream_count;
    struct rp_group *groups;
    uint32_t group_count;
    struct wio_map by_birth; /* (stream, seq) -> group */
    struct wio_map by_pid;   /* pid -> group */
    struct wio_map by_token; /* of a thread -> stream, chained by rp_stream.same_token */
    struct rp_birth *births; /* until _finish */
    uint32_t birth_count;
    uint32_t birth_capacity;
};

/* Zero-initialise first. Reads the tables of processes and streams. */
WIO_MUST_CHECK enum wio_status rp_family_init(struct rp_family *family,
                                              const struct wio_trace *trace);
void rp_family_fini(struct rp_family *family);

/* Each event in order of time. */
WIO_MUST_CHECK enum wio_status rp_family_see(struct rp_family *family,
                                             const struct wio_event *event);
/* After the last: what was not tied to an operation is a root. */
WIO_MUST_CHECK enum wio_status rp_family_finish(struct rp_family *family);

/* True for operations that may make a process. Pure. */
bool rp_family_is_birth(const struct wio_event *event);

/* First group that the operation starts, RP_NONE; go on by its sibling. */
uint32_t rp_family_born(const struct rp_family *family, uint32_t stream, uint64_t seq);

/* The process `pid` on the host of `image` that had ended before `end_ns`: the one that a wait
 * which returned then has waited for; RP_NONE. */
uint32_t rp_family_ended(const struct rp_family *family, uint32_t image, int64_t pid,
                         uint64_t end_ns);

#endif
