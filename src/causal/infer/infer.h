/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happens-before inference: from the events of a trace to edges, by what was recorded of MPI,
 * threads, processes, pipes, sockets, file locks, signals, and polls for files.
 *
 * Feed all events of a trace in the order of their begin (clocks of several hosts corrected), then
 * finish. Points are (thread, seq): a thread here is a thread of a process from its first to its
 * last process image, since a program that execs goes on counting.
 *
 * Edges by time alone (which release an acquire followed) need the order of events to be right;
 * edges by counting (messages, bytes of a pipe, collectives) do not.
 *
 * Pure: memory comes from the set of edges.
 */
#ifndef WIO_CAUSAL_INFER_INFER_H
#define WIO_CAUSAL_INFER_INFER_H

#include <whyio/event.h>

#include "causal/clock/clock.h"
#include "causal/core/edge.h"
#include "causal/match/match.h"

/* One stream of the trace. */
struct wio_infer_stream {
    uint32_t
        thread; /* of the edges: the number of its first stream; those behind exec have it too */
    uint32_t process; /* image */
    int32_t tid;
    uint64_t token; /* of pthread_create; 0 = none. Threads that follow each other may have one */
    uint64_t first_ns; /* of its first event; only compared with those of the same process */
    uint64_t first_seq;
    uint64_t events;
};

/* One process image. */
struct wio_infer_process {
    uint32_t host; /* a number from 0 on */
    int32_t pid;
    uint32_t parent; /* image that made it by fork, spawn or exec; UINT32_MAX = not known */
    uint64_t start_ns;
};

/* What is known of paths beside their text. */
struct wio_infer_names {
    /* The path (a string's id) without symbolic links: on the way to it, and with `follows` itself
     * too. */
    uint32_t (*real)(void *context, uint32_t string, bool follows);
    /* The file system that a real path is on, seen from the host: 0 where its names mean the same
     * on all hosts, else its number. May be NULL: they do everywhere. */
    uint32_t (*file_system)(void *context, uint32_t host, uint32_t string);
    /* The i-th string below a directory, and in *moved_out what it is if the directory is called
     * `to` (WIO_NO_STRING: that is no string of the trace). WIO_NO_STRING where there are no more.
     */
    uint32_t (*below)(void *context, uint32_t directory, uint32_t to, size_t i,
                      uint32_t *moved_out);
};

struct wio_infer_params {
    const struct wio_infer_stream *streams;
    uint32_t stream_count;
    const struct wio_infer_process *processes;
    uint32_t process_count;
    uint32_t string_count; /* ids of paths are below */
    /* Text of a path's id, NUL-terminated; and whether it is a FIFO that was there before all that
     * the trace tells of its name. */
    const char *(*text)(void *context, uint32_t string);
    bool (*is_fifo)(void *context, uint32_t string);
    /* The following may be NULL: there are no symbolic links, all hosts share all files, nothing is
     * known of directories that get other names. */
    const struct wio_infer_names *names;
    void *context;
};

/* What `object` of an edge stands for. */
enum wio_infer_kind {
    WIO_INFER_PIPE,
    WIO_INFER_SOCKET,
    WIO_INFER_EVENTFD,
    WIO_INFER_FLOCK,
    WIO_INFER_RECORD_LOCK, /* fcntl, lockf; up to here the id is a path */
    WIO_INFER_LOCK,        /* mutex, rwlock, spin lock */
    WIO_INFER_CONDITION,
    WIO_INFER_BARRIER,
    WIO_INFER_SEMAPHORE,
    WIO_INFER_FUTEX,
    WIO_INFER_COMMUNICATOR, /* or window, or file of MPI */
    WIO_INFER_WINDOW_LOCK,
    WIO_INFER_KIND_COUNT
};

struct wio_infer_object {
    enum wio_infer_kind kind;
    uint64_t id;    /* string of a path; address; id that all members agree on */
    uint32_t place; /* host, or process image of an address; 0 where the id is known everywhere */
};

struct wio_infer_wait {
    struct wio_wait_until until;
    uint32_t thread;
};

struct wio_infer;

/* Edges go into `edges`, whose threads are those of the streams; it, the parameters and what they
 * point to must outlive the inference. */
WIO_MUST_CHECK enum wio_status wio_infer_create(const struct wio_infer_params *params,
                                                struct wio_edges *edges,
                                                struct wio_infer **infer_out);
/* Accepts NULL. */
void wio_infer_destroy(struct wio_infer *infer);

/* Tell `watch` of messages between hosts, by the times of the events: for their clocks. To be
 * called before the first event. */
typedef enum wio_status wio_infer_watch_fn(void *context, const struct wio_clock_message *message);
void wio_infer_watch(struct wio_infer *infer, wio_infer_watch_fn *watch, void *context);

/* WIO_ERR_NOMEM: it may only be destroyed. */
WIO_MUST_CHECK enum wio_status wio_infer_event(struct wio_infer *infer,
                                               const struct wio_event *event);
/* All events were there. */
WIO_MUST_CHECK enum wio_status wio_infer_finish(struct wio_infer *infer);

/* After finish. Objects are numbered 1 .. count, as in the edges. */
uint32_t wio_infer_object_count(const struct wio_infer *infer);
struct wio_infer_object wio_infer_object(const struct wio_infer *infer, uint32_t object);
/* Waits for files, in the order of their end. */
size_t wio_infer_wait_count(const struct wio_infer *infer);
const struct wio_infer_wait *wio_infer_wait(const struct wio_infer *infer, size_t i);
struct wio_match_left wio_infer_left(const struct wio_infer *infer);
/* How many renames of directories came when the names below such were looked at too often: what is
 * below those seems to stay where it was. */
uint64_t wio_infer_unfollowed(const struct wio_infer *infer);
/* How many locked ranges of files were too many to be followed. */
uint64_t wio_infer_unkept_ranges(const struct wio_infer *infer);
/* How many members of collectives contradicted others and were left out; the first of them. */
uint64_t wio_infer_contradictions(const struct wio_infer *infer, struct wio_error *first_out);

#endif
