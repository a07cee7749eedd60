/* SPDX-License-Identifier: Apache-2.0 */
/* R-META-1: what the machine said of itself. R-META-2: the options of the recorder. */
#include "support/unit.h"

#include <string.h>

#include "trace/read/recorders.h"

static bool fact(const char *text, const char *name, uint64_t *out)
{
    const struct wio_recorder_info info = {.machine = text, .machine_bytes = strlen(text)};
    return wio_recorder_fact(&info, name, out);
}

static void finds_numbers_by_name(void **state)
{
    (void)state;
    static const char text[] = "dirty_ratio 20\nunknown 1\nmemory_total 18446744073709551609\n"
                               "no number\nmemory_group_limit 7";
    uint64_t value = 0;
    assert_true(fact(text, "dirty_ratio", &value) && value == 20);
    assert_true(fact(text, "memory_total", &value) && value == UINT64_MAX - 6);
    assert_true(fact(text, "memory_group_limit", &value) && value == 7);
    assert_false(fact(text, "dirty", &value));
    assert_false(fact(text, "memory_group_usage", &value));
}

static void what_is_no_number_is_not_known(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n\n",
                                        "dirty_ratio",
                                        "dirty_ratio ",
                                        "dirty_ratio -1",
                                        "dirty_ratio 1 2",
                                        "dirty_ratio 0x10",
                                        "dirty_ratio 99999999999999999999"};
    uint64_t value;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(fact(texts[i], "dirty_ratio", &value));
    }
}

static bool has_option(const char *text, const char *name)
{
    const struct wio_recorder_info info = {.options = text, .options_bytes = strlen(text)};
    return wio_recorder_has_option(&info, name);
}

static void options_are_whole_words(void **state)
{
    (void)state;
    assert_true(has_option("causal", "causal"));
    assert_true(has_option("stacks causal ", "causal"));
    assert_true(has_option("  causal stacks", "causal"));
    assert_false(has_option("", "causal"));
    assert_false(has_option("no-causal causality caus", "causal"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_numbers_by_name),
        cmocka_unit_test(what_is_no_number_is_not_known),
        cmocka_unit_test(options_are_whole_words),
    };
    return WIO_RUN(tests);
}
