/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/client.h"

#include <math.h>

#include "admit/client/back_off.h"
#include "admit/client/pending.h"
#include "admit/negotiate.h"
#include "base/cleanup.h"

#define PENDING_MAX (1u << 24)
#define WINDOW_FIRST 1 /* of a server that grants windows, before it has told one */
#define LATENCY_LENGTH 8.0
/* Times that an answer takes, in which that is forgotten by half. Sooner: more that cannot be done
 * in time is sent; later: a client that was answered late once waits for longer beside others. */
#define FORGET 3.0

struct wio_sender {
    struct wio_alloc alloc;
    struct wio_sender_settings settings;
    struct wio_admit_pending pending;
    struct wio_back_off back_off;
    struct wio_sender_counts counts;
    uint32_t in_flight;
    uint32_t window;
    uint64_t probe_ns;   /* when one is sent although the window is closed */
    uint64_t sent_ns;    /* the last one */
    double latency_ns;   /* of requests that were done, moving average */
    double deviation_ns; /* of it */
};

struct wio_sender_settings wio_sender_settings_default(void)
{
    return (struct wio_sender_settings){
        .struct_size = sizeof(struct wio_sender_settings),
        .features = WIO_ADMIT_FEATURES,
        .pending_max = 4096,
        .window = WIO_ADMIT_WINDOW_MAX,
        .timeout_ns = 1000000000,
        .back_off_first_ns = 1000000,
        .back_off_max_ns = 1000000000,
        .retry_share = 0.1,
        .retry_burst = 10,
    };
}

static bool is_sound(const struct wio_sender_settings *settings)
{
    return settings->struct_size == sizeof(*settings) && settings->pending_max > 0 &&
           settings->pending_max <= PENDING_MAX && settings->window > 0 &&
           settings->timeout_ns > 0 && settings->back_off_first_ns > 0 &&
           settings->back_off_max_ns >= settings->back_off_first_ns &&
           isfinite(settings->retry_share) && settings->retry_share >= 0 &&
           isfinite(settings->retry_burst) && settings->retry_burst >= 0;
}

static bool grants_windows(const struct wio_sender *sender)
{
    return (sender->settings.features & WIO_ADMIT_FEATURE_CREDIT) != 0;
}

static void begin(struct wio_sender *sender)
{
    sender->window = grants_windows(sender) ? WINDOW_FIRST : sender->settings.window;
    sender->probe_ns = 0;
}

enum wio_status wio_sender_create(const struct wio_sender_settings *settings,
                                  const struct wio_alloc *alloc, struct wio_sender **sender_out)
{
    if (!is_sound(settings)) {
        return WIO_ERR_USAGE;
    }
    struct wio_sender *sender = wio_alloc_array(alloc, 1, sizeof(*sender));
    if (sender == NULL) {
        return WIO_ERR_NOMEM;
    }
    sender->alloc = *alloc;
    sender->settings = *settings;
    sender->back_off = (struct wio_back_off){.state = settings->seed,
                                             .first_ns = settings->back_off_first_ns,
                                             .max_ns = settings->back_off_max_ns,
                                             .share = settings->retry_share,
                                             .burst = settings->retry_burst,
                                             .tokens = settings->retry_burst};
    wio_pending_init(&sender->pending, alloc);
    begin(sender);
    *sender_out = sender;
    return WIO_OK;
}

void wio_sender_destroy(struct wio_sender *sender)
{
    if (sender != NULL) {
        wio_pending_fini(&sender->pending);
        sender->alloc.put(sender->alloc.context, sender);
    }
}

static uint64_t later(uint64_t now_ns, uint64_t wait_ns)
{
    uint64_t then_ns;
    return __builtin_add_overflow(now_ns, wait_ns, &then_ns) ? WIO_ADMIT_NEVER : then_ns;
}

/* What an answer takes. With nothing under way that is forgotten by half in FORGET times as long:
 * else a client that was answered late once would send nothing for long, and leave the server to
 * those that were luckier. */
static double takes_ns(const struct wio_sender *sender, uint64_t now_ns)
{
    double known_ns = sender->latency_ns + 2 * sender->deviation_ns;
    bool is_idle = sender->in_flight == 0 && known_ns > 0 && now_ns > sender->sent_ns;

    return is_idle ? known_ns * exp2(-(double)(now_ns - sender->sent_ns) / (FORGET * known_ns))
                   : known_ns;
}

/* The last moment at which sending it is of use. */
static uint64_t last_ns(const struct wio_sender *sender, const struct wio_pending_request *item,
                        uint64_t now_ns)
{
    double known_ns = takes_ns(sender, now_ns);
    bool is_known = !sender->settings.sends_late && known_ns < (double)item->deadline_ns;
    return is_known ? item->deadline_ns - (uint64_t)known_ns : item->deadline_ns;
}

enum wio_status wio_sender_submit(struct wio_sender *sender, uint64_t cookie, uint64_t timeout_ns,
                                  uint64_t now_ns)
{
    if (sender->pending.count == sender->settings.pending_max) {
        return WIO_ERR_BUSY;
    }
    uint64_t deadline_ns =
        later(now_ns, timeout_ns != 0 ? timeout_ns : sender->settings.timeout_ns);
    uint32_t item;
    WIO_TRY(wio_pending_add(&sender->pending, deadline_ns, &item));
    sender->pending.items[item].cookie = cookie;
    sender->pending.items[item].deadline_ns = deadline_ns;
    wio_pending_make_ready(&sender->pending, item, false);
    sender->counts.submitted++;
    return WIO_OK;
}

static void finish(struct wio_sender *sender, uint32_t item, enum wio_sender_end end)
{
    sender->counts.done += end == WIO_SENDER_DONE;
    sender->counts.busy += end == WIO_SENDER_BUSY;
    sender->counts.timed_out += end == WIO_SENDER_TIMED_OUT;
    sender->in_flight -= sender->pending.items[item].state == WIO_PENDING_IN_FLIGHT;
    wio_pending_remove(&sender->pending, item);
}

static void fill(const struct wio_sender *sender, uint32_t index, struct wio_sender_action *action)
{
    const struct wio_pending_request *item = &sender->pending.items[index];
    *action = (struct wio_sender_action){
        .cookie = item->cookie,
        .number = wio_pending_number(&sender->pending, index),
        .reason = (enum wio_admit_reason)item->reason,
        .tries = item->tries,
    };
}

/* One whose timer has run: over, or ready again. true: over. */
static bool handle_timer(struct wio_sender *sender, uint64_t now_ns,
                         struct wio_sender_action *action)
{
    uint32_t index = sender->pending.timers[0];
    struct wio_pending_request *item = &sender->pending.items[index];
    bool is_late = now_ns >= item->deadline_ns;
    if (item->state == WIO_PENDING_BACK_OFF && !is_late && now_ns >= item->back_ns) {
        wio_pending_make_ready(&sender->pending, index, true);
        wio_pending_set_timer(&sender->pending, index, item->deadline_ns);
        return false;
    }
    fill(sender, index, action);
    action->end = item->reason != WIO_ADMIT_REASON_NONE && item->state != WIO_PENDING_IN_FLIGHT
                      ? WIO_SENDER_BUSY
                      : WIO_SENDER_TIMED_OUT;
    finish(sender, index, action->end);
    return true;
}

static bool may_send(const struct wio_sender *sender, uint64_t now_ns)
{
    bool is_probe = grants_windows(sender) && sender->in_flight == 0 && now_ns >= sender->probe_ns;
    return sender->pending.ready > 0 && (sender->in_flight < sender->window || is_probe);
}

static uint64_t demand_ns(const struct wio_sender *sender, uint64_t now_ns)
{
    uint32_t last = sender->pending.last;
    uint64_t deadline_ns = last != WIO_NO_INDEX ? sender->pending.items[last].deadline_ns : 0;
    return deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

static void send_first(struct wio_sender *sender, uint64_t now_ns, struct wio_sender_action *action)
{
    uint32_t index = sender->pending.first;
    struct wio_pending_request *item = &sender->pending.items[index];
    sender->counts.probes += sender->in_flight >= sender->window;
    wio_pending_unready(&sender->pending, index);
    fill(sender, index, action);
    item->state = WIO_PENDING_IN_FLIGHT;
    item->sent_ns = now_ns;
    item->tries += item->tries < UINT16_MAX;
    sender->in_flight++;
    sender->counts.sent++;
    sender->sent_ns = now_ns;
    sender->probe_ns = later(now_ns, sender->settings.back_off_max_ns);
    uint32_t demand = sender->pending.ready;
    action->end = WIO_SENDER_PENDING;
    action->ticket = item->ticket;
    action->remaining_ns = item->deadline_ns - now_ns;
    action->demand_ns = demand_ns(sender, now_ns);
    action->demand = (uint16_t)(demand < UINT16_MAX ? demand : UINT16_MAX);
    action->flags =
        (sender->settings.features & WIO_ADMIT_FEATURE_REJECT) != 0 ? WIO_ADMIT_REJECT : 0;
    wio_pending_set_timer(&sender->pending, index, item->deadline_ns);
}

bool wio_sender_next(struct wio_sender *sender, uint64_t now_ns,
                     struct wio_sender_action *action_out)
{
    while (sender->pending.count > 0 &&
           sender->pending.items[sender->pending.timers[0]].timer_ns <= now_ns) {
        if (handle_timer(sender, now_ns, action_out)) {
            return true;
        }
    }
    if (!may_send(sender, now_ns)) {
        return false;
    }
    uint32_t first = sender->pending.first;
    bool is_probe = sender->in_flight == 0 && now_ns >= sender->probe_ns;
    if (!is_probe && now_ns >= last_ns(sender, &sender->pending.items[first], now_ns)) {
        fill(sender, first, action_out);
        action_out->end = WIO_SENDER_TIMED_OUT; /* too late to be sent */
        finish(sender, first, action_out->end);
        return true;
    }
    send_first(sender, now_ns, action_out);
    return true;
}

uint64_t wio_sender_wake_ns(const struct wio_sender *sender)
{
    if (sender->pending.count == 0) {
        return WIO_ADMIT_NEVER;
    }
    uint64_t timer_ns = sender->pending.items[sender->pending.timers[0]].timer_ns;
    bool may_probe = grants_windows(sender) && sender->in_flight == 0 && sender->pending.ready > 0;
    return may_probe && sender->probe_ns < timer_ns ? sender->probe_ns : timer_ns;
}

static void learn(struct wio_sender *sender, const struct wio_pending_request *item,
                  uint64_t now_ns)
{
    double took_ns = now_ns > item->sent_ns ? (double)(now_ns - item->sent_ns) : 0;
    double error_ns = took_ns - sender->latency_ns;
    sender->latency_ns += error_ns / LATENCY_LENGTH;
    sender->deviation_ns += (fabs(error_ns) - sender->deviation_ns) / LATENCY_LENGTH;
}

/* It waits for the window; if that is not pushed, it probes after the hint. */
static void wait_for_window(struct wio_sender *sender, uint32_t index, uint64_t hint_ns,
                            uint64_t now_ns)
{
    wio_pending_make_ready(&sender->pending, index, true);
    wio_pending_set_timer(&sender->pending, index, sender->pending.items[index].deadline_ns);
    uint64_t wait_ns = hint_ns + wio_back_off_random_ns(&sender->back_off, hint_ns);
    sender->probe_ns = later(now_ns, wait_ns);
}

static enum wio_sender_end back_off(struct wio_sender *sender, uint32_t index, uint64_t hint_ns,
                                    uint64_t now_ns)
{
    struct wio_pending_request *item = &sender->pending.items[index];
    bool is_hinted = hint_ns > 0 && !sender->settings.ignores_hints;
    uint64_t wait_ns = is_hinted ? wio_back_off_random_ns(&sender->back_off, hint_ns)
                                 : wio_back_off_blind_ns(&sender->back_off, item->tries);
    item->back_ns = later(now_ns, wait_ns);
    if (item->back_ns >= last_ns(sender, item, now_ns) || !wio_back_off_take(&sender->back_off)) {
        return WIO_SENDER_BUSY;
    }
    item->state = WIO_PENDING_BACK_OFF;
    wio_pending_set_timer(&sender->pending, index, item->back_ns);
    return WIO_SENDER_PENDING;
}

static enum wio_sender_end refused(struct wio_sender *sender, uint32_t index,
                                   const struct wio_admit_reply *reply, uint64_t now_ns)
{
    struct wio_pending_request *item = &sender->pending.items[index];
    sender->counts.refused++;
    item->reason = (uint8_t)reply->reason;
    item->ticket = reply->ticket;
    if (reply->reason == WIO_ADMIT_REASON_EXPIRED) {
        return WIO_SENDER_TIMED_OUT;
    }
    uint64_t hint_ns = wio_hint_ns(reply->hint);
    sender->in_flight--;
    item->state = WIO_PENDING_BACK_OFF;
    if (reply->has_window && reply->reason != WIO_ADMIT_REASON_TIMEOUT) {
        wait_for_window(sender, index, hint_ns, now_ns);
        return WIO_SENDER_PENDING;
    }
    return back_off(sender, index, hint_ns, now_ns);
}

static void set_window(struct wio_sender *sender, const struct wio_admit_reply *reply)
{
    if (reply->has_window && grants_windows(sender)) {
        sender->window = reply->window;
    } else {
        sender->window = sender->settings.window;
    }
}

bool wio_sender_reply(struct wio_sender *sender, uint64_t number,
                      const struct wio_admit_reply *reply, uint64_t now_ns,
                      struct wio_sender_result *result_out)
{
    set_window(sender, reply);
    uint32_t index = wio_pending_find(&sender->pending, number);
    if (index == WIO_NO_INDEX || sender->pending.items[index].state != WIO_PENDING_IN_FLIGHT) {
        sender->counts.late++;
        return false;
    }
    const struct wio_pending_request *item = &sender->pending.items[index];
    *result_out = (struct wio_sender_result){
        .cookie = item->cookie, .tries = item->tries, .reason = reply->reason};
    if (reply->answer == WIO_ADMIT_ACCEPTED) {
        learn(sender, item, now_ns);
        wio_back_off_earn(&sender->back_off);
        result_out->end = WIO_SENDER_DONE;
    } else {
        result_out->end = refused(sender, index, reply, now_ns);
    }
    if (result_out->end != WIO_SENDER_PENDING) {
        finish(sender, index, result_out->end);
    }
    return true;
}

void wio_sender_cancel(struct wio_sender *sender, uint64_t number)
{
    uint32_t index = wio_pending_find(&sender->pending, number);
    if (index != WIO_NO_INDEX) {
        finish(sender, index, WIO_SENDER_PENDING);
    }
}

void wio_sender_grant(struct wio_sender *sender, uint16_t window, uint64_t now_ns)
{
    sender->window = window;
    sender->probe_ns = later(now_ns, sender->settings.back_off_max_ns);
}

void wio_sender_reconnect(struct wio_sender *sender, uint32_t features, uint64_t now_ns)
{
    sender->settings.features = features;
    begin(sender);
    for (uint32_t i = 0; i < sender->pending.used; i++) {
        struct wio_pending_request *item = &sender->pending.items[i];
        item->ticket = (struct wio_ticket){0};
        if (item->state == WIO_PENDING_IN_FLIGHT) {
            item->back_ns = later(now_ns, wio_back_off_blind_ns(&sender->back_off, item->tries));
            item->state = WIO_PENDING_BACK_OFF;
            uint64_t timer_ns =
                item->back_ns < item->deadline_ns ? item->back_ns : item->deadline_ns;
            wio_pending_set_timer(&sender->pending, i, timer_ns);
        }
    }
    sender->in_flight = 0;
}

const struct wio_sender_counts *wio_sender_counts(const struct wio_sender *sender)
{
    return &sender->counts;
}

uint32_t wio_sender_pending(const struct wio_sender *sender)
{
    return sender->pending.count;
}

uint32_t wio_sender_in_flight(const struct wio_sender *sender)
{
    return sender->in_flight;
}
