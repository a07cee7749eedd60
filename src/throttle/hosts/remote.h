/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between the recorders of a throttled run over several hosts: the coordinator in
 * front of the launcher, and the workers behind it, on each host. By TCP, in turn:
 *
 *     worker               coordinator
 *     HELLO        ->                    a nonce, the name of the host
 *                  <-      CHALLENGE     another nonce, and the coordinator's proof of the key
 *     PROOF        ->                    the worker's proof of the key
 *                  <-      WELCOME       whether threads are held
 *                  <-      ASK           grants, and a request for the state of all threads
 *     ANSWER       ->                    the state of all threads; the last one says how it ended
 *
 * Every message is a frame (throttle/hosts/remote_frame.h) with a tag that only the run's key
 * makes: a connection without the key gets no further than HELLO. The trace directory is no part of
 * any message, it comes with the key (throttle/hosts/remote_address.h).
 *
 * Little endian, fields one after the other without gaps. docs/adr/0018.
 */
#ifndef WIO_THROTTLE_HOSTS_REMOTE_H
#define WIO_THROTTLE_HOSTS_REMOTE_H

#include <stdint.h>

#include <whyio/status.h>

#include "base/buf.h"
#include "throttle/hosts/remote_key.h"

/* The form of messages and of WHYIO_DIRECTOR; 1 sent the key itself. */
#define WIO_REMOTE_PROTOCOL 2

#define WIO_REMOTE_HOST_BYTES 72
/* A coordinator that is silent for so long is taken for dead, a worker after half of it: the other
 * workers shall not take the coordinator for dead meanwhile. */
#define WIO_REMOTE_SILENCE_NS UINT64_C(30000000000)

enum wio_remote_kind {
    WIO_REMOTE_HELLO = 1,
    WIO_REMOTE_CHALLENGE,
    WIO_REMOTE_PROOF, /* empty */
    WIO_REMOTE_WELCOME,
    WIO_REMOTE_ASK,
    WIO_REMOTE_ANSWER,
    WIO_REMOTE_KINDS /* one more than the last */
};

struct wio_remote_hello {
    struct wio_remote_nonce nonce;
    int32_t pid;                      /* of the recorder */
    char host[WIO_REMOTE_HOST_BYTES]; /* as in the trace; printable, not empty */
};

struct wio_remote_welcome {
    uint64_t limit_ns;    /* of any hold */
    uint32_t first_grant; /* I/Os that a new thread may do */
};

struct wio_remote_grant {
    uint32_t place; /* on the worker's board */
    uint32_t count; /* I/Os that the node there may do in all */
};

/* `count` grants follow. */
struct wio_remote_ask {
    uint32_t is_over;     /* no thread is held any more */
    uint32_t wants_bytes; /* are bytes of the program in flight? */
    uint32_t count;
};

enum {
    WIO_REMOTE_IS_LOST = 1,     /* threads ended their holds by themselves */
    WIO_REMOTE_IS_OVERFULL = 2, /* more threads than the board has places */
    WIO_REMOTE_HAS_BYTES = 4,   /* sent, and not acknowledged */
    WIO_REMOTE_IS_DONE = 8,     /* the command has ended: the last answer */
    WIO_REMOTE_IS_UNSEALED = 16 /* .. and its trace could not be finished */
};

#define WIO_REMOTE_UNSEEN 16u

/* `count` nodes follow, in the order of their places. */
struct wio_remote_answer {
    uint64_t now_ns; /* of the answering host's clock */
    uint32_t count;
    uint32_t flags;
    uint32_t announced;
    uint32_t arrived;
    int32_t exit_status; /* of the command, where it is done: 0..255 */
    uint64_t rings;      /* totals of sealing, where it is done */
    uint64_t events;
    uint64_t dropped;
    uint64_t bytes;
    uint64_t unseen[WIO_REMOTE_UNSEEN];
};

enum {
    WIO_REMOTE_IS_THERE = 1, /* as in struct wio_task_state */
    WIO_REMOTE_IS_ASLEEP = 2,
    WIO_REMOTE_IS_TIMED = 4,
    WIO_REMOTE_HAS_PROCESS = 8, /* the thread's process is there */
    WIO_REMOTE_HAS_PARENT = 16  /* a node of the same board started it */
};

/* A node of the board (ring/control_block.h) and what the kernel says of it. */
struct wio_remote_node {
    int32_t pid;
    int32_t tid;
    int32_t rank;
    uint32_t flags;
    uint64_t key;
    uint64_t parent;
    uint64_t word;
    uint64_t run_ns;
    uint32_t asked;
};

/* The longest body of a kind; 0: there is no such kind. */
uint32_t wio_remote_body_max(uint32_t kind);

/* Append a body. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_remote_put_hello(struct wio_blob *out,
                                                    const struct wio_remote_hello *hello);
WIO_MUST_CHECK enum wio_status wio_remote_put_challenge(struct wio_blob *out,
                                                        const struct wio_remote_nonce *nonce);
WIO_MUST_CHECK enum wio_status wio_remote_put_welcome(struct wio_blob *out,
                                                      const struct wio_remote_welcome *welcome);
WIO_MUST_CHECK enum wio_status wio_remote_put_ask(struct wio_blob *out,
                                                  const struct wio_remote_ask *ask,
                                                  const struct wio_remote_grant *grants);
WIO_MUST_CHECK enum wio_status wio_remote_put_answer(struct wio_blob *out,
                                                     const struct wio_remote_answer *answer,
                                                     const struct wio_remote_node *nodes);

/* Read a whole body. WIO_ERR_FORMAT or WIO_ERR_TRUNCATED for one that cannot be: numbers that are
 * none of their field's, a count of rows that does not fit the size, bytes behind the end. */
WIO_MUST_CHECK enum wio_status wio_remote_get_hello(struct wio_buf body,
                                                    struct wio_remote_hello *hello_out);
WIO_MUST_CHECK enum wio_status wio_remote_get_challenge(struct wio_buf body,
                                                        struct wio_remote_nonce *nonce_out);
WIO_MUST_CHECK enum wio_status wio_remote_get_welcome(struct wio_buf body,
                                                      struct wio_remote_welcome *welcome_out);
/* These two leave the cursor before the first of `count` rows, of which exactly so many are there:
 * wio_remote_get_grant and wio_remote_get_node read one each. */
WIO_MUST_CHECK enum wio_status wio_remote_get_ask(struct wio_buf *body,
                                                  struct wio_remote_ask *ask_out);
WIO_MUST_CHECK enum wio_status wio_remote_get_answer(struct wio_buf *body,
                                                     struct wio_remote_answer *answer_out);
WIO_MUST_CHECK enum wio_status wio_remote_get_grant(struct wio_buf *body,
                                                    struct wio_remote_grant *grant_out);
WIO_MUST_CHECK enum wio_status wio_remote_get_node(struct wio_buf *body,
                                                   struct wio_remote_node *node_out);

#endif
