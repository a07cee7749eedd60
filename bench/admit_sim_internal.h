/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a simulation, shared by its server (admit_sim.c) and its clients (admit_load.c). */
#ifndef WIO_BENCH_ADMIT_SIM_INTERNAL_H
#define WIO_BENCH_ADMIT_SIM_INTERNAL_H

#include "admit_events.h"
#include "admit_sim.h"
#include "admit_stats.h"

#define MS 1000000

enum sim_what {
    ARRIVAL,
    SMALL_ARRIVAL,
    THOUGHT,
    CLIENT_WAKE,
    TO_SERVER,
    CORE,
    TO_CLIENT,
    GRANT,
    SERVER_WAKE,
    RESTART
};

struct sim_message {
    struct wio_admit_request request;
    struct wio_admit_reply reply;
    uint32_t client;
    uint32_t op;
    uint32_t epoch; /* of the server */
    uint32_t next;
    uint64_t handle;
    uint64_t service_ns;
    bool is_expired;
};

struct sim_sender {
    struct wio_sender *sender;
    uint64_t wake_ns;   /* scheduled */
    uint32_t number;    /* at the server */
    uint64_t paused_ns; /* until then the server reads nothing of it */
};

struct sim {
    const struct sim_config *config;
    struct sim_events events;
    struct wio_admit_total *total;
    struct wio_admit *shard;
    struct sim_sender *senders;
    struct sim_message *messages;
    size_t message_room;
    uint32_t messages_used;
    uint32_t message_free;
    uint32_t inbox_first;
    uint32_t inbox_last;
    struct sim_stats stats;
    uint32_t *client_of; /* number at the server -> client */
    uint64_t random;
    uint64_t now_ns;
    uint64_t core_free_ns;
    uint64_t server_wake_ns;
    uint32_t epoch;
    bool is_core_scheduled;
};

/* admit_sim.c */
uint32_t sim_take_message(struct sim *sim);
void sim_give_message(struct sim *sim, uint32_t index);
void sim_must(enum wio_status status, const char *what);

/* admit_load.c */
uint32_t sim_features(const struct sim_config *config, uint32_t client);
void sim_start_clients(struct sim *sim);
void sim_begin_load(struct sim *sim);
void sim_arrive_open(struct sim *sim);
void sim_arrive_small(struct sim *sim);
void sim_submit(struct sim *sim, uint32_t client);
void sim_pump(struct sim *sim, uint32_t client);
void sim_received(struct sim *sim, uint32_t index);
void sim_granted(struct sim *sim, uint32_t index);

#endif
