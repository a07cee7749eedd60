/* SPDX-License-Identifier: Apache-2.0 */
/* The classic analysis: a trace for each sentence of its source, named S-1 .. in docs/ABORTS.md. */
#include "explain/aborts/classic.h"

#include <string.h>

#include "support/unit.h"
#include "txn_script.h"

/* The table with this victim's line; fails where there is none or several. */
static const struct wio_classic_table *table_of(const struct wio_aborts *aborts, const char *place)
{
    const struct wio_classic_table *found = NULL;
    for (uint32_t i = 0; i < aborts->classic.count; i++) {
        const struct wio_classic_table *table = &aborts->classic.tables[i];
        const struct wio_abort_source *victim = &aborts->sources.rows[table->victim];
        if (strcmp(wio_abort_sources_place_text(&aborts->sources, victim->place), place) == 0) {
            assert_null(found);
            found = table;
        }
    }
    assert_non_null(found);
    return found;
}

/* How often the cell of a source's line at a server was so; all of its cells together are the
 * table's aborts. */
static uint64_t cell(const struct wio_aborts *aborts, const struct wio_classic_table *table,
                     const char *place, uint32_t server, enum wio_classic_cell kind)
{
    for (uint32_t i = 0; i < table->cell_count; i++) {
        const struct wio_classic_column *at = &table->cells[i];
        const struct wio_abort_source *source = &aborts->sources.rows[at->source];
        if (wio_attempts_server(&aborts->attempts, at->server) == server &&
            strcmp(wio_abort_sources_place_text(&aborts->sources, source->place), place) == 0) {
            uint64_t dark = at->aborts[WIO_CELL_DARK];
            uint64_t shaded = at->aborts[WIO_CELL_SHADED];
            return kind == WIO_CELL_LIGHT ? table->aborts - dark - shaded : at->aborts[kind];
        }
    }
    return kind == WIO_CELL_LIGHT ? table->aborts : 0;
}

/* S-6: "we can distinguish between transactions that conflict for data and transactions that simply
 * contend for the server". */
static void conflict_is_shaded_and_contention_dark(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "1 begin C1 app c.c:1\n"
                   "1 answer C1 s0 w f1 500-600\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s0 w f1 50-80 refused by A1\n"
                   "4 release B1 s0 aborted\n"
                   "4 end B1 aborted\n",
                   &aborts);
    const struct wio_classic_table *table = table_of(&aborts, "b.c:1");
    assert_int_equal(table->aborts, 1);
    assert_int_equal(table->refused, 1);
    assert_int_equal(cell(&aborts, table, "a.c:1", 0, WIO_CELL_SHADED), 1);
    assert_int_equal(cell(&aborts, table, "c.c:1", 0, WIO_CELL_DARK), 1);
    wio_aborts_fini(&aborts);
}

/* Shared locks on the same bytes exclude nothing: two readers contend for the server alone. */
static void readers_do_not_conflict(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 r f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s0 r f1 0-100\n"
                   "4 call B1 s0 r f1 100-200 silent\n"
                   "5 end B1 aborted\n"
                   "5 release B1 s0 aborted\n",
                   &aborts);
    const struct wio_classic_table *table = table_of(&aborts, "b.c:1");
    assert_int_equal(cell(&aborts, table, "a.c:1", 0, WIO_CELL_DARK), 1);
    assert_int_equal(cell(&aborts, table, "a.c:1", 0, WIO_CELL_SHADED), 0);
    wio_aborts_fini(&aborts);
}

/* S-2: "we ignore any events from transactions that completed before the aborted transaction was
 * initiated". One that completed since is not ignored. */
static void completed_before_is_ignored(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "0 begin D1 app d.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "1 answer D1 s0 w f1 0-10\n"
                   "2 release A1 s0 committed\n"
                   "2 end A1 committed\n"
                   "3 begin B1 app b.c:1\n"
                   "4 release D1 s0 committed\n"
                   "4 end D1 committed\n"
                   "5 answer B1 s0 w f1 0-100 refused\n"
                   "6 release B1 s0 aborted\n"
                   "6 end B1 aborted\n",
                   &aborts);
    const struct wio_classic_table *table = table_of(&aborts, "b.c:1");
    assert_int_equal(cell(&aborts, table, "a.c:1", 0, WIO_CELL_LIGHT), 1);
    assert_int_equal(cell(&aborts, table, "d.c:1", 0, WIO_CELL_SHADED), 1);
    assert_int_equal(table->source_count, 1);
    wio_aborts_fini(&aborts);
}

/* S-3: ".. and also ignore events that occurred on servers which did not abort the transaction". */
static void other_servers_are_ignored(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "1 begin C1 app c.c:1\n"
                   "1 answer C1 s1 w f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s1 w f1 500-600\n"
                   "3 answer B1 s0 w f1 0-100 refused by A1\n"
                   "4 release B1 s0 aborted\n"
                   "4 release B1 s1 aborted\n"
                   "4 end B1 aborted\n",
                   &aborts);
    const struct wio_classic_table *table = table_of(&aborts, "b.c:1");
    assert_int_equal(table->refused, 1);
    assert_int_equal(cell(&aborts, table, "a.c:1", 0, WIO_CELL_SHADED), 1);
    assert_int_equal(cell(&aborts, table, "c.c:1", 1, WIO_CELL_LIGHT), 1);
    wio_aborts_fini(&aborts);
}

/* S-4, S-5: "a set of servers who failed to commit"; "the set of active transactions on those
 * servers": columns for both, and light where a source was not active. */
static void servers_that_refused_are_columns(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "1 begin C1 app c.c:1\n"
                   "1 answer C1 s1 w f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s0 w f1 0-100 refused by A1\n"
                   "3 answer B1 s1 w f1 0-100 refused by C1\n"
                   "4 release B1 s0 aborted\n"
                   "4 release B1 s1 aborted\n"
                   "4 end B1 aborted\n",
                   &aborts);
    const struct wio_classic_table *table = table_of(&aborts, "b.c:1");
    assert_int_equal(table->refused, 2);
    assert_int_equal(table->source_count, 2);
    assert_int_equal(cell(&aborts, table, "a.c:1", 0, WIO_CELL_SHADED), 1);
    assert_int_equal(cell(&aborts, table, "a.c:1", 1, WIO_CELL_LIGHT), 1);
    assert_int_equal(cell(&aborts, table, "c.c:1", 0, WIO_CELL_LIGHT), 1);
    assert_int_equal(cell(&aborts, table, "c.c:1", 1, WIO_CELL_SHADED), 1);
    wio_aborts_fini(&aborts);
}

/* S-9: "one of the servers in the transaction was too busy to respond within the timeout interval
 * or a server could not give exclusive access". */
static void silence_is_contention(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "9 call B1 s0 w f1 500-600 silent\n"
                   "9 end B1 aborted\n",
                   &aborts);
    const struct wio_classic_table *table = table_of(&aborts, "b.c:1");
    assert_int_equal(table->silent, 1);
    assert_int_equal(cell(&aborts, table, "a.c:1", 0, WIO_CELL_DARK), 1);
    assert_int_equal(aborts.totals.by_refusal[WIO_REFUSAL_SILENT], 1);
    wio_aborts_fini(&aborts);
}

/* One abort of a line b.c:N by one of a.c:1 at `server`. */
#define ABORT_AT(t, txn, line, server)                                                             \
    t " begin " txn " app " line "\n" t " answer " txn " " server " w f1 0-10 refused\n" t         \
      " release " txn " " server " aborted\n" t " end " txn " aborted\n"

/* S-7: "We can combine explanations for aborts within a file, source code line, and application";
 * S-8: the table unites the columns. */
static void equal_explanations_merge(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "0 answer A1 s0 w f1 0-100\n"
                   "0 answer A1 s1 w f1 0-100\n" ABORT_AT("1", "B1", "b.c:1", "s0")
                       ABORT_AT("2", "B2", "b.c:1", "s1") ABORT_AT("3", "C1", "c.c:1", "s0"),
                   &aborts);
    assert_int_equal(aborts.classic.count, 2);
    const struct wio_classic_table *table = table_of(&aborts, "b.c:1");
    assert_int_equal(table->aborts, 2);
    assert_int_equal(cell(&aborts, table, "a.c:1", 0, WIO_CELL_SHADED), 1);
    assert_int_equal(cell(&aborts, table, "a.c:1", 1, WIO_CELL_SHADED), 1);
    assert_int_equal(table_of(&aborts, "c.c:1")->aborts, 1);
    wio_aborts_fini(&aborts);
}

/* S-7: "they must be composed of transactions that access the same file and that were issued by the
 * same application within the same basic block". */
static void other_sources_do_not_merge(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "0 answer A1 s0 w f1 0-100\n" ABORT_AT(
                       "1", "B1", "b.c:1",
                       "s0") "2 release A1 s0 committed\n"
                             "2 end A1 committed\n"
                             "3 begin A2 other a.c:1\n"
                             "3 answer A2 s0 w f1 0-100\n" ABORT_AT("4", "B2", "b.c:1", "s0"),
                   &aborts);
    assert_int_equal(aborts.classic.count, 2);
    assert_int_equal(aborts.classic.tables[0].aborts, 1);
    assert_int_equal(aborts.classic.tables[1].aborts, 1);
    wio_aborts_fini(&aborts);
}

/* S-7: "the number of failed commits should be the same for the two transactions". */
static void other_numbers_of_refusals_do_not_merge(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "0 answer A1 s0 w f1 0-100\n"
                   "0 answer A1 s1 w f1 0-100\n" ABORT_AT("1", "B1", "b.c:1",
                                                          "s0") "2 begin B2 app b.c:1\n"
                                                                "2 answer B2 s0 w f1 0-10 refused\n"
                                                                "2 answer B2 s1 w f1 0-10 refused\n"
                                                                "3 release B2 s0 aborted\n"
                                                                "3 release B2 s1 aborted\n"
                                                                "3 end B2 aborted\n",
                   &aborts);
    assert_int_equal(aborts.classic.count, 2);
    assert_int_not_equal(aborts.classic.tables[0].refused, aborts.classic.tables[1].refused);
    wio_aborts_fini(&aborts);
}

/* What its client gave up is no abort by a server. */
static void own_aborts_are_not_explained(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "2 release A1 s0 aborted\n"
                   "2 end A1 aborted\n",
                   &aborts);
    assert_int_equal(aborts.totals.given_up, 1);
    assert_int_equal(aborts.totals.aborts, 0);
    assert_int_equal(aborts.classic.count, 0);
    wio_aborts_fini(&aborts);
}

/* Another attempt of the same transaction does not explain its abort. */
static void attempts_do_not_explain_each_other(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin B1 app b.c:1\n"
                   "1 answer B1 s0 w f1 0-10\n"
                   "1 begin B1.2 app b.c:1\n"
                   "2 answer B1.2 s0 w f1 0-10 refused by B1\n"
                   "3 release B1.2 s0 aborted\n"
                   "3 end B1.2 aborted\n",
                   &aborts);
    assert_int_equal(table_of(&aborts, "b.c:1")->source_count, 0);
    wio_aborts_fini(&aborts);
}

/* Of two that are named only one had refused it. */
static void innocent_ones_are_counted(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "1 begin C1 app c.c:1\n"
                   "1 answer C1 s0 w f1 500-600\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s0 w f1 50-80 refused by A1\n"
                   "4 release B1 s0 aborted\n"
                   "4 end B1 aborted\n",
                   &aborts);
    assert_int_equal(aborts.classic.named, 2);
    assert_int_equal(aborts.classic.judged, 2);
    assert_int_equal(aborts.classic.innocent, 1);
    wio_aborts_fini(&aborts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conflict_is_shaded_and_contention_dark),
        cmocka_unit_test(readers_do_not_conflict),
        cmocka_unit_test(completed_before_is_ignored),
        cmocka_unit_test(other_servers_are_ignored),
        cmocka_unit_test(servers_that_refused_are_columns),
        cmocka_unit_test(silence_is_contention),
        cmocka_unit_test(equal_explanations_merge),
        cmocka_unit_test(other_sources_do_not_merge),
        cmocka_unit_test(other_numbers_of_refusals_do_not_merge),
        cmocka_unit_test(own_aborts_are_not_explained),
        cmocka_unit_test(attempts_do_not_explain_each_other),
        cmocka_unit_test(innocent_ones_are_counted),
    };
    return WIO_RUN(tests);
}
