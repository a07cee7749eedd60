/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store's servers in one process: the catalogue on the calling thread, each target on a thread
 * and event loop of its own, all below one directory (docs/STORE-FORMAT.md section 6). Or one of
 * them, the others being processes elsewhere.
 *
 *     struct wio_serve_config config = {.root = "/scratch/store", .ready = print};
 *     wio_serve(&config, &err);      until SIGTERM or SIGINT, or a failure
 */
#ifndef WIO_STORE_SERVE_H
#define WIO_STORE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "admit/admit.h"
#include "store/link/link.h"
#include "store/storage/stable.h"

enum {
    WIO_SERVE_TARGETS_MAX = 64, /* of one process */
    WIO_SERVE_RANKS_MAX = 256   /* of a store of many processes */
};

/* What of a store a process is. */
enum wio_serve_role {
    WIO_SERVE_ALL, /* catalogue and targets */
    WIO_SERVE_CATALOGUE,
    WIO_SERVE_TARGET /* one of them */
};

/* A process that is a part of a store: the same list and key are given to all its processes. */
struct wio_serve_part {
    enum wio_serve_role role;     /* not ALL */
    uint16_t index;               /* of TARGET: its place in the list */
    uint16_t count;               /* targets of the store, at most WIO_SERVE_RANKS_MAX */
    const char *const *addresses; /* of all targets, where clients and other targets reach them */
    struct wio_link_key servers_key;
};

/* A store of many processes, each with one target, which ends with its job: meeting.h. */
struct wio_serve_job {
    uint16_t rank; /* 0: with the catalogue */
    uint16_t size;
    const char *dir;  /* shared by all nodes */
    const char *name; /* of the files there */
};

/* What is told when clients can come. Valid for the call. */
struct wio_serve_ready {
    const char *root;
    enum wio_serve_role role;
    const char *address; /* of the catalogue: what clients are given; of a job: @FILE; of a part
                            that is a target: its own */
    const char *const *targets;
    uint16_t target_count;
    bool is_new;           /* the store was made now */
    unsigned metrics_port; /* 0: none */
    bool is_durable;       /* false: below a file system in memory */
};

struct wio_serve_config {
    const char *root; /* made where it is not there */
    const char
        *address;     /* NULL: a Unix socket below the root; of a part that is a target: its own */
    uint16_t targets; /* of this process; 0: as many as the store has, 1 of a new one */
    uint64_t size_bytes; /* of all targets together; 0: as much as the device gives */
    enum wio_log_choice log;
    const char *trace;                  /* directory, made where it is not there; NULL: the last
                                           rows in memory, which SIGUSR2 and failures write to
                                           ROOT/flight */
    uint64_t trace_max_bytes;           /* of all targets together; 0: 1 GiB */
    enum wio_admit_kind policy;         /* of admission */
    enum wio_admit_tenant_by tenant_by; /* whose share of it is whose */
    uint64_t request_memory_bytes;      /* of waiting requests of each server; 0: 64 MiB */
    const char *policy_file;            /* read again on SIGHUP; NULL: none */
    const char *metrics;                /* address; NULL: none */
    enum wio_wire_auth auth;
    const struct wio_link_key *key;    /* AUTH_KEY */
    const struct wio_serve_job *job;   /* NULL: none; else address, targets, auth and key follow */
    const struct wio_serve_part *part; /* NULL: all; else `targets` is 0, and there is no job */
    void (*ready)(void *context, const struct wio_serve_ready *ready);
    /* SIGHUP: the policy file was read again; `err` NULL: it is in force. May be NULL. */
    void (*reloaded)(void *context, const struct wio_error *err);
    /* SIGUSR2: what was traced so far is in `dir`; `err` NULL: it is. May be NULL. */
    void (*flushed)(void *context, const char *dir, const struct wio_error *err);
    void *context;
};

/* WIO_OK: it was ended by SIGTERM or SIGINT, and all that was done is durable. WIO_ERR_BUSY:
 * another process has the root. WIO_ERR_UNSUPPORTED: whyio was built without a library that it
 * needs, which the error names. */
WIO_MUST_CHECK enum wio_status wio_serve(const struct wio_serve_config *config,
                                         struct wio_error *err);

/* An address of the list of a part: WIO_ERR_USAGE where it is none, or has port 0. */
WIO_MUST_CHECK enum wio_status wio_serve_check_target(const char *address, struct wio_error *err);

/* A new directory below `parent`, "whyio-NAME" or that and a number. */
WIO_MUST_CHECK enum wio_status wio_serve_make_root(const char *parent, const char *name,
                                                   char *path_out, size_t size,
                                                   struct wio_error *err);

#endif
