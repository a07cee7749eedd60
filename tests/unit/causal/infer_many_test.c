/* SPDX-License-Identifier: Apache-2.0 */
/* One pipe that all processes of a large program have open. */
#define THREADS 40u
#include "infer_script.h"

#define READER 0u

static void use(struct script *s, uint32_t thread, enum wio_op op, uint64_t at, int64_t result)
{
    struct wio_event *event = add(s, thread, op, at, at + 1);
    event->path = 1;
    event->fd = thread == READER ? 3 : 4;
    event->result = result;
}

static void write_and_close(struct script *s, uint32_t thread, uint64_t write_at, uint64_t close_at)
{
    use(s, thread, WIO_OP_write, write_at, 1);
    use(s, thread, WIO_OP_close, close_at, 0);
}

static void all_write_and_close(struct script *s)
{
    for (uint32_t t = 1; t < THREADS; t++) {
        write_and_close(s, t, 10 + t, 100 + t);
    }
}

static void all_sync(struct script *s, uint64_t at)
{
    for (uint32_t t = 0; t < THREADS; t++) {
        (void)add(s, t, WIO_OP_fsync, at + t, at + t + 1);
    }
}

/* A reader that finds its end waits for the last closing of each, however many they are. */
static void all_closers_are_waited_for(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    all_write_and_close(&s);
    write_and_close(&s, 30, 160, 161);
    use(&s, READER, WIO_OP_read, 200, 0);
    all_sync(&s, 300);
    finish(&s);
    assert_int_equal(s.edges.edge_count, THREADS - 1);
    for (uint32_t t = 1; t < THREADS; t++) {
        assert_edge(&s, t, t == 30 ? 2 : 0, READER, 0, WIO_EDGE_HARD);
    }
    end(&s);
}

/* A reader that does not wait finds the end each time it asks. */
static void an_end_is_found_once(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    all_write_and_close(&s);
    for (uint64_t i = 0; i < 200; i++) {
        use(&s, READER, WIO_OP_read, 200 + 2 * i, 0);
    }
    write_and_close(&s, 3, 700, 702);
    use(&s, READER, WIO_OP_read, 704, 0);
    all_sync(&s, 800);
    finish(&s);
    assert_int_equal(s.edges.edge_count, THREADS);
    assert_edge(&s, 3, 0, READER, 0, WIO_EDGE_HARD);
    assert_edge(&s, 3, 2, READER, 200, WIO_EDGE_HARD);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_closers_are_waited_for),
                                       cmocka_unit_test(an_end_is_found_once)};
    return WIO_RUN(tests);
}
