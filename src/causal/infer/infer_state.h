/* SPDX-License-Identifier: Apache-2.0 */
/* What the feed keeps while events come: each kind of waiting has its own part. */
#ifndef WIO_CAUSAL_INFER_INFER_STATE_H
#define WIO_CAUSAL_INFER_INFER_STATE_H

#include "base/memory.h"
#include "base/pair_map.h"
#include "causal/infer/infer.h"
#include "causal/match/ranges.h"

#define WIO_FEED_NONE WIO_NO_INDEX

/* A node of a list: something that happened and may be looked at later. */
struct wio_feed_node {
    uint64_t op;
    uint64_t begin_ns;
    uint64_t a; /* what it means is the list's business */
    uint64_t b;
    uint32_t thread;
    uint32_t image;
    uint32_t next;
    bool is_shared;
};

struct wio_feed_list {
    uint32_t first; /* WIO_FEED_NONE where it is empty */
    uint32_t last;
    uint32_t count;
};

/* What is known of one object while events come. */
struct wio_feed_state {
    struct wio_feed_object object;
    struct wio_feed_list list; /* closings of write ends; posts; signals; ranges that are locked */
    struct wio_feed_list more; /* writers that wait for a pipe to be read */
    struct wio_feed_list openings; /* of a FIFO: fifo.c; calls under way that take units */
    uint32_t opening; /* .. of which, and of receives of a message, so many are under way */
    struct wio_ranges *released; /* of record locks; NULL: none yet */
    /* of a semaphore: what is left of its first value; of a barrier without rounds: members */
    uint64_t count;
    uint64_t given; /* bytes written; units posted */
    uint64_t taken;
    uint32_t peer;      /* of a socket: object of the other end, 0 = not known */
    uint64_t forgotten; /* messages, older than those that are kept */
    uint32_t address;   /* .. of datagrams that is connected: the text of R-CHAN-3 */
    uint32_t giver;     /* thread; the first one */
    uint32_t taker;
    bool has_giver;
    bool has_taker;
    bool is_shared;    /* more than one giver or taker: any order is right */
    bool has_units;    /* a semaphore whose first value is known */
    bool is_semaphore; /* an eventfd whose reads take one */
    bool has_messages; /* a socket that keeps them apart */
    bool is_connected; /* or a stream: an address that is sent to is not looked at */
    bool is_shut;      /* what the other end reads has its end: closing adds nothing */
};

/* An open file description: what descriptors that are duplicates of each other share. */
struct wio_feed_file {
    uint32_t refs;
    uint64_t id;     /* name.h */
    uint32_t path;   /* .. and the name by which it was opened */
    uint32_t object; /* pipe, socket, eventfd; 0 = none */
    uint32_t flock;  /* object that it has locked; 0 = none */
    uint32_t ranges; /* object of which it has locked ranges (F_OFD_SETLK); 0 = none */
    uint32_t next_free;
    uint64_t signals;          /* of a signalfd: its mask */
    uint64_t timer_ns;         /* of a timerfd: when it goes off, WIO_FEED_NO_TIME = never, .. */
    struct wio_point timer_by; /* .. after which operation it was set */
    bool can_write;            /* an end that others wait for to be closed */
    bool is_opening;           /* of a FIFO: it is in the list `openings` */
    bool is_shared_lock;       /* LOCK_SH */
};

#define WIO_FEED_NO_TIME UINT64_MAX

/* A slot of a table of descriptors: 1 + file, the top bit says that exec closes it. */
#define WIO_FEED_CLOEXEC 0x80000000u

struct wio_feed_image {
    uint32_t *fds;
    size_t fd_room;
    uint64_t events_left;
    uint32_t successor;    /* image that exec made of it; WIO_FEED_NONE */
    uint32_t main_stream;  /* the thread that fork made; WIO_FEED_NONE: it has no event */
    uint32_t first_stream; /* all of its threads: next_stream goes on */
    uint32_t first_child; /* images whose parent it is, by start; some that are born are left out */
    uint32_t next_child;
    struct wio_feed_list ranges; /* files of which it has locked ranges: id in `a` */
    bool is_born;
};

/* An event that matters at its end. */
struct wio_feed_late {
    uint64_t end_ns;
    uint64_t order;
    uint32_t place; /* in late_events */
};

/* The kind of file that a path names; found when the path first occurs. */
enum wio_feed_path {
    WIO_FEED_PATH_NEW,
    WIO_FEED_PATH_OTHER,
    WIO_FEED_PATH_PIPE,
    WIO_FEED_PATH_FIFO, /* a name that some FIFO has had: what it stands for is asked each time */
    WIO_FEED_PATH_SOCKET,
    WIO_FEED_PATH_EVENTFD,
    WIO_FEED_PATH_SIGNALFD, /* no objects, from here on: all of them have one name, */
    WIO_FEED_PATH_TIMERFD,
    WIO_FEED_PATH_PROCESS /* or the number of their process in it */
};

/* A receive, send or collective of MPI that has not ended, or may not be matched yet. */
struct wio_feed_request {
    struct wio_message message;
    struct wio_collective_call call;
    uint32_t queue; /* of receives; WIO_FEED_NONE */
    uint32_t next;  /* in the queue, or free */
    uint8_t what;   /* enum wio_feed_request_kind */
    bool is_done;
};

struct wio_feed_rank {
    uint32_t rank;
    uint32_t size;
    bool is_inter; /* an intercommunicator */
};

struct wio_feed {
    struct wio_feed_params params;
    struct wio_edges *edges;
    struct wio_alloc alloc;
    struct wio_match *match;
    uint8_t *paths;  /* enum wio_feed_path, per string */
    uint64_t *names; /* per name: id of the file that has it, 0 = its first one */
    size_t name_room;
    uint32_t name_count;
    uint32_t named_anew;
    uint64_t below_count; /* names below renamed directories that were looked at */
    uint64_t unfollowed;  /* renames whose names below were too many: wio_feed_unfollowed */
    uint32_t *own_strings; /* of names behind the strings: those that other hosts do not see */
    size_t own_room;
    struct wio_pair_map name_of; /* (host, or own_system() of a file system, string) -> name */
    uint64_t *callers;           /* per thread: its last operation that no other one caused */
    uint64_t *latest; /* per thread, while one acquire is looked at: 1 + its latest release */
    uint32_t *latest_threads; /* that have one */

    struct wio_feed_state *objects; /* [0] is unused */
    size_t object_room;
    uint32_t object_count;         /* with [0] */
    uint32_t latest_count;         /* of latest_threads */
    struct wio_pair_map object_of; /* (kind and place, id) -> object */

    struct wio_feed_node *nodes;
    size_t node_room;
    uint32_t node_count;
    uint32_t node_free;

    struct wio_feed_late *late; /* a heap by (end_ns, order) */
    size_t late_room;
    size_t late_count;
    uint64_t late_order;
    struct wio_event *late_events;
    size_t late_event_room;
    uint32_t late_event_count;
    uint32_t *late_free;
    size_t late_free_room;
    size_t late_free_count;

    struct wio_feed_image *images;
    uint32_t *next_stream; /* per stream: the next of its image */
    uint32_t *same_token;  /* per stream: the next one of its image with its token */
    struct wio_feed_file *files;
    size_t file_room;
    uint32_t file_count;
    uint32_t file_free;
    struct wio_pair_map thread_of;  /* (image, token) -> first thread to come, then by same_token */
    struct wio_pair_map made_of;    /* (image, token) -> last thread made by a call */
    struct wio_pair_map image_of;   /* (host, pid) -> latest image that has begun */
    struct wio_pair_map bound_of;   /* (host, address or port) -> object of the socket */
    struct wio_pair_map closing_of; /* (object, thread) -> its closing, of objects that have many */
    struct wio_pair_map opening_of; /* (stream, seq) of a call that opens a FIFO -> object */
    struct wio_pair_map
        helper_of; /* (system's stream or popen's image, seq or descriptor) -> pid */

    wio_feed_watch_fn *watch; /* may be NULL */
    void *watch_context;
    uint64_t contradictions;
    struct wio_error contradiction; /* the first */

    struct wio_feed_wait *waits;
    size_t wait_room;
    size_t wait_count;

    struct wio_pair_map lists_of;   /* (connection, of some kinds with host; side) -> list */
    struct wio_pair_map signals_of; /* (host and pid, signal) -> list */
    struct wio_feed_list *lists;
    size_t list_room;
    uint32_t list_count;

    struct wio_pair_map rank_of; /* (image, communicator object) -> index of ranks */
    struct wio_feed_rank *ranks;
    size_t rank_room;
    uint32_t rank_count;
    struct wio_pair_map request_of; /* (image, key) -> request */
    struct wio_feed_request *requests;
    size_t request_room;
    uint32_t request_count;
    uint32_t request_free;
    struct wio_pair_map queue_of; /* (image, communicator object) -> queue */
    struct wio_feed_list *queues; /* receives in the order in which they were posted */
    size_t queue_room;
    uint32_t queue_count;
};

#endif
