/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/target_watch.h"

static void watch_waits(void *context, const struct wio_store_request *request,
                        const struct wio_lock_blockers *blockers, uint64_t at_ns)
{
    const struct target_watch *watch = context;
    if (watch->tracer != NULL) {
        wio_tracer_watch.waits(watch->tracer, request, blockers, at_ns);
    }
}

static void watch_answered(void *context, const struct wio_store_request *request,
                           const struct wio_store_reply *reply, bool is_logged)
{
    struct target_watch *watch = context;
    wio_accounts_count(&watch->accounts, request, reply, watch->io->ops->now_ns(watch->io));
    if (watch->tracer != NULL) {
        wio_tracer_watch.answered(watch->tracer, request, reply, is_logged);
    }
}

static void watch_ended(void *context, const struct wio_txn *txn, bool is_committed, uint64_t at_ns)
{
    const struct target_watch *watch = context;
    if (watch->tracer != NULL) {
        wio_tracer_watch.ended(watch->tracer, txn, is_committed, at_ns);
    }
}

static void watch_wounded(void *context, const struct wio_store_push *push, uint64_t at_ns)
{
    const struct target_watch *watch = context;
    if (watch->tracer != NULL) {
        wio_tracer_watch.wounded(watch->tracer, push, at_ns);
    }
}

const struct wio_server_watch target_watch_ops = {watch_waits, watch_answered, watch_ended,
                                                  watch_wounded};
