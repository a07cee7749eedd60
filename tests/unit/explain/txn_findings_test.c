/* SPDX-License-Identifier: Apache-2.0 */
/* What transactions lost, in seconds of the run. Numbers by hand. */
#include "explain/aborts/txn_findings.h"

#include <math.h>
#include <string.h>

#include "explain/aborts/exact_tables.h"
#include "support/unit.h"
#include "txn_script.h"

struct found {
    struct wio_aborts aborts;
    struct wio_candidates candidates;
    struct wio_txn_findings findings;
};

static void find(const char *script, struct found *found)
{
    *found = (struct found){0};
    txn_script_run(script, &found->aborts);
    assert_int_equal(wio_candidates_run(&found->aborts, &found->candidates), WIO_OK);
    assert_int_equal(wio_txn_findings_find(&found->aborts, &found->candidates, &found->findings),
                     WIO_OK);
}

static void found_fini(struct found *found)
{
    wio_txn_findings_fini(&found->findings);
    wio_aborts_fini(&found->aborts);
}

static const struct wio_txn_finding *finding_of(const struct found *found, enum wio_loss loss)
{
    for (uint32_t i = 0; i < found->findings.count; i++) {
        if (found->findings.items[i].loss == loss) {
            return &found->findings.items[i];
        }
    }
    fail_msg("no finding of kind %s", wio_loss_words(loss)->kind);
    return NULL;
}

static void assert_seconds(double seconds, double expected)
{
    assert_true(fabs(seconds - expected) < 1e-9);
}

/* Two clients are there for 100 ms each; B waits 40 ms of them, while A's request is worked on. */
#define WAITS                                                                                      \
    "0 begin A1 app a.c:1\n"                                                                       \
    "0 begin B1 app b.c:1\n"                                                                       \
    "0 answer A1 s0 w f1 0-100\n"                                                                  \
    "10 arrive B1 s0 w f1 50-80 by A1\n"                                                           \
    "50 answer A1 s0 w f1 0-100 run=45\n"                                                          \
    "50 release A1 s0 committed\n"                                                                 \
    "50 answer B1 s0 w f1 50-80 lock=40 by A1\n"                                                   \
    "50 end A1 committed\n"                                                                        \
    "51 begin A2 app a.c:2\n"                                                                      \
    "100 end A2 committed\n"                                                                       \
    "100 release B1 s0 committed\n"                                                                \
    "100 end B1 committed\n"

static void seconds_are_a_part_of_the_run(void **state)
{
    (void)state;
    struct found found;
    find(WAITS, &found);
    const struct wio_txn_finding *finding = finding_of(&found, WIO_LOSS_DATA);
    assert_seconds(found.findings.duration_s, 0.1);
    assert_seconds(found.findings.present_s, 0.2);
    assert_seconds(finding->lost_s, 0.04);
    assert_seconds(finding->share, 0.2);
    assert_seconds(finding->seconds, 0.02);
    assert_int_equal(finding->waits, 1);
    /* the server's own work is told, and is no cause */
    assert_true(wio_loss_words(finding_of(&found, WIO_LOSS_SERVED)->loss)->is_general);
    assert_seconds(finding_of(&found, WIO_LOSS_SERVED)->lost_s, 0.045);
    found_fini(&found);
}

/* With bytes of its own B ends 40 ms earlier, and the run does not: A2 ends with it. */
static void gains_are_of_the_run(void **state)
{
    (void)state;
    struct found found;
    find("0 begin A1 app a.c:1\n"
         "0 answer A1 s0 w f1 0-100\n"
         "0 begin B1 app b.c:1\n"
         "10 arrive B1 s0 w f1 0-100 by A1\n"
         "50 answer A1 s1 w f1 100-200 run=50\n"
         "50 release A1 s0 committed\n"
         "50 release A1 s1 committed\n"
         "50 end A1 committed\n"
         "50 answer B1 s0 w f1 0-100 lock=40 by A1\n"
         "100 release B1 s0 committed\n"
         "100 end B1 committed\n",
         &found);
    const struct wio_txn_finding *finding = finding_of(&found, WIO_LOSS_DATA);
    assert_seconds(finding->gain_s, 0.04);
    assert_seconds(finding->predicted_s, 0.06);
    found_fini(&found);
}

/* Two requests of B wait side by side: its time counts once. */
static void requests_side_by_side_count_once(void **state)
{
    (void)state;
    struct found found;
    find("0 begin A1 app a.c:1\n"
         "0 answer A1 s0 w f1 0-100\n"
         "0 answer A1 s1 w f1 0-100\n"
         "0 begin B1 app b.c:1\n"
         "0 arrive B1 s0 w f1 0-100 by A1\n"
         "0 arrive B1 s1 w f1 0-100 by A1\n"
         "20 answer A1 s0 w f1 0-100 run=20\n"
         "20 release A1 s0 committed\n"
         "20 release A1 s1 committed\n"
         "20 end A1 committed\n"
         "20 answer B1 s0 w f1 0-100 lock=20 by A1\n"
         "20 answer B1 s1 w f1 0-100 lock=20 by A1\n"
         "20 release B1 s0 committed\n"
         "20 release B1 s1 committed\n"
         "20 end B1 committed\n",
         &found);
    const struct wio_txn_finding *finding = finding_of(&found, WIO_LOSS_DATA);
    assert_seconds(finding->wait_s, 0.04);
    assert_seconds(finding->lost_s, 0.02);
    assert_int_equal(finding->servers, 2);
    found_fini(&found);
}

/* What an attempt waited before it was aborted counts as that wait, and not as thrown away too. */
static void waits_of_aborted_attempts_count_once(void **state)
{
    (void)state;
    struct found found;
    find("0 begin A1 app a.c:1\n"
         "0 answer A1 s0 w f1 0-100\n"
         "0 begin B1 app b.c:1\n"
         "0 arrive B1 s0 w f1 0-100 by A1\n"
         "30 answer A1 s0 w f1 0-100 run=30\n"
         "30 release A1 s0 committed\n"
         "30 end A1 committed\n"
         "30 answer B1 s0 w f1 0-100 lock=30 by A1\n"
         "31 begin C1 app c.c:1\n"
         "31 answer C1 s1 w f1 0-10\n"
         "40 answer B1 s1 w f1 0-10 refused by C1\n"
         "40 release B1 s0 aborted\n"
         "40 release B1 s1 aborted\n"
         "40 end B1 aborted\n"
         "41 release C1 s1 committed\n"
         "41 end C1 committed\n",
         &found);
    double lost_s = 0;
    for (uint32_t i = 0; i < found.findings.count; i++) {
        const struct wio_txn_finding *finding = &found.findings.items[i];
        lost_s += finding->aborts + finding->waits > 0 ? finding->lost_s : 0;
    }
    assert_seconds(lost_s, 0.04);
    found_fini(&found);
}

/* A holds the lock for 30 ms in which it asks for nothing; 0.5 ms between requests are no thought.
 */
static void thinking_has_gaps(void **state)
{
    (void)state;
    struct found found;
    find("0 begin A1 app a.c:1\n"
         "0 answer A1 s0 w f1 0-100\n"
         "0 begin B1 app b.c:1\n"
         "0 arrive B1 s0 w f1 0-100 by A1\n"
         "30 release A1 s0 committed\n"
         "30 end A1 committed\n"
         "30 answer B1 s0 w f1 0-100 lock=30 by A1\n"
         "30 release B1 s0 committed\n"
         "30 end B1 committed\n",
         &found);
    assert_seconds(finding_of(&found, WIO_LOSS_THINK)->by_loss_s[WIO_LOSS_THINK], 0.03);
    found_fini(&found);
    find(WAITS, &found);
    assert_seconds(finding_of(&found, WIO_LOSS_DATA)->by_loss_s[WIO_LOSS_THINK], 0);
    found_fini(&found);
}

/* Turned away, without a lock or a transaction there: the attempt is over with that answer. */
static void busy_servers_are_findings(void **state)
{
    (void)state;
    struct found found;
    find("0 begin A1 app a.c:1\n"
         "0 answer A1 s0 w f1 0-100\n"
         "40 answer A1 s0 w f1 0-100 run=40\n"
         "40 release A1 s0 committed\n"
         "40 end A1 committed\n"
         "10 begin B1 app b.c:1\n"
         "30 answer B1 s0 w f1 100-200 busy\n"
         "30 end B1 aborted\n",
         &found);
    const struct wio_txn_finding *finding = finding_of(&found, WIO_LOSS_BUSY);
    assert_int_equal(finding->aborts, 1);
    assert_seconds(finding->lost_s, 0.02);
    assert_string_equal(wio_loss_words(finding->loss)->kind, "server_busy");
    assert_string_equal(wio_loss_words(finding->loss)->cure, "layout");
    const struct wio_abort_source *busiest = &found.aborts.sources.rows[finding->blocker];
    assert_string_equal(wio_abort_sources_place_text(&found.aborts.sources, busiest->place),
                        "a.c:1");
    found_fini(&found);
}

/* Rows of servers alone: no client says that the attempt has ended, and no RELEASE comes. */
static void attempts_turned_away_are_not_open(void **state)
{
    (void)state;
    struct wio_aborts aborts = {0};
    struct wio_txn_row row = {.txn = {7, 1, 1, 1},
                              .kind = WIO_TXN_ANSWER,
                              .result = WIO_TXN_BUSY,
                              .range = {1, 0, 100, 0},
                              .mode = 1};
    wio_aborts_init(&aborts);
    assert_int_equal(wio_aborts_row(&aborts, &row), WIO_OK);
    wio_aborts_finish(&aborts);
    assert_int_equal(aborts.totals.open, 0);
    assert_int_equal(aborts.totals.aborts, 1);
    assert_int_equal(aborts.totals.by_refusal[WIO_REFUSAL_BUSY], 1);
    wio_aborts_fini(&aborts);
}

static void cells_have_marks(void **state)
{
    (void)state;
    struct found found;
    struct wio_exact_tables tables = {0};
    find("0 begin A1 app a.c:1\n"
         "1 answer A1 s0 w f1 0-65536 touched=4096\n"
         "2 begin B1 app b.c:1\n"
         "3 answer B1 s0 w f1 8192-12288 refused by A1\n"
         "9 release B1 s0 aborted\n"
         "9 end B1 aborted\n"
         "9 begin C1 app b.c:1\n"
         "9 answer C1 s1 w f1 0-10 busy\n"
         "10 end C1 aborted\n",
         &found);
    assert_int_equal(wio_exact_tables_find(&found.aborts.exact, &tables), WIO_OK);
    assert_int_equal(tables.count, 1);
    assert_int_equal(tables.tables[0].count, 2);
    assert_int_equal(tables.tables[0].cells[0].mark, WIO_MARK_HATCHED);
    assert_int_equal(tables.tables[0].cells[1].mark, WIO_MARK_DARK);
    assert_int_equal(tables.tables[0].cells[1].source, WIO_SERVER_ITSELF);
    wio_exact_tables_fini(&tables);
    found_fini(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_are_a_part_of_the_run),
        cmocka_unit_test(gains_are_of_the_run),
        cmocka_unit_test(requests_side_by_side_count_once),
        cmocka_unit_test(waits_of_aborted_attempts_count_once),
        cmocka_unit_test(thinking_has_gaps),
        cmocka_unit_test(busy_servers_are_findings),
        cmocka_unit_test(attempts_turned_away_are_not_open),
        cmocka_unit_test(cells_have_marks),
    };
    return WIO_RUN(tests);
}
