/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that libc starts inside of system(), popen() and pclose(). */
#include "infer_script.h"

#define LATER 1000u /* an operation behind all else */

/* Process `child` is thread 0's, begins then and ends with its second operation. */
static void run_child(struct script *script, uint32_t child, uint64_t at_ns)
{
    script->processes[child].parent = 0;
    script->processes[child].start_ns = at_ns;
    (void)add(script, child, WIO_OP_chmod, at_ns + 1, at_ns + 2);
    (void)add(script, child, WIO_OP_chmod, at_ns + 3, at_ns + 4);
}

/* What the child of system() did lies within the call. */
static void system_waits_for_its_child(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add(&s, 0, WIO_OP_fsync, 1, 2);
    (void)add(&s, 0, WIO_OP_system, 10, 30);
    (void)add(&s, 0, WIO_OP_fsync, LATER, LATER + 1);
    run_child(&s, 1, 12);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 0, 0, 1, 0, WIO_EDGE_HARD);
    assert_edge(&s, 1, 1, 0, 1, WIO_EDGE_HARD);
    end(&s);
}

/* It does not say which process it made: of two that began meanwhile it is neither, and one that
 * began before or behind it is another's. */
static void system_takes_no_child_by_guess(void **state)
{
    (void)state;
    static const uint64_t starts_ns[][2] = {{12, 14}, {4, 40}};
    for (size_t i = 0; i < 2; i++) {
        struct script s;
        begin(&s, false);
        (void)add(&s, 0, WIO_OP_fsync, 1, 2);
        (void)add(&s, 0, WIO_OP_system, 10, 30);
        run_child(&s, 1, starts_ns[i][0]);
        run_child(&s, 2, starts_ns[i][1]);
        finish(&s);
        assert_int_equal(s.edges.edge_count, 0);
        end(&s);
    }
}

static void a_failed_call_made_no_process(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add(&s, 0, WIO_OP_fsync, 1, 2);
    add(&s, 0, WIO_OP_system, 10, 30)->error = 11;
    run_child(&s, 1, 12);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    end(&s);
}

/* popen() says which process it made; pclose() of another stream does not wait for it. */
static void pclose_waits_for_its_own(void **state)
{
    (void)state;
    for (int stream = 5; stream < 7; stream++) {
        struct script s;
        begin(&s, false);
        (void)add(&s, 0, WIO_OP_fsync, 1, 2);
        add_args(&s, 0, WIO_OP_popen, 10, 11, (int64_t[4]){0, 0, 102})->result = 5;
        run_child(&s, 1, 12);
        run_child(&s, 2, 14);
        add(&s, 0, WIO_OP_pclose, 30, 40)->fd = stream;
        finish(&s);
        assert_int_equal(s.edges.edge_count, stream == 5 ? 2 : 1);
        assert_edge(&s, 0, 0, 2, 0, WIO_EDGE_HARD);
        if (stream == 5) {
            assert_edge(&s, 2, 1, 0, 2, WIO_EDGE_HARD);
        }
        end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(system_waits_for_its_child),
                                       cmocka_unit_test(system_takes_no_child_by_guess),
                                       cmocka_unit_test(a_failed_call_made_no_process),
                                       cmocka_unit_test(pclose_waits_for_its_own)};
    return WIO_RUN(tests);
}
