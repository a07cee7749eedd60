/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "explain/waiting/path.h"

static struct wio_path *add(struct wio_path *parent, uint32_t step, uint64_t ns)
{
    struct wio_path_part part = {step, ns};
    struct wio_path *path = NULL;

    assert_int_equal(wio_path_create(parent, &part, 1, 0, &path), WIO_OK);
    return path;
}

static uint64_t sum(const struct wio_path *path, uint32_t step)
{
    uint64_t ns = 0;

    for (; path != NULL; path = path->parent) {
        for (uint32_t i = 0; i < path->count; i++) {
            ns += path->parts[i].step == step ? path->parts[i].ns : 0;
        }
    }
    return ns;
}

static unsigned length(const struct wio_path *path)
{
    unsigned count = 0;

    for (; path != NULL; path = path->parent) {
        count++;
    }
    return count;
}

static void a_chain_that_nothing_else_refers_to_stays_short(void **state)
{
    struct wio_path *path = NULL;

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        path = add(path, i % 1000, 2);
        assert_true(length(path) <= 8);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(sum(path, i), 20);
    }
    wio_path_unref(path);
}

static void two_paths_have_the_last_common_node(void **state)
{
    struct wio_path *root = add(NULL, 1, 10);
    struct wio_path *fork = add(wio_path_ref(root), 2, 20);
    struct wio_path *a = add(wio_path_ref(fork), 3, 30);
    struct wio_path *kept = wio_path_ref(a);
    struct wio_path *b = add(wio_path_ref(fork), 3, 40);

    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        a = add(a, 4, 1);
    }
    assert_ptr_equal(wio_path_common(a, b), fork);
    assert_ptr_equal(wio_path_common(a, kept), kept);
    assert_ptr_equal(wio_path_common(a, a), a);
    assert_null(wio_path_common(a, NULL));
    assert_int_equal(sum(a, 4), 100);
    assert_int_equal(sum(a, 3), 30);
    assert_int_equal(sum(b, 3), 40);
    wio_path_unref(root);
    wio_path_unref(fork);
    assert_int_equal(sum(b, 1), 10);
    wio_path_unref(kept);
    wio_path_unref(a);
    wio_path_unref(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_that_nothing_else_refers_to_stays_short),
        cmocka_unit_test(two_paths_have_the_last_common_node),
    };
    return WIO_RUN(tests);
}
