/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets, clients, and messages between them in one process, by a seed: each step delivers one
 * message, flushes one log, lets time pass, or breaks something. Messages of a connection stay in
 * order; a connection that is lost loses those under way. The transactions read and write cells and
 * are written down in a history.
 */
#ifndef WIO_TESTS_STORE_CLIENT_WORLD_H
#define WIO_TESTS_STORE_CLIENT_WORLD_H

#include "support/unit.h"

#include "history.h"
#include "store/client/coord.h"
#include "support/store/memory_backing.h"

#define WORLD_TARGETS 3
#define WORLD_CLIENTS 4
#define WORLD_TXNS 3   /* of each client at a time */
#define WORLD_CELLS 12 /* cell i is on target i % WORLD_TARGETS */
#define WORLD_QUEUE 256

struct world_message {
    bool is_push;
    struct wio_store_request request;
    struct wio_store_reply reply;
    struct wio_store_push push;
    uint8_t data[16];
    uint16_t participants[WORLD_TARGETS];
};

struct world_queue {
    uint32_t first;
    uint32_t count;
    struct world_message messages[WORLD_QUEUE];
};

struct world;

struct world_actor {
    struct world_client *client;
    struct wio_coord_txn *txn; /* NULL: it rests */
    uint32_t answered;
    bool is_writing;
    bool finishes; /* the last write goes with the commit */
    uint32_t last; /* .. that one */
    uint32_t count;
    struct history_access accesses[HISTORY_ACCESSES];
    uint8_t data[HISTORY_ACCESSES][16];
};

struct world_client {
    struct world *world;
    uint64_t id;
    struct wio_coord *coord;
    bool is_alive;
    bool is_up[WORLD_TARGETS];
    uint64_t down_until_ns[WORLD_TARGETS];
    uint64_t pinged_ns;
    struct world_actor actors[WORLD_TXNS];
};

struct world_target {
    struct world *world;
    uint16_t self;
    struct memory_backing memory;
    struct wio_server *server;
};

struct world_letter {
    uint16_t from;
    uint16_t to;
    bool is_answer;
    bool is_prepared;
    enum wio_store_outcome outcome;
    struct wio_txn txn;
};

struct world_config {
    uint64_t seed;
    enum wio_lock_policy policy;
    bool is_stable;
    uint32_t txns; /* to be begun */
    /* per 10,000 steps */
    uint32_t losses;  /* of connections */
    uint32_t crashes; /* of targets: stable only */
    uint32_t deaths;  /* of clients, which are followed by new ones */
};

struct world {
    struct world_config config;
    uint64_t seed;
    uint64_t now_ns;
    uint64_t versions;
    uint64_t clients; /* ids given */
    uint32_t begun;
    uint32_t ended;
    uint64_t wounds;
    uint64_t retries;
    uint64_t inquiries;
    struct history history;
    struct world_target targets[WORLD_TARGETS];
    struct world_client clients_now[WORLD_CLIENTS];
    struct world_queue to_target[WORLD_CLIENTS][WORLD_TARGETS];
    struct world_queue to_client[WORLD_CLIENTS][WORLD_TARGETS];
    uint32_t letter_count;
    struct world_letter letters[WORLD_QUEUE];
};

/* Until all transactions have ended and all doubt is gone; NULL, or what is wrong. */
const char *world_run(struct world *world, const struct world_config *config);

#endif
