/* SPDX-License-Identifier: Apache-2.0 */
/* Target servers over memory, and clients that are only numbers: requests are given by hand, the
 * last answer to each client is kept. */
#ifndef WIO_TESTS_STORE_SERVER_RIG_H
#define WIO_TESTS_STORE_SERVER_RIG_H

#include "support/unit.h"

#include "support/store/memory_backing.h"

#define RIG_TARGETS 3
#define RIG_CLIENTS 8

struct rig_inbox {
    uint32_t count; /* answers so far */
    struct wio_store_reply last;
    uint8_t data[256];
    uint32_t wounds;
    struct wio_store_push wound;
};

struct rig_target {
    struct memory_backing memory;
    struct wio_server *server;
    uint32_t asked; /* inquiries that it sent */
    struct rig *rig;
    uint16_t self;
};

struct rig {
    uint64_t now_ns;
    uint64_t numbers;
    struct wio_server_config config; /* of all; may be changed before rig_start */
    struct rig_target targets[RIG_TARGETS];
    uint16_t count;
    bool is_cut; /* targets do not reach each other */
    struct rig_inbox inbox[RIG_TARGETS][RIG_CLIENTS];
};

void rig_init(struct rig *rig, uint16_t targets);
void rig_start(struct rig *rig);
void rig_fini(struct rig *rig);
/* The target loses what is not durable, and comes back. */
void rig_crash(struct rig *rig, uint16_t target);
void rig_tick(struct rig *rig, uint64_t ns);
/* All of the target's log becomes durable. */
void rig_flush(struct rig *rig, uint16_t target);

/* A request with the next number; the answer, or NULL where there was none yet. */
const struct wio_store_reply *rig_send(struct rig *rig, uint16_t target,
                                       struct wio_store_request request);
const struct wio_store_reply *rig_last(const struct rig *rig, uint16_t target, uint64_t client);

/* Requests of client `client`, transaction number `txn`, attempt 1; the older client is the older.
 */
struct wio_store_request rig_request(enum wio_store_op op, uint64_t client, uint64_t txn);
struct wio_store_request rig_write(uint64_t client, uint64_t txn, uint64_t offset,
                                   const char *text);
struct wio_store_request rig_read(uint64_t client, uint64_t txn, uint64_t offset, uint64_t size);

#define assert_result(reply, wanted) rig_assert_result(reply, wanted, __FILE__, __LINE__)
/* A result of OK with these bytes. */
#define assert_bytes(reply, text) rig_assert_bytes(reply, text, __FILE__, __LINE__)
void rig_assert_result(const struct wio_store_reply *reply, enum wio_store_result wanted,
                       const char *file, int line);
void rig_assert_bytes(const struct wio_store_reply *reply, const char *text, const char *file,
                      int line);

#endif
