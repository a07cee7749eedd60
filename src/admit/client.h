/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of admission: which request is sent when, to one server. Waiting happens here.
 *
 *     wio_sender_submit(sender, cookie, timeout_ns, now_ns)       the program wants a request done
 *     while (wio_sender_next(sender, now_ns, &action)) { ... }    send it, or tell the program
 *     sleep until wio_sender_wake_ns(sender) or a message
 *     wio_sender_reply(sender, number, &reply, now_ns, &end)      a reply has come
 *     wio_sender_grant(sender, window, now_ns)                    a window was pushed
 *
 * A request that was refused keeps its number and its ticket. It is sent again after a random part
 * of the hint; without a hint, after a random part of a time that doubles; with windows, as soon as
 * the window is open again. Sending again is limited to a share of what succeeds (retry budget), so
 * that refusals do not multiply. What cannot be done before the deadline any more is not sent.
 *
 * Pure, as admit.h. A sender belongs to one thread.
 */
#ifndef WIO_ADMIT_CLIENT_H
#define WIO_ADMIT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "admit/admit.h"
#include "base/alloc.h"

struct wio_sender_settings {
    size_t struct_size;
    uint64_t seed;              /* of the random waits */
    uint32_t features;          /* agreed with the server, negotiate.h */
    uint32_t pending_max;       /* requests that wait or are in flight; at most 2^24 */
    uint32_t window;            /* in flight, with a server that tells none */
    uint64_t timeout_ns;        /* of a request that has none */
    uint64_t back_off_first_ns; /* without a hint: the first wait is below it */
    uint64_t back_off_max_ns;
    double retry_share; /* of what succeeds may be sent again */
    double retry_burst; /* at once, after a while without; 0: no budget, all may */
    bool ignores_hints; /* as if there were none (what was shipped) */
    bool sends_late;    /* what cannot be done in time is sent all the same */
};

enum wio_sender_end {
    WIO_SENDER_PENDING,  /* it is sent again later */
    WIO_SENDER_DONE,     /* the reply is its result */
    WIO_SENDER_BUSY,     /* refused for good: EBUSY to the program, with the reason */
    WIO_SENDER_TIMED_OUT /* its time has ended */
};

struct wio_sender_action {
    uint64_t cookie;
    uint64_t number;
    enum wio_sender_end end;      /* PENDING: send it. BUSY, TIMED_OUT: it is over */
    enum wio_admit_reason reason; /* of the last refusal */
    /* For struct wio_admit_request: */
    struct wio_ticket ticket;
    uint64_t remaining_ns;
    uint64_t demand_ns;
    uint32_t flags;
    uint16_t demand;
    uint16_t tries; /* times that it was sent before */
};

struct wio_sender_result {
    uint64_t cookie;
    enum wio_sender_end end;
    enum wio_admit_reason reason;
    uint16_t tries; /* times that it was sent */
};

struct wio_sender_counts {
    uint64_t submitted;
    uint64_t sent;
    uint64_t refused; /* busy and time-out replies */
    uint64_t done;
    uint64_t busy;
    uint64_t timed_out;
    uint64_t late;   /* replies to what was over */
    uint64_t probes; /* sent without a window, since none was pushed for long */
};

struct wio_sender;

/* All features, 4096 pending, a window of 64, 1 s, waits of 1 ms to 1 s, a tenth may be sent again,
 * 10 at once. */
struct wio_sender_settings wio_sender_settings_default(void);

/* WIO_ERR_USAGE for settings that are out of bounds, WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_sender_create(const struct wio_sender_settings *settings,
                                                 const struct wio_alloc *alloc,
                                                 struct wio_sender **sender_out);
void wio_sender_destroy(struct wio_sender *sender);

/* `timeout_ns` 0: the settings'. WIO_ERR_BUSY where pending_max are pending, WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_sender_submit(struct wio_sender *sender, uint64_t cookie,
                                                 uint64_t timeout_ns, uint64_t now_ns);

/* The next thing to do now; false: nothing. */
bool wio_sender_next(struct wio_sender *sender, uint64_t now_ns,
                     struct wio_sender_action *action_out);

/* When wio_sender_next may give something again; WIO_ADMIT_NEVER: not before another call. */
uint64_t wio_sender_wake_ns(const struct wio_sender *sender);

/* false: the request was over already, the reply is of no use. */
bool wio_sender_reply(struct wio_sender *sender, uint64_t number,
                      const struct wio_admit_reply *reply, uint64_t now_ns,
                      struct wio_sender_result *result_out);

/* The request is of no use any more: it is not sent again, and its reply is none. */
void wio_sender_cancel(struct wio_sender *sender, uint64_t number);

/* The server has pushed a window. */
void wio_sender_grant(struct wio_sender *sender, uint16_t window, uint64_t now_ns);

/* The connection is lost, or the server has started again: what was in flight waits to be sent
 * again, windows and tickets are forgotten. `features` are those agreed with the next one. */
void wio_sender_reconnect(struct wio_sender *sender, uint32_t features, uint64_t now_ns);

const struct wio_sender_counts *wio_sender_counts(const struct wio_sender *sender);
uint32_t wio_sender_pending(const struct wio_sender *sender);
uint32_t wio_sender_in_flight(const struct wio_sender *sender);

#endif
