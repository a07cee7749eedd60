/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the feed share: one file per kind of waiting, each with its own state. */
#ifndef WIO_CAUSAL_FEED_INTERNAL_H
#define WIO_CAUSAL_FEED_INTERNAL_H

#include "base/cleanup.h"
#include "causal/feed.h"
#include "causal/live.h"
#include "causal/memory.h"
#include "causal/ranges.h"
#include "trace/calls.h"

#define WIO_FEED_NONE WIO_CAUSAL_NONE

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
    struct wio_feed_list openings; /* of a FIFO: feed_fifo.c; calls under way that take units */
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
    uint64_t id;     /* feed_name.h */
    uint32_t path;   /* .. and the name by which it was opened */
    uint32_t object; /* pipe, socket, eventfd; 0 = none */
    uint32_t flock;  /* object that it has locked; 0 = none */
    uint32_t ranges; /* object of which it has locked ranges (F_OFD_SETLK); 0 = none */
    uint32_t next_free;
    uint64_t signals;    /* of a signalfd: its mask */
    bool can_write;      /* an end that others wait for to be closed */
    bool is_opening;     /* of a FIFO: it is in the list `openings` */
    bool is_shared_lock; /* LOCK_SH */
};

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

/* What a path is to us; found when it is first met. */
enum wio_feed_path {
    WIO_FEED_PATH_NEW,
    WIO_FEED_PATH_OTHER,
    WIO_FEED_PATH_PIPE,
    WIO_FEED_PATH_FIFO, /* a name that some FIFO has had: what it stands for is asked each time */
    WIO_FEED_PATH_SOCKET,
    WIO_FEED_PATH_EVENTFD,
    WIO_FEED_PATH_SIGNALFD /* no object: all of them have one name */
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
    uint64_t *names; /* per string: id of the file that has this name, 0 = its first one */
    uint32_t named_anew;
    uint64_t *callers; /* per thread: its last operation that no other one caused */
    uint64_t *latest;  /* per thread, while one acquire is looked at: 1 + its latest release */
    uint32_t *latest_threads; /* that have one */
    uint32_t latest_count;

    struct wio_feed_state *objects; /* [0] is unused */
    size_t object_room;
    uint32_t object_count;     /* with [0] */
    struct wio_live object_of; /* (kind and place, id) -> object */

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
    struct wio_live thread_of;  /* (image, token) -> first thread to come, then by same_token */
    struct wio_live made_of;    /* (image, token) -> last thread made by a call */
    struct wio_live image_of;   /* (host, pid) -> latest image that has begun */
    struct wio_live bound_of;   /* (host, address or port) -> object of the socket */
    struct wio_live opening_of; /* (stream, seq) of a call that opens a FIFO -> object */
    struct wio_live helper_of;  /* (system's stream or popen's image, seq or descriptor) -> pid */

    wio_feed_watch_fn *watch; /* may be NULL */
    void *watch_context;
    uint64_t contradictions;
    struct wio_error contradiction; /* the first */

    struct wio_feed_wait *waits;
    size_t wait_room;
    size_t wait_count;

    struct wio_live lists_of;   /* (connection, side) -> list */
    struct wio_live signals_of; /* (host and pid, signal) -> list */
    struct wio_feed_list *lists;
    size_t list_room;
    uint32_t list_count;

    struct wio_live rank_of; /* (image, communicator object) -> index of ranks */
    struct wio_feed_rank *ranks;
    size_t rank_room;
    uint32_t rank_count;
    struct wio_live request_of; /* (image, key) -> request */
    struct wio_feed_request *requests;
    size_t request_room;
    uint32_t request_count;
    uint32_t request_free;
    struct wio_live queue_of;     /* (image, communicator object) -> queue */
    struct wio_feed_list *queues; /* receives in the order in which they were posted */
    size_t queue_room;
    uint32_t queue_count;
};

static inline const struct wio_feed_stream *wio_feed_stream(const struct wio_feed *feed,
                                                            const struct wio_event *event)
{
    return &feed->params.streams[event->stream];
}

/* enum wio_class; a number, since each file knows only some of them. */
static inline unsigned wio_feed_class(const struct wio_event *event)
{
    return (unsigned)wio_op_class(event->op);
}

static inline struct wio_point wio_feed_point(const struct wio_feed *feed,
                                              const struct wio_event *event)
{
    return (struct wio_point){event->seq, feed->params.streams[event->stream].thread};
}

static inline uint32_t wio_feed_host(const struct wio_feed *feed, const struct wio_event *event)
{
    return feed->params.processes[wio_feed_stream(feed, event)->process].host;
}

static inline uint64_t wio_feed_end_ns(const struct wio_event *event)
{
    return event->t_ns + event->dur_ns;
}

/* From where the event releases others: itself, or the call around it that caused it (stdio that
 * writes, MPI_Sendrecv that sends) and is not done either. */
static inline struct wio_point wio_feed_release_point(const struct wio_feed *feed,
                                                      const struct wio_event *event)
{
    struct wio_point point = wio_feed_point(feed, event);
    if ((event->flags & WIO_EVENT_CAUSED) != 0) {
        point.op = feed->callers[point.thread];
    }
    return point;
}

/* feed_list.c */
extern const struct wio_feed_list wio_feed_empty;
WIO_MUST_CHECK enum wio_status wio_feed_append(struct wio_feed *feed, struct wio_feed_list *list,
                                               const struct wio_feed_node *node);
/* WIO_FEED_NONE: as the first one. */
WIO_MUST_CHECK enum wio_status wio_feed_insert_behind(struct wio_feed *feed,
                                                      struct wio_feed_list *list, uint32_t before,
                                                      const struct wio_feed_node *node);
void wio_feed_drop_first(struct wio_feed *feed, struct wio_feed_list *list);
/* An empty list among feed->lists. */
WIO_MUST_CHECK enum wio_status wio_feed_new_list(struct wio_feed *feed, uint32_t *list_out);
/* Remove the node behind `before` (WIO_FEED_NONE: the first). */
void wio_feed_drop_behind(struct wio_feed *feed, struct wio_feed_list *list, uint32_t before);
struct wio_feed_node wio_feed_node_of(const struct wio_feed *feed, const struct wio_event *event);

/* An edge to the operation `to`, out of the releasing call `from` itself or out of the operation
 * before it. Nothing within a thread. */
WIO_MUST_CHECK enum wio_status wio_feed_edge(struct wio_feed *feed, struct wio_edge edge);
WIO_MUST_CHECK enum wio_status wio_feed_edge_from_before(struct wio_feed *feed,
                                                         struct wio_edge edge);
/* The operation of `event` goes on because of `from`, by an object of threads. */
WIO_MUST_CHECK enum wio_status wio_feed_after(struct wio_feed *feed, const struct wio_event *event,
                                              const struct wio_feed_node *from, uint32_t object);

/* A member of a collective. Members that contradict each other are counted and left out. */
WIO_MUST_CHECK enum wio_status wio_feed_collective(struct wio_feed *feed,
                                                   const struct wio_collective_call *call);

/* feed_object.c: the object of that kind and name; a new one in its place. */
WIO_MUST_CHECK enum wio_status
wio_feed_find_object(struct wio_feed *feed, struct wio_feed_object object, uint32_t *number_out);
WIO_MUST_CHECK enum wio_status
wio_feed_new_object(struct wio_feed *feed, struct wio_feed_object object, uint32_t *number_out);
/* What has this name from here on is another object. */
void wio_feed_forget_object(struct wio_feed *feed, struct wio_feed_object object);
/* The name of an address or shared id in `arg` (R-SYNC-1), and the object that has it. */
struct wio_feed_object wio_feed_memory_name(const struct wio_feed *feed,
                                            const struct wio_event *event, enum wio_feed_kind kind,
                                            int64_t id);
WIO_MUST_CHECK enum wio_status wio_feed_memory_object(struct wio_feed *feed,
                                                      const struct wio_event *event,
                                                      enum wio_feed_kind kind, int64_t id,
                                                      uint32_t *number_out);
enum wio_feed_path wio_feed_path_kind(struct wio_feed *feed, uint32_t string);
/* The pipe, socket or eventfd that a path names on the event's host; 0 where it is none. */
WIO_MUST_CHECK enum wio_status wio_feed_channel(struct wio_feed *feed,
                                                const struct wio_event *event, uint32_t path,
                                                uint32_t *object_out);
/* The same behind a descriptor, whose path this was when it was opened. */
WIO_MUST_CHECK enum wio_status wio_feed_channel_behind(struct wio_feed *feed,
                                                       const struct wio_event *event, int32_t fd,
                                                       uint32_t path, uint32_t *object_out);
/* FLOCK or RECORD_LOCK of the event's file. */
WIO_MUST_CHECK enum wio_status wio_feed_lock_object(struct wio_feed *feed,
                                                    const struct wio_event *event,
                                                    enum wio_feed_kind kind, uint32_t *object_out);
/* Somebody gives to, or takes from, the object: notes whether they are several. */
void wio_feed_note_giver(struct wio_feed_state *state, uint32_t thread);
void wio_feed_note_taker(struct wio_feed_state *state, uint32_t thread);

/* feed_files.c: descriptors. At the begin of CLOSE, DUP, FCNTL, OPEN and CHANNEL events. */
WIO_MUST_CHECK enum wio_status wio_feed_descriptors(struct wio_feed *feed,
                                                    const struct wio_event *event);
/* The file behind a descriptor of the event's image; made where it is not known. */
WIO_MUST_CHECK enum wio_status wio_feed_file(struct wio_feed *feed, const struct wio_event *event,
                                             int32_t fd, uint32_t *file_out);
/* `child` begins with the descriptors of `parent`; `is_exec`: without those that exec closes. */
WIO_MUST_CHECK enum wio_status wio_feed_inherit(struct wio_feed *feed, uint32_t parent,
                                                uint32_t child, bool is_exec);
bool wio_feed_closes_on_exec(const struct wio_feed *feed, uint32_t image, int64_t fd);
/* The image ends with this event: all its descriptors are closed. */
WIO_MUST_CHECK enum wio_status wio_feed_close_all(struct wio_feed *feed, uint32_t image,
                                                  const struct wio_event *event);

/* feed_channel.c */
WIO_MUST_CHECK enum wio_status wio_feed_channel_begin(struct wio_feed *feed,
                                                      const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_channel_end(struct wio_feed *feed,
                                                    const struct wio_event *event);
/* Through this descriptor, which has this path. */
WIO_MUST_CHECK enum wio_status wio_feed_write(struct wio_feed *feed, const struct wio_event *event,
                                              int32_t fd, uint32_t path);
WIO_MUST_CHECK enum wio_status wio_feed_read(struct wio_feed *feed, const struct wio_event *event,
                                             int32_t fd, uint32_t path);

/* feed_message.c: sockets that keep messages apart. A socket of this type; is this text the address
 * of one; one that is bound, or connected, to an address; what is written to it and read from it.
 */
bool wio_feed_is_datagram(const struct wio_feed *feed, uint32_t string);
void wio_feed_message_make(struct wio_feed *feed, uint32_t object, int64_t type);
WIO_MUST_CHECK enum wio_status wio_feed_message_bind(struct wio_feed *feed,
                                                     const struct wio_event *event);
WIO_MUST_CHECK enum wio_status
wio_feed_message_write(struct wio_feed *feed, const struct wio_event *event, uint32_t object);
/* A read found none: those that were sent before it have been lost. */
WIO_MUST_CHECK enum wio_status
wio_feed_message_none(struct wio_feed *feed, const struct wio_event *event, uint32_t object);
WIO_MUST_CHECK enum wio_status wio_feed_message_read(struct wio_feed *feed,
                                                     const struct wio_event *event, uint32_t object,
                                                     bool stays);

/* feed_lock.c: flock; the others are passed on. */
WIO_MUST_CHECK enum wio_status wio_feed_lock_begin(struct wio_feed *feed,
                                                   const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_lock_end(struct wio_feed *feed,
                                                 const struct wio_event *event);
/* The last descriptor of the file is closed by this event: the locks that it has are free. */
WIO_MUST_CHECK enum wio_status wio_feed_unlock_file(struct wio_feed *feed, uint32_t file,
                                                    const struct wio_event *event);
/* feed_range.c: locks of fcntl and lockf. */
WIO_MUST_CHECK enum wio_status wio_feed_range_begin(struct wio_feed *feed,
                                                    const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_range_end(struct wio_feed *feed,
                                                  const struct wio_event *event);
/* A descriptor of this file is closed, or the image ends (WIO_FEED_ALL_FILES): its ranges are free.
 */
#define WIO_FEED_ALL_FILES UINT64_MAX
WIO_MUST_CHECK enum wio_status wio_feed_unlock_ranges(struct wio_feed *feed,
                                                      const struct wio_event *event, uint64_t file);
/* The open file is closed: the ranges that it has itself are free. */
WIO_MUST_CHECK enum wio_status wio_feed_unlock_file_ranges(struct wio_feed *feed, uint32_t file,
                                                           const struct wio_event *event);
/* exec: the image `next` goes on with the ranges, but for files that exec closes. */
WIO_MUST_CHECK enum wio_status wio_feed_pass_ranges(struct wio_feed *feed,
                                                    const struct wio_event *event, uint32_t next);

/* feed_look.c: waiting for a file to be there. */
WIO_MUST_CHECK enum wio_status wio_feed_look_begin(struct wio_feed *feed,
                                                   const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_look_end(struct wio_feed *feed,
                                                 const struct wio_event *event);

/* feed_process.c: fork, exec, wait, threads. */
WIO_MUST_CHECK enum wio_status wio_feed_processes_init(struct wio_feed *feed);
void wio_feed_processes_fini(struct wio_feed *feed);
WIO_MUST_CHECK enum wio_status wio_feed_process_begin(struct wio_feed *feed,
                                                      const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_process_end(struct wio_feed *feed,
                                                    const struct wio_event *event);
/* The earliest child of this image that is not born yet; the next one; the one with that pid.
 * WIO_FEED_NONE where there is none. */
uint32_t wio_feed_first_unborn(struct wio_feed *feed, uint32_t image);
uint32_t wio_feed_next_unborn(struct wio_feed *feed, uint32_t child);
uint32_t wio_feed_find_child(struct wio_feed *feed, uint32_t image, int64_t pid);
/* `child` (WIO_FEED_NONE: nobody) was made by this call; `is_program`: without what exec closes. */
WIO_MUST_CHECK enum wio_status wio_feed_make_image(struct wio_feed *feed,
                                                   const struct wio_event *event, uint32_t child,
                                                   bool is_program);
/* Every event, after all else: is it the last of its image? */
WIO_MUST_CHECK enum wio_status wio_feed_count_event(struct wio_feed *feed,
                                                    const struct wio_event *event);
/* All threads of the latest image of a pid are done before `to`. */
WIO_MUST_CHECK enum wio_status wio_feed_after_process(struct wio_feed *feed,
                                                      const struct wio_event *to, int64_t pid,
                                                      enum wio_evidence evidence);

/* feed_helper.c: system and popen at their begin, system and pclose at their end. */
WIO_MUST_CHECK enum wio_status wio_feed_helper_begin(struct wio_feed *feed,
                                                     const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_helper_end(struct wio_feed *feed,
                                                   const struct wio_event *event);

/* feed_semaphore.c: semaphores and message queues. */
WIO_MUST_CHECK enum wio_status wio_feed_semaphore_begin(struct wio_feed *feed,
                                                        const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_post_begin(struct wio_feed *feed,
                                                   const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_post_end(struct wio_feed *feed,
                                                 const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_take_begin(struct wio_feed *feed,
                                                   const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_take_end(struct wio_feed *feed,
                                                 const struct wio_event *event);
/* The event's call is under way no longer: it is taken out of the list. False: it was not there. */
bool wio_feed_end_call(struct wio_feed *feed, const struct wio_event *event,
                       struct wio_feed_list *list);

/* feed_zero.c: waiting until a semaphore is 0. */
WIO_MUST_CHECK enum wio_status wio_feed_zero_begin(struct wio_feed *feed,
                                                   const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_zero_end(struct wio_feed *feed,
                                                 const struct wio_event *event);
/* Something is about to come into the semaphore: those who have seen it empty go on. */
WIO_MUST_CHECK enum wio_status wio_feed_zero_before(struct wio_feed *feed, uint32_t object,
                                                    uint64_t now_ns);
/* The call that waits puts something back at its end. */
void wio_feed_zero_puts_back(struct wio_feed *feed, const struct wio_event *event, uint32_t object);
/* Somebody has taken. */
WIO_MUST_CHECK enum wio_status wio_feed_note_taking(struct wio_feed *feed,
                                                    const struct wio_event *event, uint32_t object);
/* What there is, of what came before. */
uint64_t wio_feed_units(const struct wio_feed *feed, uint32_t object, uint64_t until_ns);

/* feed_thread.c: locks, conditions, barriers, futexes. One of them begins anew, or ends. */
WIO_MUST_CHECK enum wio_status wio_feed_sync_begin(struct wio_feed *feed,
                                                   const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_thread_begin(struct wio_feed *feed,
                                                     const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_thread_end(struct wio_feed *feed,
                                                   const struct wio_event *event);

/* feed_signal.c */
WIO_MUST_CHECK enum wio_status wio_feed_kill(struct wio_feed *feed, const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_sigwait(struct wio_feed *feed,
                                                const struct wio_event *event);
/* The process was ended by this signal: by the first that was sent to it. */
WIO_MUST_CHECK enum wio_status
wio_feed_after_kill(struct wio_feed *feed, const struct wio_event *event, int64_t pid, int signal);
/* Signals are read from a signalfd. */
WIO_MUST_CHECK enum wio_status wio_feed_signals_read(struct wio_feed *feed,
                                                     const struct wio_event *event);

/* feed_mpi.c */
WIO_MUST_CHECK enum wio_status wio_feed_mpi(struct wio_feed *feed, const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_mpi_finish(struct wio_feed *feed);

#endif
