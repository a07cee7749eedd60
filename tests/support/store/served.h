/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole store in a thread of the test: catalogue and targets on Unix sockets, data in memory.
 *
 *     struct served served;
 *     served_begin(&served, 3);       three targets
 *     .. params.address = served.address ..
 *     served_end(&served);
 *
 * While it is paused it reads nothing and answers nothing, and its sockets stay.
 */
#ifndef WIO_TESTS_SUPPORT_STORE_SERVED_H
#define WIO_TESTS_SUPPORT_STORE_SERVED_H

#include <pthread.h>
#include <semaphore.h>

#include "store/net/net.h"
#include "store/session/catalogue_server.h"
#include "store/session/target.h"
#include "support/store/memory_backing.h"

enum { SERVED_TARGETS = 4 };

struct served {
    pthread_t thread;
    unsigned targets;
    char dir[128];
    char address[200]; /* of the catalogue */
    char target_addresses[SERVED_TARGETS][200];
    struct wio_link_config link; /* may be set before served_begin_as */
    enum wio_lock_policy policy;
    uint64_t lock_timeout_ns;
    uint64_t txn_bytes_max;
    uint64_t capacity;        /* of each target; 0: no bound */
    enum wio_admit_kind kind; /* policy of admission; fifo where it is not set */
    enum wio_admit_tenant_by tenant_by;
    bool is_old;            /* without admission */
    unsigned work_us;       /* of each read and update that is applied */
    unsigned names_work_us; /* of each request to the catalogue */
    const char *trace;      /* a directory that is there, for rows of transactions; NULL: none */
    /* the thread's */
    struct wio_net *net;
    struct wio_admit_total *admission;
    struct wio_admit_total *names_admission; /* of the catalogue */
    struct wio_io_ops ops;                   /* a clock that takes time is the catalogue's work */
    uint64_t (*unix_ns)(struct wio_io *io);
    struct memory_backing memory[SERVED_TARGETS];
    struct wio_target *target[SERVED_TARGETS];
    struct wio_tracer *tracer[SERVED_TARGETS]; /* NULL: none */
    struct wio_catalogue *catalogue;
    struct wio_catalogue_server *server;
    struct wio_io_timer *flush;
    sem_t ready;
    sem_t paused;
    sem_t go_on;
    int wish; /* of other threads: 1 pause, 2 end */
};

/* Zeroed, with what is to differ set. */
void served_begin_as(struct served *served, unsigned targets);
void served_begin(struct served *served, unsigned targets);
void served_pause(struct served *served);
void served_go_on(struct served *served);
void served_end(struct served *served);
/* Sum over the targets; while it is paused, or has ended. */
struct wio_server_stat served_stat(struct served *served);

#endif
