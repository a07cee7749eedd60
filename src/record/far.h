/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorders of a throttled run over several hosts say to each other. One directs (the one
 * that the person started); on each host, behind the launcher, recorders do what it says. They
 * speak by TCP, in turn:
 *
 *     recorder             director
 *     HELLO        ->                    the token proves that it belongs to the run
 *                  <-      WELCOME       where the trace is, whether threads are held
 *                  <-      ASK           who may go on; what do all do?
 *     ANSWER       ->                    a look at all threads; the last one says how it ended
 *
 * Native byte order and no version: both sides are of one build, which the magic makes sure.
 */
#ifndef WIO_RECORD_FAR_H
#define WIO_RECORD_FAR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#define WIO_FAR_HOST_BYTES 72
#define WIO_FAR_TOKEN_BYTES 33
/* A director that has said nothing for so long is taken for dead, another recorder after half of
 * it: the others shall not take the director for dead meanwhile. */
#define WIO_FAR_SILENCE_NS UINT64_C(30000000000)

enum wio_far_kind { WIO_FAR_HELLO = 1, WIO_FAR_WELCOME, WIO_FAR_ASK, WIO_FAR_ANSWER };

struct wio_far_hello {
    char token[40];
    char host[WIO_FAR_HOST_BYTES]; /* as in the trace */
    int32_t pid;                   /* of the recorder */
    uint32_t unused;
};

struct wio_far_welcome {
    uint64_t limit_ns;    /* of any hold */
    uint32_t first_grant; /* I/Os that a new thread may do */
    uint32_t unused;
    char dir[PATH_MAX]; /* of the trace, absolute */
};

struct wio_far_grant {
    uint32_t place; /* on the asked one's board */
    uint32_t count; /* I/Os that the node there may do in all */
};

/* `count` grants follow. */
struct wio_far_ask {
    uint32_t is_over;     /* nobody is held any more */
    uint32_t wants_bytes; /* are bytes of the program on their way? */
    uint32_t count;
    uint32_t unused;
};

enum {
    WIO_FAR_IS_LOST = 1,     /* threads went on by themselves */
    WIO_FAR_IS_OVERFULL = 2, /* more threads than the board has places */
    WIO_FAR_HAS_BYTES = 4,   /* sent, and nobody has confirmed that they arrived */
    WIO_FAR_IS_DONE = 8,     /* the command has ended: the last answer */
    WIO_FAR_IS_UNSEALED = 16 /* .. and its trace could not be finished */
};

/* `count` nodes follow, in the order of their places. */
struct wio_far_answer {
    uint64_t now_ns; /* of the answering host's clock */
    uint32_t count;
    uint32_t flags;
    uint32_t announced;
    uint32_t arrived;
    int32_t exit_status; /* of the command, where it is done */
    uint32_t unused;
    uint64_t rings; /* totals of sealing, where it is done */
    uint64_t events;
    uint64_t dropped;
    uint64_t bytes;
    uint64_t unseen[16];
};

enum {
    WIO_FAR_IS_THERE = 1, /* as in struct wio_task */
    WIO_FAR_IS_ASLEEP = 2,
    WIO_FAR_IS_TIMED = 4,
    WIO_FAR_HAS_PROCESS = 8, /* the thread's process is there */
    WIO_FAR_HAS_PARENT = 16  /* somebody on the same board started it */
};

/* A node of the board (trace/board.h) and what the kernel says of it. */
struct wio_far_node {
    int32_t pid;
    int32_t tid;
    int32_t rank;
    uint32_t flags;
    uint64_t key;
    uint64_t parent;
    uint64_t word;
    uint64_t run_ns;
    uint32_t asked;
    uint32_t unused;
};

/* A message that came. Zero-initialise. */
struct wio_far_message {
    uint8_t *data;
    size_t size;
    size_t room;
};
void wio_far_message_fini(struct wio_far_message *message);

/* `more` follows `body`; it may be NULL. False: the other one is gone. */
WIO_MUST_CHECK bool wio_far_send(int fd, enum wio_far_kind kind, const void *body, size_t size,
                                 const void *more, size_t more_size);
/* Waits for at most `limit_ns`. False: the other one is gone, silent, or says what it must not.
 * `least`: how long the message is at least. */
WIO_MUST_CHECK bool wio_far_receive(int fd, enum wio_far_kind kind, size_t least, uint64_t limit_ns,
                                    struct wio_far_message *message);

/*
 * Where a director can be reached: "PORT/TOKEN/ADDRESS,ADDRESS.." in WHYIO_DIRECTOR. The addresses
 * are those of all its network interfaces, since it does not know which of them others see.
 */
#define WIO_FAR_ADDRESS_BYTES 2048
WIO_MUST_CHECK enum wio_status wio_far_listen(int *fd_out, char token_out[WIO_FAR_TOKEN_BYTES],
                                              char address_out[WIO_FAR_ADDRESS_BYTES],
                                              struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_far_connect(const char *address, int *fd_out,
                                               char token_out[WIO_FAR_TOKEN_BYTES],
                                               struct wio_error *err);

#endif
