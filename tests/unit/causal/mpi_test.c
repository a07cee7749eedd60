/* SPDX-License-Identifier: Apache-2.0 */
/* Receives that are posted long before their message comes, and those behind them. */
#include "infer_script.h"

#define ANY (-1)
#define TAG 3
#define STOP 99

static void send(struct script *s, uint64_t at, int64_t tag)
{
    (void)add_args(s, 0, WIO_OP_MPI_Send, at, at + 1, (int64_t[4]){7, 1, tag, 0});
}

static void receive(struct script *s, uint64_t at, int64_t tag)
{
    (void)add_args(s, 1, WIO_OP_MPI_Recv, at, at + 1, (int64_t[4]){7, 0, tag, 0});
}

static void post(struct script *s, uint64_t at, int64_t source, int64_t tag, int64_t key)
{
    (void)add_args(s, 1, WIO_OP_MPI_Irecv, at, at + 1, (int64_t[4]){7, source, tag, key});
}

static void end_post(struct script *s, uint64_t at, int64_t tag, int64_t key)
{
    add_args(s, 1, WIO_OP_mpi_done, at, at, (int64_t[4]){0, 0, tag, key})->flags = WIO_EVENT_CAUSED;
}

static void begin_pair(struct script *s)
{
    begin(s, false);
    join_world(s, 2);
}

/* It waits for a message of another tag all the time: edges of those behind it are known at once,
 * not in the end. */
static void an_open_receive_keeps_no_rank(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct script s;
    begin_pair(&s);
    post(&s, 5, ANY, STOP, 11);
    for (uint64_t i = 0; i < 10; i++) {
        send(&s, 10 + 10 * i, TAG);
        receive(&s, 15 + 10 * i, TAG);
    }
    post(&s, 200, ANY, ANY, 12);
    post(&s, 205, 0, TAG, 13);
    send(&s, 210, TAG);
    send(&s, 215, TAG);
    end_post(&s, 220, TAG, 13);
    assert_int_equal(feed_all(&s, &heap), WIO_OK);
    assert_int_equal(s.edges.edge_count, 10);
    assert_int_equal(wio_infer_finish(s.infer), WIO_OK);
    end(&s);
}

/* Behind a receive that may have taken the message: it has taken the first one, though it is done
 * last. */
static void messages_meet_receives_as_these_were_posted(void **state)
{
    static const int64_t posted[][2] = {{ANY, TAG}, {0, ANY}, {ANY, ANY}, {0, TAG}};
    (void)state;
    for (size_t i = 0; i < sizeof(posted) / sizeof(posted[0]); i++) {
        struct script s;
        begin_pair(&s);
        post(&s, 5, ANY, STOP, 11);
        post(&s, 10, posted[i][0], posted[i][1], 12);
        send(&s, 15, TAG);
        (void)add(&s, 0, WIO_OP_fsync, 17, 18);
        send(&s, 20, TAG);
        receive(&s, 25, TAG);
        end_post(&s, 30, TAG, 12);
        finish(&s);
        assert_int_equal(s.edges.edge_count, 2);
        assert_edge(&s, 0, 0, 1, 4, WIO_EDGE_HARD); /* the first to mpi_done */
        assert_edge(&s, 0, 2, 1, 3, WIO_EDGE_HARD);
        end(&s);
    }
}

/* More are open than the inference looks past: in the end all have met all the same. */
static void many_open_receives(void **state)
{
    (void)state;
    struct script s;
    begin_pair(&s);
    for (int64_t i = 0; i < 20; i++) {
        post(&s, 5 + (uint64_t)i, ANY, STOP + i, 100 + i);
    }
    for (uint64_t i = 0; i < 10; i++) {
        send(&s, 50 + 10 * i, TAG);
        receive(&s, 55 + 10 * i, TAG);
    }
    for (int64_t i = 19; i >= 0; i--) {
        send(&s, 300 - (uint64_t)i, STOP + i);
        end_post(&s, 400 - (uint64_t)i, STOP + i, 100 + i);
    }
    finish(&s);
    assert_int_equal(s.edges.edge_count, 30);
    assert_int_equal(wio_infer_left(s.infer).sends, 0);
    assert_int_equal(wio_infer_left(s.infer).receives, 0);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_receive_keeps_no_rank),
        cmocka_unit_test(messages_meet_receives_as_these_were_posted),
        cmocka_unit_test(many_open_receives),
    };
    return WIO_RUN(tests);
}
