/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables behind state.h:
 *
 *     images --fds--> opens --file--> files <--file-- nodes (names)
 *
 * Indices stay valid, pointers only until the next call that may add to their table.
 */
#ifndef WIO_STATE_STATE_INTERNAL_H
#define WIO_STATE_STATE_INTERNAL_H

#include "base/cleanup.h"
#include "base/pair_map.h"
#include "ops/calls.h"
#include "state/state.h"

/* In a slot of a descriptor table: beside the number of an open file + 1. */
#define STATE_CLOEXEC UINT32_C(0x80000000)

struct state_image {
    bool is_born;
    bool is_ended;
    uint32_t successor;   /* image that exec goes on in */
    uint32_t first_child; /* by the time of their begin */
    uint32_t next_child;
    uint64_t events_left;
    uint32_t *fds; /* 0 = closed */
    size_t fd_room;
};

/* An open file description: what open(2) gives, and dup and fork share. */
struct state_open {
    uint32_t file;
    uint32_t path; /* string id: the path of events by its descriptors */
    int32_t flags;
    uint32_t refs;
    uint32_t next_free;
};

struct state_file {
    uint32_t path;
    uint32_t names; /* how many mean it */
    enum wio_state_origin origin;
};

enum state_presence { STATE_NAME_UNKNOWN, STATE_NAME_PRESENT, STATE_NAME_ABSENT };

/* A name in a directory. */
struct state_node {
    uint32_t parent; /* of the root: itself */
    uint32_t name;   /* component */
    uint32_t file;   /* WIO_NO_INDEX until it is asked for */
    uint32_t target; /* string id of a symbolic link's text, 0 = no link */
    uint32_t children;
    uint8_t presence; /* enum state_presence */
};

/* A part of a path between slashes: in the text of some string. */
struct state_component {
    const char *text;
    uint32_t bytes;
};

/* What a path led to, valid for one epoch. */
struct state_seen {
    uint32_t node;
    uint32_t epoch;
};

struct state_names {
    struct wio_pair_map roots;      /* (file system, kind of root) -> node */
    struct wio_pair_map child_of;   /* (parent, component) -> node */
    struct wio_pair_map components; /* (hash, how many before had it) -> component */
    struct wio_pair_map seen_of;    /* (root and follows, string) -> seen */
    struct state_node *nodes;
    size_t node_room;
    uint32_t node_count;
    struct state_component *items;
    size_t item_room;
    uint32_t item_count;
    struct state_seen *seen;
    size_t seen_room;
    uint32_t seen_count;
    uint32_t epoch; /* counts changes that may lead other paths elsewhere */
};

struct state_files {
    struct state_file *items;
    size_t room;
    uint32_t count;
};

struct state_opens {
    struct state_open *items;
    size_t room;
    uint32_t count;
    uint32_t free; /* chain of unused ones */
};

struct wio_state {
    struct wio_state_params params;
    struct state_image *images;
    struct wio_pair_map pid_of;  /* (host, pid) -> image */
    struct wio_pair_map made_by; /* (stream, seq) -> image */
    struct state_names names;
    struct state_files files;
    struct state_opens opens;
    uint32_t ended; /* image whose last event was the one before; WIO_NO_INDEX = none */
};

static inline uint32_t state_process_of(const struct wio_state *state,
                                        const struct wio_event *event)
{
    return state->params.streams[event->stream].process;
}

/* enum wio_class; a number, since each file knows only some of them. */
static inline unsigned state_class(const struct wio_event *event)
{
    return (unsigned)wio_op_class(event->op);
}

/* files.c */
WIO_MUST_CHECK enum wio_status state_new_file(struct wio_state *state, uint32_t path,
                                              enum wio_state_origin origin, uint32_t *file_out);

/* processes.c: images and the calls that make them. */
WIO_MUST_CHECK enum wio_status state_processes_init(struct wio_state *state);
void state_processes_fini(struct wio_state *state);
WIO_MUST_CHECK enum wio_status state_process_event(struct wio_state *state,
                                                   const struct wio_event *event);
/* Every event, after all else: is it the last one of its image? */
void state_count_event(struct wio_state *state, const struct wio_event *event);
/* Before the next event: an image that has ended has no descriptors. */
void state_close_ended(struct wio_state *state);

/* fds.c: descriptor tables. */
void state_fds_fini(struct wio_state *state);
/* The open file behind a descriptor; WIO_NO_INDEX where it is closed. */
uint32_t state_open_of(const struct wio_state *state, uint32_t process, int64_t fd,
                       bool *is_cloexec_out);
/* `child` begins with the descriptors of `parent`; `is_exec`: without those that exec closes. */
WIO_MUST_CHECK enum wio_status state_inherit(struct wio_state *state, uint32_t parent,
                                             uint32_t child, bool is_exec);
void state_close_all(struct wio_state *state, uint32_t process);
void state_close_fd(struct wio_state *state, uint32_t process, int64_t fd);
/* `fd` of the process is this open file from now on; what was behind it is closed. */
WIO_MUST_CHECK enum wio_status state_set_fd(struct wio_state *state, uint32_t process, int64_t fd,
                                            uint32_t open, bool is_cloexec);
/* The same with a new one. */
WIO_MUST_CHECK enum wio_status state_open_fd(struct wio_state *state, uint32_t process, int64_t fd,
                                             const struct state_open *open, bool is_cloexec);
void state_mark_cloexec(struct wio_state *state, uint32_t process, int64_t fd, bool is_cloexec);

/* fd_events.c: what an event does to descriptors. */
WIO_MUST_CHECK enum wio_status state_fd_event(struct wio_state *state,
                                              const struct wio_event *event);

/* names.c: finding names. */
void state_names_init(struct wio_state *state);
void state_names_fini(struct wio_state *state);
/* The node of a path; WIO_NO_INDEX for none (no path, a ring of links). */
WIO_MUST_CHECK enum wio_status state_find_name(struct wio_state *state, uint32_t host,
                                               uint32_t path, bool follows, uint32_t *node_out);
/* The file that the node means; a new one where nothing was known. `path`: its first. */
WIO_MUST_CHECK enum wio_status state_file_at(struct wio_state *state, uint32_t node, uint32_t path,
                                             uint32_t *file_out);
/* The node's name is free in its directory, and another node may have it. */
void state_detach(struct wio_state *state, uint32_t node);
WIO_MUST_CHECK enum wio_status state_attach(struct wio_state *state, uint32_t node, uint32_t parent,
                                            uint32_t name);

/* name_events.c: what an event does to names. */
WIO_MUST_CHECK enum wio_status state_name_event(struct wio_state *state,
                                                const struct wio_event *event);

#endif
