/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/cure.h"

static const struct wio_loss_words words[WIO_LOSSES] = {
    [WIO_LOSS_DATA] = {"data_conflict", "transactions use the same bytes", "granularity",
                       "access fewer bytes a transaction, or bytes of its own for each client",
                       false, true, WIO_CANDIDATE_APART},
    [WIO_LOSS_FALSE] = {"false_conflict", "locks of bytes that are never touched", "granularity",
                        "lock only the bytes that are read or written", false, true,
                        WIO_CANDIDATE_TOUCHED},
    [WIO_LOSS_SIZE] = {"size_conflict", "transactions change the size of the same segment",
                       "granularity",
                       "give each writer a file or a segment of its own, or set the size once",
                       false, true, WIO_CANDIDATE_APART},
    [WIO_LOSS_QUEUED] = {"queued_behind", "requests queue for the same bytes", "granularity",
                         "hold locks for a shorter time, or use bytes of its own for each client",
                         false, true, WIO_CANDIDATE_APART},
    [WIO_LOSS_PREPARED] = {"prepared_wait", "waits for votes of several servers", "layout",
                           "keep the bytes of a transaction on one server: larger stripe units",
                           false, true, WIO_CANDIDATE_UNIT_1M},
    [WIO_LOSS_DEAD] = {"dead_client", "locks of clients that have ended", "granularity",
                       "end transactions before their client ends", false, false,
                       WIO_CANDIDATE_AS_IT_WAS},
    [WIO_LOSS_DEADLOCK] = {"deadlock", "locks are taken in opposite orders", "granularity",
                           "take the locks in one order in all transactions", false, true,
                           WIO_CANDIDATE_SORTED},
    [WIO_LOSS_THINK] = {"think_time", "locks are held while nothing is asked for", "granularity",
                        "commit before computing", false, true, WIO_CANDIDATE_THINK_BEHIND},
    [WIO_LOSS_BUSY] = {"server_busy", "a server is too busy", "layout",
                       "spread the file over more segments or servers", false, true,
                       WIO_CANDIDATE_SPREAD},
    [WIO_LOSS_STORAGE] = {"slow_storage", "requests wait for log and storage of a server", "layout",
                          "commit more at once, or keep the log on a faster device", false, true,
                          WIO_CANDIDATE_STORAGE_FREE},
    [WIO_LOSS_SERVED] = {"server_time", "requests are being worked on", "layout", "", true, false,
                         WIO_CANDIDATE_AS_IT_WAS},
};

const struct wio_loss_words *wio_loss_words(enum wio_loss loss)
{
    return &words[loss];
}

/* A part of all conflicts, whichever they are. */
static void take_off(double seconds[WIO_LOSSES], double all_s, double part_s)
{
    double left = all_s > part_s ? (all_s - part_s) / all_s : 0;
    for (unsigned i = 0; i < WIO_CONFLICTS; i++) {
        seconds[i] *= left;
    }
}

/* The older transaction wounds the younger one as soon as it wants its lock: often before the
 * younger one has asked for the other, and the cycle has closed. Lines of which one abort in
 * DEADLOCKS_PART is a deadlock take their locks in opposite orders. */
#define DEADLOCKS_PART 4u

static double deadlock_s(const struct wio_exact_pair *pair)
{
    bool is_typical = pair->deadlocks > 0 && pair->deadlocks * DEADLOCKS_PART >= pair->aborts;
    return is_typical ? pair->lane_abort_s : pair->deadlock_s;
}

void wio_losses_of(const struct wio_exact_pair *pair, double seconds_out[WIO_LOSSES])
{
    for (unsigned i = 0; i < WIO_LOSSES; i++) {
        seconds_out[i] = i < WIO_CONFLICTS ? pair->by_conflict_s[i] : 0;
    }
    take_off(seconds_out, pair->lane_s, pair->lane_think_s + deadlock_s(pair));
    seconds_out[WIO_LOSS_THINK] = pair->lane_think_s;
    seconds_out[WIO_LOSS_DEADLOCK] = deadlock_s(pair);
}

enum wio_loss wio_loss_most(const double seconds[WIO_LOSSES])
{
    enum wio_loss most = WIO_LOSS_DATA;
    for (unsigned i = 0; i < WIO_LOSSES; i++) {
        most = seconds[i] > seconds[most] ? (enum wio_loss)i : most;
    }
    return most;
}

enum wio_loss wio_loss_of(const struct wio_exact_pair *pair)
{
    double seconds[WIO_LOSSES];
    wio_losses_of(pair, seconds);
    return wio_loss_most(seconds);
}
