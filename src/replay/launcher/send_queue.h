/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a rank's threads and processes to other machines: a ring in shared memory. Many
 * threads put, the coordinator takes. A put into a full ring waits until the coordinator has taken.
 */
#ifndef WIO_REPLAY_LAUNCHER_SEND_QUEUE_H
#define WIO_REPLAY_LAUNCHER_SEND_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/control_block.h"
#include "replay/launcher/link.h"

#define RP_OUTBOX_ROOM 65536u /* a power of two */

/* Values of wio_replay_mail.kind. */
enum rp_mail_kind {
    RP_MAIL_EDGE,    /* index: edge; value: when it was given */
    RP_MAIL_MEETING, /* index: meeting; count: arrivals; value: when the last of them came */
    RP_MAIL_QUEUE,   /* index: queue */
    RP_MAIL_GROUP,   /* index: group that has ended; value: when */
    RP_MAIL_CLOCK,   /* a question, or with count 1 the answer: value = clock */
};

struct rp_outbox_slot {
    _Atomic uint64_t turn; /* whose turn: place to be filled, or place + 1 to be taken */
    uint32_t to;           /* rank */
    struct wio_replay_mail mail;
};

struct rp_outbox {
    _Atomic uint64_t put;  /* places given out */
    uint64_t taken;        /* by the coordinator alone */
    _Atomic uint32_t bell; /* futex: counts messages */
    _Atomic uint32_t is_asleep;
    struct rp_outbox_slot slots[RP_OUTBOX_ROOM];
};

WIO_MUST_CHECK enum wio_status rp_outbox_create(struct rp_outbox **outbox_out,
                                                struct wio_error *err);
void rp_outbox_destroy(struct rp_outbox *outbox);

/* False when the replay was aborted. */
bool rp_outbox_put(struct rp_outbox *outbox, const struct rp_board *board, uint32_t to,
                   const struct wio_replay_mail *mail);
/* The coordinator: false where there is none. */
bool rp_outbox_take(struct rp_outbox *outbox, uint32_t *to_out, struct wio_replay_mail *mail_out);
/* The coordinator: sleep until there is a message, at most `ns`. */
void rp_outbox_nap(struct rp_outbox *outbox, uint64_t ns);

#endif
