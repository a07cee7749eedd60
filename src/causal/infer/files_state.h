/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of descriptors, channels and locks on files. */
#ifndef WIO_CAUSAL_INFER_FILES_STATE_H
#define WIO_CAUSAL_INFER_FILES_STATE_H

#include "base/pair_map.h"
#include "causal/core/edge.h"
#include "causal/infer/infer.h"
#include "causal/infer/list.h"
#include "causal/match/ranges.h"

/* An open file description: what descriptors that are duplicates of each other share. */
struct wio_infer_file {
    uint32_t refs;
    uint64_t id;     /* name.h */
    uint32_t path;   /* .. and the name by which it was opened */
    uint32_t object; /* pipe, socket, eventfd; 0 = none */
    uint32_t flock;  /* object that it has locked; 0 = none */
    uint32_t ranges; /* object of which it has locked ranges (F_OFD_SETLK); 0 = none */
    uint32_t next_free;
    uint64_t signals;          /* of a signalfd: its mask */
    uint64_t timer_ns;         /* of a timerfd: when it goes off, WIO_INFER_NO_TIME = never, .. */
    struct wio_point timer_by; /* .. after which operation it was set */
    bool can_write;            /* an end that others wait for to be closed */
    bool is_opening;           /* of a FIFO: it is in the list `openings` */
    bool is_shared_lock;       /* LOCK_SH */
};

#define WIO_INFER_NO_TIME UINT64_MAX

/* causal/files/fds.c */
struct wio_infer_files {
    struct wio_infer_file *items;
    size_t room;
    uint32_t count;
    uint32_t free;
};

/* causal/files: channel.c, fifo.c, writer_close.c */
struct wio_infer_pipe {
    struct wio_infer_list closings; /* of write ends */
    struct wio_infer_list full;     /* writes that wait until `a` bytes have been read */
    struct wio_infer_list openings; /* of a FIFO: causal/files/fifo.c */
    uint32_t opening;               /* of them, so many calls are under way */
    uint64_t capacity;              /* bytes, 0 = as Linux makes it */
    uint64_t given;                 /* bytes written .. */
    uint64_t taken;                 /* .. and read */
};

struct wio_infer_pipes {
    struct wio_pair_map opening_of; /* (stream, seq) of a call that opens a FIFO -> object */
    struct wio_pair_map closing_of; /* (object, thread) -> its closing, of objects that have many */
};

/* causal/files: channel.c, connect.c, message.c */
struct wio_infer_socket {
    struct wio_infer_list closings;
    struct wio_infer_list messages; /* that wait to be read: `a` is the size, `b` the end */
    uint64_t forgotten;             /* messages, older than those that are kept */
    uint32_t peer;                  /* object of the other end, 0 = not known */
    uint32_t address;               /* of datagrams that is connected: the text of R-CHAN-3 */
    bool has_messages;              /* it keeps them apart */
    bool is_connected;              /* or a stream: an address that is sent to is not looked at */
    bool is_shut;                   /* what the other end reads has its end: closing adds nothing */
};

struct wio_infer_eventfd {
    struct wio_infer_list writes; /* since its counter was 0 */
    uint64_t initial;             /* what is left of its first value */
    bool is_semaphore;            /* reads take one */
};

struct wio_infer_sockets {
    struct wio_pair_map unpaired_of; /* (connection, of some kinds with host; side) -> list */
    struct wio_pair_map bound_of;    /* (host, address or port) -> object of the socket */
};

/* range.c: locks on ranges of one file. */
struct wio_infer_record_lock {
    struct wio_infer_list held;  /* ranges from `a` to `b` */
    struct wio_ranges *released; /* NULL: none yet */
};

/* range.c: per thread, while one acquire is looked at, 1 + its latest release. */
struct wio_infer_ranges {
    uint64_t *latest;
    uint32_t *threads; /* that have one */
    uint32_t count;
    uint64_t unkept; /* wio_infer_unkept_ranges */
};

/* poll.c */
struct wio_infer_waits {
    struct wio_infer_wait *items;
    size_t room;
    size_t count;
};

#endif
