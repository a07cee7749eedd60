/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "job/control.h"
#include "job/quote.h"

static void quotes_come_back(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"4711", "4711"},
        {"dd.4854", "dd.4854"},
        {"a-b_c/d@e", "a-b_c/d@e"},
        {"a:b", "\"a:b\""},
        {"@a", "\"@a\""},
        {"a b", "\"a\\x20b\""},
        {"true", "\"true\""},
        {"1.5", "\"1.5\""},
        {"007", "\"007\""},
        {"-", "\"-\""},
        {"0x1f", "\"0x1f\""},
        {"\"\\", "\"\\x22\\x5C\""},
        {"\n", "\"\\x0A\""},
        {"caf\xc3\xa9", "\"caf\\xC3\\xA9\""},
        {"0", "0"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[64];
        char name[16];
        size_t bytes;
        const size_t length = wio_job_quote(rows[i][0], strlen(rows[i][0]), text);
        assert_int_equal(length, strlen(rows[i][1]));
        assert_memory_equal(text, rows[i][1], length);
        assert_true(wio_job_unquote(text, length, name, sizeof(name), &bytes));
        assert_int_equal(bytes, strlen(rows[i][0]));
        assert_memory_equal(name, rows[i][0], bytes);
    }
}

static void random_names_come_back(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (unsigned round = 0; round < 5000; round++) {
        char name[24];
        char text[WIO_JOB_QUOTED_BYTES(sizeof(name))];
        char back[sizeof(name)];
        size_t bytes = 1 + wio_test_random(&seed) % sizeof(name);
        size_t length;
        for (size_t i = 0; i < bytes; i++) {
            name[i] = (char)(1 + wio_test_random(&seed) % 255);
        }
        length = wio_job_quote(name, bytes, text);
        assert_true(length <= WIO_JOB_QUOTED_BYTES(bytes));
        for (size_t i = 0; i < length; i++) {
            assert_in_range(text[i], 0x21, 0x7e);
        }
        size_t got;
        assert_true(wio_job_unquote(text, length, back, sizeof(back), &got));
        assert_int_equal(got, bytes);
        assert_memory_equal(back, name, bytes);
    }
}

static void wrong_quotes_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",          "\n",       "\"",           "\"\"",
                                        "\"a",       "\"\\x2\"", "\"\\x00\"",    "\"\\n\"",
                                        "\"\\xg0\"", "\"a\"b\"", "\"12345678\"", "123456789"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char name[7];
        size_t bytes;
        assert_false(wio_job_unquote(wrong[i], strlen(wrong[i]), name, sizeof(name), &bytes));
    }
}

struct node {
    struct wio_job_table *table;
    struct wio_job_names *names;
    struct wio_job_settings settings;
};

static void node_init(struct node *node, const char *mode)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    const struct wio_job_table_params params = {.alloc = heap, .policy = wio_job_policy_exit()};
    node->settings = (struct wio_job_settings){.mode = WIO_JOB_MODE_BATCH};
    assert_ok(wio_job_settings_mode(&node->settings, mode, NULL), NULL);
    assert_ok(wio_job_table_create(&params, &node->table), NULL);
    assert_ok(wio_job_names_create(&heap, 0, &node->names), NULL);
}

static void node_fini(struct node *node)
{
    wio_job_table_destroy(node->table);
    wio_job_names_destroy(node->names);
}

static enum wio_status write_line(struct node *node, const char *line, uint64_t now_ns,
                                  struct wio_job_control_result *result)
{
    const struct wio_job_control control = {node->table, node->names, &node->settings, "n7.x"};
    return wio_job_control_write(&control, line, strlen(line), now_ns, result, NULL);
}

static void a_name_purges_its_job_and_what_is_old(void **state)
{
    (void)state;
    const uint64_t s = 1000000000;
    struct node node;
    struct wio_job_control_result result;
    uint32_t jobs[3];
    node_init(&node, "batch");
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(wio_job_names_add(node.names, &"abc"[i], 1, &jobs[i]), NULL);
        assert_ok(wio_job_table_process(node.table, 10 + i, 1,
                                        (struct wio_job_found){jobs[i], false}, WIO_JOB_NO_WATCH,
                                        i * 100 * s),
                  NULL);
    }
    assert_ok(write_line(&node, "c\n", 299 * s, &result), NULL);
    assert_int_equal(result.purged, 1);
    assert_int_equal(result.node, WIO_JOB_PER_PROCESS);
    assert_ok(write_line(&node, "nothing of this name", 300 * s, &result), NULL);
    assert_int_equal(result.purged, 1);
    assert_status(write_line(&node, "\"a", 300 * s, &result), WIO_ERR_USAGE, NULL);
    assert_int_equal(wio_job_table_size(node.table).processes, 1);
    node_fini(&node);
}

static void a_name_is_that_of_the_node(void **state)
{
    (void)state;
    struct node node;
    struct wio_job_control_result result;
    node_init(&node, "nodelocal");
    assert_ok(write_line(&node, "4711\n", 0, &result), NULL);
    assert_string_equal(wio_job_names_text(node.names, result.node, NULL), "4711");
    assert_int_equal(wio_job_table_look(node.table, 12, 0).job, result.node);
    assert_ok(write_line(&node, "job-%H", 0, &result), NULL);
    assert_string_equal(wio_job_names_text(node.names, result.node, NULL), "job-n7");
    assert_status(write_line(&node, "%z", 0, &result), WIO_ERR_USAGE, NULL);
    assert_string_equal(node.settings.format, "job-%H");
    assert_ok(write_line(&node, "%e", 0, &result), NULL);
    assert_int_equal(result.node, WIO_JOB_PER_PROCESS);
    assert_int_equal(wio_job_table_look(node.table, 12, 0).answer, WIO_JOB_UNKNOWN);
    node_fini(&node);
}

static void policies_have_names(void **state)
{
    (void)state;
    struct wio_job_policy policy;
    assert_true(wio_job_policy_find("lustre", &policy));
    assert_int_equal(policy.refresh_ns, 30 * UINT64_C(1000000000));
    assert_int_equal(policy.purge_ns, 300 * UINT64_C(1000000000));
    assert_false(policy.evicts_at_exit);
    assert_true(wio_job_policy_find("exit", &policy));
    assert_true(policy.evicts_at_exit);
    assert_false(wio_job_policy_find("other", &policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_come_back),
        cmocka_unit_test(random_names_come_back),
        cmocka_unit_test(wrong_quotes_are_refused),
        cmocka_unit_test(a_name_purges_its_job_and_what_is_old),
        cmocka_unit_test(a_name_is_that_of_the_node),
        cmocka_unit_test(policies_have_names),
    };
    return WIO_RUN(tests);
}
