/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/launcher/exchange.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "replay/launcher/remote.h"

/* From the agreement to time zero, ns: its message arrives within that. */
#define START_NS UINT64_C(20000000)
/* Period of the reductions, ns. */
#define NEWS_NS UINT64_C(5000000)
/* On one machine no thread waits for messages. */
#define NEAR_NAP_NS UINT64_C(2000000)
#define FAR_NAP_NS UINT64_C(50000)
/* A rank that has not checked for longer was delayed itself: that is no silence of the others. */
#define LOOK_MAX_NS UINT64_C(100000000)

static int64_t clock_ahead(const struct rp_run *run)
{
    return run->far == NULL ? 0 : run->far->clock_ahead_ns;
}

enum wio_status rp_exchange_start(struct rp_exchange *exchange, struct rp_run *run,
                                  struct wio_error *err)
{
    struct wio_replay_link *link = run->link;
    *exchange = (struct rp_exchange){.run = run};
    WIO_TRY(link->barrier(link->self, err));
    uint64_t start_ns = wio_clock_mono_ns() + START_NS;
    WIO_TRY(link->share(link->self, 0, &start_ns, sizeof(start_ns), err));
    run->board->start_ns = start_ns + (uint64_t)clock_ahead(run);
    exchange->told_ns = wio_clock_mono_ns();
    exchange->looked_ns = exchange->told_ns;
    exchange->stuck_since_ns = exchange->told_ns;
    return WIO_OK;
}

/* ---- failures ---- */

static void lose(struct rp_exchange *exchange)
{
    exchange->run->link->is_lost = true;
    exchange->is_finished = true;
    rp_board_fail(exchange->run->board, &exchange->error);
}

static void check_lost(struct rp_exchange *exchange)
{
    const struct wio_replay_link *link = exchange->run->link;
    uint64_t now_ns = wio_clock_mono_ns();
    uint64_t since_ns = now_ns - exchange->looked_ns;
    exchange->looked_ns = now_ns;
    exchange->silent_ns += since_ns < LOOK_MAX_NS ? since_ns : LOOK_MAX_NS;
    if (exchange->silent_ns < link->silence_ns) {
        return;
    }
    (void)wio_error_set(&exchange->error, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                        "rank %u has heard nothing from the other ranks for %.0f seconds: one of "
                        "them is dead, or the connection is lost",
                        link->rank, (double)link->silence_ns / 1e9);
    lose(exchange);
}

/* ---- messages ---- */

static void deliver(void *arg, const struct wio_replay_mail *mail)
{
    struct rp_exchange *exchange = arg;
    const struct rp_run *run = exchange->run;
    exchange->got++;
    if (mail->kind != RP_MAIL_GROUP) {
        if (run->gate != NULL) {
            rp_gate_deliver(run->gate, mail);
        }
        return;
    }
    if (mail->index < run->board->group_count) {
        struct rp_group_slot *slot = &run->board->groups[mail->index];
        atomic_store(&slot->end_ns, mail->value + (uint64_t)clock_ahead(run));
        rp_board_set(&slot->state, RP_GROUP_ENDED);
    }
}

static enum wio_status carry(struct rp_exchange *exchange)
{
    uint32_t to;
    bool is_any;
    struct wio_replay_mail mail;
    struct wio_replay_link *link = exchange->run->link;
    while (rp_outbox_take(exchange->run->far->outbox, &to, &mail)) {
        exchange->sent++;
        WIO_TRY(link->send(link->self, to, &mail, &exchange->error));
    }
    return link->receive(link->self, deliver, exchange, &is_any, &exchange->error);
}

/* ---- reductions ---- */

/* Where the streams are that this rank plays. */
static uint64_t own_at(const struct rp_run *run)
{
    uint64_t least = UINT64_MAX;
    const struct rp_family *family = &run->plan->family;
    for (uint32_t i = 0; i < family->stream_count; i++) {
        uint32_t image = family->streams[i].image;
        if (image != RP_NONE && rp_is_home(run, family->images[image].group)) {
            uint64_t at = atomic_load(&run->board->progress[i].at_ns);
            least = at < least ? at : least;
        }
    }
    return least;
}

static bool is_still(const struct rp_run *run)
{
    const struct rp_crowd *crowd = run->board->crowd;
    return atomic_load(&crowd->waiting) >= atomic_load(&crowd->threads);
}

/* One rank of each machine reports for all of its ranks. */
static uint64_t first_here(const struct rp_run *run)
{
    const struct wio_replay_link *link = run->link;
    for (uint32_t rank = 0; rank < link->rank; rank++) {
        if (link->machine_of[rank] == link->machine_of[link->rank]) {
            return UINT64_MAX;
        }
    }
    return run->gate != NULL ? rp_gate_first_ns(run->gate) : UINT64_MAX;
}

static enum wio_status tell(struct rp_exchange *exchange, bool is_over)
{
    const struct rp_run *run = exchange->run;
    exchange->first_ns = first_here(run);
    const struct wio_replay_news mine = {
        .least = {[RP_LEAST_AT] = own_at(run), [RP_LEAST_FIRST] = exchange->first_ns},
        .sums = {[RP_SUM_OVER] = is_over,
                 [RP_SUM_ABORTED] = rp_board_is_aborted(run->board),
                 [RP_SUM_STILL] = is_over || is_still(run),
                 [RP_SUM_CHANGES] = atomic_load(&run->board->crowd->changes),
                 [RP_SUM_SENT] = exchange->sent,
                 [RP_SUM_GOT] = exchange->got},
    };
    exchange->is_telling = true;
    exchange->told_ns = wio_clock_mono_ns();
    return run->link->tell(run->link->self, &mine, &exchange->error);
}

static void name_knot(struct rp_exchange *exchange)
{
    const struct rp_run *run = exchange->run;
    (void)wio_error_set(&exchange->error, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                        "the replay cannot go on: all ranks have waited for each other for %u "
                        "seconds",
                        (unsigned)(RP_STUCK_NS / 1000000000));
    rp_gate_name_waits(run->gate, &exchange->error);
    rp_board_fail(run->board, &exchange->error);
}

/* A thread that waits for a lost message would wait for ever. */
static void name_lost_mail(struct rp_exchange *exchange, uint64_t count)
{
    const struct rp_run *run = exchange->run;
    (void)wio_error_set(&exchange->error, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                        "the replay cannot go on: %llu messages between its machines have not "
                        "arrived for %.0f seconds, and all ranks wait",
                        (unsigned long long)count, (double)run->link->silence_ns / 1e9);
    rp_board_fail(run->board, &exchange->error);
}

/* Give up the wait for a lock or queue that is first in the trace, of all machines, once for each
 * deadlock. */
static void untie(struct rp_exchange *exchange, uint64_t first_ns)
{
    bool is_ours = first_ns != UINT64_MAX && first_ns == exchange->first_ns;
    if (exchange->untied != exchange->changes + 1) {
        exchange->untied = exchange->changes + 1;
        (void)(is_ours && rp_gate_let_go(exchange->run->gate));
    }
}

/* No thread has gone on for still_ns, on any machine. */
static void end_stillness(struct rp_exchange *exchange, const struct wio_replay_news *all,
                          uint64_t still_ns)
{
    const struct rp_run *run = exchange->run;
    uint64_t under_way = all->sums[RP_SUM_SENT] - all->sums[RP_SUM_GOT];
    if (under_way != 0) {
        if (still_ns >= run->link->silence_ns) {
            name_lost_mail(exchange, under_way);
        }
    } else if (still_ns >= RP_STUCK_NS && run->gate != NULL) {
        name_knot(exchange);
    } else if (still_ns >= RP_STUCK_NS) {
        atomic_store(&run->board->is_tangled, 1);
    } else if (still_ns >= RP_KNOT_NS) {
        untie(exchange, all->least[RP_LEAST_FIRST]);
    }
}

static void look_for_knot(struct rp_exchange *exchange, const struct wio_replay_news *all)
{
    uint64_t changes = all->sums[RP_SUM_CHANGES] + all->sums[RP_SUM_SENT] + all->sums[RP_SUM_GOT];
    if (all->sums[RP_SUM_STILL] == exchange->run->link->ranks && changes == exchange->changes) {
        end_stillness(exchange, all, exchange->told_ns - exchange->stuck_since_ns);
    } else {
        exchange->changes = changes;
        exchange->stuck_since_ns = exchange->told_ns;
    }
}

static void hear(struct rp_exchange *exchange, const struct wio_replay_news *all)
{
    const struct rp_run *run = exchange->run;
    if (run->link->machines > 1) {
        atomic_store(&run->board->crowd->far_at_ns, all->least[RP_LEAST_AT]);
    }
    exchange->is_finished = all->sums[RP_SUM_OVER] == run->link->ranks;
    if (all->sums[RP_SUM_ABORTED] > 0 && !rp_board_is_aborted(run->board)) {
        /* the rank that failed reports the cause */
        (void)wio_error_set(&exchange->error, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                            RP_OTHER_FAILED);
        rp_board_fail(run->board, &exchange->error);
    } else if (!exchange->is_finished && !rp_board_is_aborted(run->board)) {
        look_for_knot(exchange, all);
    }
}

static enum wio_status bring_news(struct rp_exchange *exchange, bool is_over)
{
    bool is_done;
    struct wio_replay_news all;
    struct wio_replay_link *link = exchange->run->link;
    if (!exchange->is_telling) {
        bool is_time = wio_clock_mono_ns() - exchange->told_ns >= NEWS_NS;
        return is_time || is_over ? tell(exchange, is_over) : WIO_OK;
    }
    WIO_TRY(link->told(link->self, &all, &is_done, &exchange->error));
    if (is_done) {
        exchange->is_telling = false;
        exchange->told_ns = wio_clock_mono_ns();
        exchange->silent_ns = 0;
        hear(exchange, &all);
    }
    return WIO_OK;
}

bool rp_exchange_turn(struct rp_exchange *exchange, bool is_over)
{
    enum wio_status status = WIO_OK;
    if (exchange->is_finished) {
        return false;
    }
    if (exchange->run->far != NULL) {
        status = carry(exchange);
    }
    if (status == WIO_OK) {
        status = bring_news(exchange, is_over);
    }
    if (status != WIO_OK) {
        lose(exchange);
    } else if (!exchange->is_finished) {
        check_lost(exchange);
    }
    return !exchange->is_finished;
}

void rp_exchange_nap(struct rp_exchange *exchange)
{
    if (exchange->run->far != NULL) {
        rp_outbox_nap(exchange->run->far->outbox, FAR_NAP_NS);
    } else {
        wio_clock_sleep_ns(NEAR_NAP_NS);
    }
}
