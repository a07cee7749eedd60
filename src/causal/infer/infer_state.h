/* SPDX-License-Identifier: Apache-2.0 */
/* What the inference keeps while events come: each mechanism of waiting has its own part. */
#ifndef WIO_CAUSAL_INFER_INFER_STATE_H
#define WIO_CAUSAL_INFER_INFER_STATE_H

#include "base/memory.h"
#include "base/pair_map.h"
#include "causal/infer/files_state.h"
#include "causal/infer/infer.h"
#include "causal/infer/list.h"
#include "causal/infer/threads_state.h"
#include "causal/match/ranges.h"

/* What all objects have; what a kind has besides is the part `part` of that kind. */
struct wio_infer_state {
    struct wio_infer_object object;
    uint32_t part;
    uint32_t giver; /* thread; the first one */
    uint32_t taker;
    bool has_giver;
    bool has_taker;
    bool is_shared; /* more than one giver or taker: any order is right */
};

/* The parts of a kind: struct wio_infer_pipe and so on. Lists stand first in each of them. */
struct wio_infer_parts {
    unsigned char *items;
    size_t room;
    uint32_t count;
};

/* object.c */
struct wio_infer_objects {
    struct wio_infer_state *items; /* [0] is unused */
    size_t room;
    uint32_t count;         /* with [0] */
    struct wio_pair_map of; /* (kind and place, id) -> object */
    struct wio_infer_parts parts[WIO_INFER_KIND_COUNT];
};

/* An event that matters at its end. */
struct wio_infer_late {
    uint64_t end_ns;
    uint64_t order;
    uint32_t place; /* in late_events */
};

/* pending_ends.c */
struct wio_infer_pending {
    struct wio_infer_late *heap; /* by (end_ns, order) */
    size_t room;
    size_t count;
    uint64_t order;
    struct wio_event *events;
    size_t event_room;
    uint32_t event_count;
    uint32_t *free; /* places in events */
    size_t free_room;
    size_t free_count;
};

/* The kind of file that a path names; found when the path first occurs. */
enum wio_infer_path {
    WIO_INFER_PATH_NEW,
    WIO_INFER_PATH_OTHER,
    WIO_INFER_PATH_PIPE,
    WIO_INFER_PATH_FIFO, /* a name that some FIFO has had: what it stands for is asked each time */
    WIO_INFER_PATH_SOCKET,
    WIO_INFER_PATH_EVENTFD,
    WIO_INFER_PATH_SIGNALFD, /* no objects, from here on: all of them have one name, */
    WIO_INFER_PATH_TIMERFD,
    WIO_INFER_PATH_PROCESS /* or the number of their process in it */
};

/* name.c */
struct wio_infer_name_table {
    uint8_t *kinds; /* enum wio_infer_path, per string */
    uint64_t *ids;  /* per name: id of the file that has it, 0 = its first one */
    size_t room;
    uint32_t count;
    uint32_t anew;         /* files that are not the first of their name */
    uint64_t below;        /* names below renamed directories that were looked at */
    uint64_t unfollowed;   /* renames whose names below were too many: wio_infer_unfollowed */
    uint32_t *own_strings; /* of names behind the strings: those that other hosts do not see */
    size_t own_room;
    struct wio_pair_map of; /* (host, or own_system() of a file system, string) -> name */
};

/* Members of collectives that contradict others. */
struct wio_infer_contradictions {
    uint64_t count;
    struct wio_error first;
};

struct wio_infer_watcher {
    wio_infer_watch_fn *tell; /* may be NULL */
    void *context;
};

struct wio_infer {
    struct wio_infer_params params;
    struct wio_edges *edges;
    struct wio_alloc alloc;
    struct wio_match *match;
    uint64_t *callers; /* per thread: its last operation that no other one caused */
    struct wio_infer_watcher watch;
    unsigned begun; /* of the mechanisms below */
    struct wio_infer_lists lists;
    struct wio_infer_objects objects;
    struct wio_infer_pending pending;
    struct wio_infer_name_table names;
    struct wio_infer_files files;
    struct wio_infer_pipes pipes;
    struct wio_infer_sockets sockets;
    struct wio_infer_ranges ranges;
    struct wio_infer_waits waits;
    struct wio_infer_processes processes;
    struct wio_infer_signals signals;
    struct wio_infer_mpi mpi;
    struct wio_infer_contradictions contradictions;
};

#endif
