/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "explain/compare/phases.h"

/* One phase per letter: r, w, b (both), m; `files` gives a digit each or is NULL. */
static void make_phases(const char *kinds, const char *files, struct wio_phase *phases,
                        uint32_t *count_out)
{
    static const char letters[] = "rwm";

    *count_out = (uint32_t)strlen(kinds);
    for (uint32_t i = 0; i < *count_out; i++) {
        phases[i] = (struct wio_phase){.ranks = 1, .first_ns = 10 * i, .last_ns = 10 * i + 5};
        phases[i].tally.count = 1;
        phases[i].file = files != NULL ? (uint32_t)(files[i] - '0') : WIO_FILE_SEVERAL;
        if (kinds[i] == 'b') {
            phases[i].weight[WIO_IO_READ] = phases[i].weight[WIO_IO_WRITE] = 1000;
        } else {
            phases[i].weight[strchr(letters, kinds[i]) - letters] = 1000;
        }
    }
}

/* The pairs as text: "0-0 1-. .-1". */
static void align(const char *a_kinds, const char *b_kinds, char *text)
{
    static struct wio_phases a;
    static struct wio_phases b;
    struct wio_phase_pair pairs[2 * WIO_PHASES_MAX];
    uint32_t count;

    make_phases(a_kinds, NULL, a.phases, &a.count);
    make_phases(b_kinds, NULL, b.phases, &b.count);
    count = wio_phases_align(&a, &b, pairs);
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        char *end = text + strlen(text);
        *end++ = pairs[i].a < 0 ? '.' : (char)('0' + pairs[i].a);
        *end++ = pairs[i].b < 0 ? '.' : (char)('0' + pairs[i].b);
        *end++ = ' ';
        *end = '\0';
    }
}

static void equal_runs_match_one_to_one(void **state)
{
    char text[400];

    (void)state;
    align("mwr", "mwr", text);
    assert_string_equal(text, "00 11 22 ");
    align("", "", text);
    assert_string_equal(text, "");
}

static void what_is_missing_stands_alone(void **state)
{
    char text[400];

    (void)state;
    align("mwr", "wr", text);
    assert_string_equal(text, "0. 10 21 ");
    align("wr", "mwbr", text);
    assert_string_equal(text, ".0 01 .2 13 ");
    align("w", "r", text);
    assert_true(strcmp(text, "0. .0 ") == 0 || strcmp(text, ".0 0. ") == 0);
    align("", "w", text);
    assert_string_equal(text, ".0 ");
}

static void the_same_file_is_preferred(void **state)
{
    static struct wio_phases a;
    static struct wio_phases b;
    struct wio_phase_pair pairs[2 * WIO_PHASES_MAX];
    uint32_t count;

    (void)state;
    make_phases("www", "123", a.phases, &a.count);
    make_phases("ww", "13", b.phases, &b.count);
    count = wio_phases_align(&a, &b, pairs);
    assert_int_equal(count, 3);
    assert_int_equal(pairs[0].b, 0);
    assert_int_equal(pairs[1].b, -1);
    assert_int_equal(pairs[2].b, 1);
}

static void ranks_lie_beside_each_other(void **state)
{
    static struct wio_phases all;
    struct wio_phase phases[WIO_PHASES_PER_RANK];
    struct wio_segmenter rank = {.phases = phases};

    (void)state;
    make_phases("wr", NULL, phases, &rank.count);
    wio_phases_add(&all, &rank);
    make_phases("mwr", NULL, phases, &rank.count); /* this one looks at directories first */
    wio_phases_add(&all, &rank);
    make_phases("wr", NULL, phases, &rank.count);
    wio_phases_add(&all, &rank);
    assert_int_equal(all.count, 3);
    assert_int_equal(all.phases[0].ranks, 1);
    assert_int_equal(all.phases[1].ranks, 3);
    assert_int_equal(all.phases[2].tally.count, 3);
}

static void unlike_ranks_stay_within_bounds(void **state)
{
    static struct wio_phases all;
    struct wio_phase phases[WIO_PHASES_PER_RANK];
    struct wio_segmenter rank = {.phases = phases};
    uint64_t seed = 7;
    uint64_t added = 0;
    uint64_t kept = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        char kinds[WIO_PHASES_PER_RANK + 1];
        for (unsigned k = 0; k < WIO_PHASES_PER_RANK; k++) {
            kinds[k] = "rwbm"[wio_test_random(&seed) % 4];
        }
        kinds[WIO_PHASES_PER_RANK] = '\0';
        make_phases(kinds, NULL, phases, &rank.count);
        added += rank.count;
        wio_phases_add(&all, &rank);
        assert_in_range(all.count, 1, WIO_PHASES_MAX);
    }
    for (uint32_t i = 0; i < all.count; i++) {
        kept += all.phases[i].tally.count;
    }
    assert_int_equal(kept, added);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_runs_match_one_to_one),
        cmocka_unit_test(what_is_missing_stands_alone),
        cmocka_unit_test(the_same_file_is_preferred),
        cmocka_unit_test(ranks_lie_beside_each_other),
        cmocka_unit_test(unlike_ranks_stay_within_bounds),
    };
    return WIO_RUN(tests);
}
