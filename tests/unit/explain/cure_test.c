/* SPDX-License-Identifier: Apache-2.0 */
/* Transaction Analysis: "Server contention may be alleviated by an alternative file layout scheme,
 * while data access conflicts may be alleviated by changing the access granularity used by the
 * application." */
#include "support/unit.h"

#include <string.h>

#include "explain/aborts/cure.h"

/* Votes of several servers are contention, too: they follow from where the bytes are. */
static bool is_contention(unsigned loss)
{
    return loss == WIO_LOSS_BUSY || loss == WIO_LOSS_STORAGE || loss == WIO_LOSS_SERVED ||
           loss == WIO_LOSS_PREPARED;
}

static void contention_is_for_the_layout_and_conflicts_for_the_granularity(void **state)
{
    (void)state;
    for (unsigned loss = 0; loss < WIO_LOSSES; loss++) {
        const struct wio_loss_words *words = wio_loss_words((enum wio_loss)loss);
        assert_string_equal(words->cure, is_contention(loss) ? "layout" : "granularity");
        assert_true(words->is_general == (words->change[0] == '\0'));
    }
}

/* A pair has the cure of what took most of its seconds. */
static void what_took_most_is_cured(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_CONFLICTS; kind++) {
        struct wio_exact_pair pair = {.aborts = 5, .lane_s = WIO_CONFLICTS + 1};
        for (unsigned other = 0; other < WIO_CONFLICTS; other++) {
            pair.by_conflict_s[other] = other == kind ? 2 : 1;
        }
        assert_int_equal(wio_loss_of(&pair), kind);
    }
}

static void locks_held_while_thinking_are_for_an_earlier_commit(void **state)
{
    (void)state;
    struct wio_exact_pair pair = {.aborts = 5, .lane_s = 1};
    pair.by_conflict_s[WIO_CONFLICT_DATA] = 1;
    assert_non_null(strstr(wio_loss_words(wio_loss_of(&pair))->change, "fewer bytes"));
    pair.lane_think_s = 0.6;
    assert_non_null(strstr(wio_loss_words(wio_loss_of(&pair))->change, "commit before computing"));
}

static void deadlocks_are_for_one_order(void **state)
{
    (void)state;
    struct wio_exact_pair pair = {.aborts = 5, .deadlocks = 3, .lane_s = 1, .lane_abort_s = 0.9};
    pair.by_conflict_s[WIO_CONFLICT_DATA] = 1;
    assert_non_null(strstr(wio_loss_words(wio_loss_of(&pair))->change, "in one order"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contention_is_for_the_layout_and_conflicts_for_the_granularity),
        cmocka_unit_test(what_took_most_is_cured),
        cmocka_unit_test(locks_held_while_thinking_are_for_an_earlier_commit),
        cmocka_unit_test(deadlocks_are_for_one_order),
    };
    return WIO_RUN(tests);
}
