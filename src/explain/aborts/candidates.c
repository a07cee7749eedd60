/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/candidates.h"

#include "base/cleanup.h"

#define TIMEOUT_NS UINT64_C(250000000) /* that of PIOUS 1.2 */

static const struct wio_txn_file *file_of(void *arg, uint64_t file)
{
    const struct wio_aborts *aborts = arg;
    return aborts->cursor == NULL ? NULL : wio_txn_cursor_file(aborts->cursor, file);
}

static enum wio_status try_change(const struct wio_aborts *aborts,
                                  const struct wio_whatif_costs *costs, const char *name,
                                  const char *cure, struct wio_whatif_change change,
                                  struct wio_candidates *candidates)
{
    struct wio_candidate *row = &candidates->rows[candidates->count++];
    *row = (struct wio_candidate){.name = name, .cure = cure, .change = change};
    return wio_whatif(&aborts->replays, costs, &change, file_of, (void *)(uintptr_t)aborts,
                      &row->result);
}

static enum wio_status try_all(const struct wio_aborts *aborts,
                               const struct wio_whatif_costs *costs,
                               struct wio_candidates *candidates_out)
{
    static const struct {
        const char *name;
        const char *cure;
        struct wio_whatif_change change;
    } changes[WIO_CANDIDATES_MAX] = {
        [WIO_CANDIDATE_AS_IT_WAS] = {"as it was", "-", {0}},
        [WIO_CANDIDATE_TOUCHED] = {"locks of touched bytes alone",
                                   "granularity",
                                   {.granularity = 1}},
        [WIO_CANDIDATE_APART] = {"bytes of its own for each client",
                                 "granularity",
                                 {.is_apart = true}},
        [WIO_CANDIDATE_THINK_BEHIND] = {"commit before computing",
                                        "granularity",
                                        {.is_think_behind = true}},
        [WIO_CANDIDATE_SORTED] = {"one order of locks", "order", {.is_sorted = true}},
        [WIO_CANDIDATE_UNIT_4K] = {"stripe units of 4 KiB", "layout", {.stripe_unit = 4096}},
        [WIO_CANDIDATE_UNIT_1M] = {"stripe units of 1 MiB", "layout", {.stripe_unit = 1 << 20}},
        [WIO_CANDIDATE_SPREAD] = {"a segment on every server", "layout", {0}},
        [WIO_CANDIDATE_STORAGE_FREE] = {"log and storage in no time",
                                        "storage",
                                        {.is_storage_free = true}},
        [WIO_CANDIDATE_TIMEOUT] = {"time-out of 250 ms",
                                   "policy",
                                   {.policy = WIO_LOCK_TIMEOUT, .timeout_ns = TIMEOUT_NS}},
        [WIO_CANDIDATE_NO_WAIT] = {"no-wait", "policy", {.policy = WIO_LOCK_NO_WAIT}},
        [WIO_CANDIDATE_WAIT_DIE] = {"wait-die", "policy", {.policy = WIO_LOCK_WAIT_DIE}},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(changes); i++) {
        struct wio_whatif_change change = changes[i].change;
        change.segments = i == WIO_CANDIDATE_SPREAD ? aborts->replays.servers : 0;
        WIO_TRY(
            try_change(aborts, costs, changes[i].name, changes[i].cure, change, candidates_out));
    }
    return WIO_OK;
}

enum wio_status wio_candidates_run(const struct wio_aborts *aborts,
                                   struct wio_candidates *candidates_out)
{
    *candidates_out = (struct wio_candidates){0};
    if (aborts->replays.client_count == 0 || aborts->replays.servers == 0) {
        return WIO_OK;
    }
    WIO_CLEANUP(wio_whatif_costs_fini) struct wio_whatif_costs costs = {0};
    WIO_TRY(wio_whatif_costs(&aborts->replays, &costs));
    return try_all(aborts, &costs, candidates_out);
}
