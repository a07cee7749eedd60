/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and what is looked at, case by case: losses and moments that no program can arrange. */
#include <sys/socket.h>

#include "infer_script.h"

#include <errno.h>

#define SENDER_SOCKET 4
#define SERVER_SOCKET 5
#define SERVER_ADDRESS 6
#define CONNECTION 8
#define ELSEWHERE 9
#define UNIX_CONNECTION 11
#define UNIX_SOCKET 12
#define OTHER_UNIX_SOCKET 13

/* Thread 0 has a socket with an address. */
static void serve(struct script *script)
{
    begin(script, false);
    add_args(script, 0, WIO_OP_socket, 1, 1, (int64_t[4]){2, SOCK_DGRAM})->path = SERVER_SOCKET;
    struct wio_event *bound = add(script, 0, WIO_OP_bind, 2, 2);
    bound->path = SERVER_SOCKET;
    bound->path2 = SERVER_ADDRESS;
}

static void send_to(struct script *script, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                    int64_t bytes)
{
    (void)add(script, thread, WIO_OP_chmod, begin_ns, begin_ns);
    struct wio_event *event = add(script, thread, WIO_OP_sendto, begin_ns, end_ns);
    event->path = SENDER_SOCKET;
    event->path2 = SERVER_ADDRESS;
    event->size = (uint64_t)bytes;
    event->result = bytes;
}

static void receive(struct script *script, uint64_t begin_ns, uint64_t end_ns, uint64_t room,
                    int64_t bytes)
{
    struct wio_event *event = add(script, 0, WIO_OP_recv, begin_ns, end_ns);
    event->path = SERVER_SOCKET;
    event->size = room;
    event->result = bytes;
}

static void a_message_that_is_cut_is_gone(void **state)
{
    (void)state;
    struct script s;
    serve(&s);
    send_to(&s, 1, 10, 11, 100);
    send_to(&s, 1, 20, 21, 90);
    receive(&s, 12, 13, 10, 10);
    receive(&s, 22, 23, 90, 90);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 1, 0, 0, 2, WIO_EDGE_HARD);
    assert_edge(&s, 1, 2, 0, 3, WIO_EDGE_HARD);
    end(&s);
}

/* The kernel had no room for the first one. */
static void a_lost_message_is_told_by_its_size(void **state)
{
    (void)state;
    struct script s;
    serve(&s);
    send_to(&s, 1, 10, 11, 100);
    send_to(&s, 1, 20, 21, 7);
    receive(&s, 12, 30, 1000, 7);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 2, 0, 2, WIO_EDGE_HARD);
    end(&s);
}

static void messages_at_the_same_time_are_nobodys(void **state)
{
    (void)state;
    struct script s;
    serve(&s);
    send_to(&s, 1, 10, 20, 7);
    send_to(&s, 2, 15, 25, 7);
    send_to(&s, 1, 30, 35, 8);
    receive(&s, 12, 26, 1000, 7);
    receive(&s, 27, 40, 1000, 8);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 2, 0, 3, WIO_EDGE_HARD);
    end(&s);
}

/* Of more than are kept the oldest is not known any more; a read that finds none ends it. */
static void of_too_many_messages_the_oldest_is_nobodys(void **state)
{
    (void)state;
    for (int64_t others = 4095; others <= 4096; others++) {
        struct script s;
        serve(&s);
        send_to(&s, 1, 10, 11, 8);
        send_to(&s, 2, 20, 21, 8);
        struct wio_event *many = &s.events[s.count - 1];
        many->op = WIO_OP_sendmmsg;
        many->arg[1] = others;
        receive(&s, 30, 31, 100, 8);
        receive(&s, 32, 33, 100, 8);
        receive(&s, 34, 35, 100, -1);
        s.events[s.count - 1].error = EAGAIN;
        send_to(&s, 1, 40, 41, 9);
        receive(&s, 50, 51, 100, 9);
        finish(&s);
        assert_int_equal(s.edges.edge_count, others == 4095 ? 3 : 2);
        if (others == 4095) {
            assert_edge(&s, 1, 0, 0, 2, WIO_EDGE_HARD);
        }
        assert_edge(&s, 2, 0, 0, 3, WIO_EDGE_HARD);
        assert_edge(&s, 1, 2, 0, 5, WIO_EDGE_HARD);
        end(&s);
    }
}

/* A trace that is broken must not keep the inference busy for ever. */
static void counts_of_messages_may_be_anything(void **state)
{
    (void)state;
    static const int64_t counts[] = {INT64_MIN, -1, 0, INT64_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct script s;
        serve(&s);
        send_to(&s, 1, 10, 11, 8);
        receive(&s, 20, 21, 100, 8);
        send_to(&s, 1, 30, 31, 8);
        for (size_t n = 0; n < s.count; n++) {
            bool sends_first = s.events[n].op == WIO_OP_sendto && s.events[n].t_ns == 10;
            if (s.events[n].op == WIO_OP_recv || s.events[n].op == WIO_OP_sendto) {
                s.events[n].op = s.events[n].op == WIO_OP_recv ? WIO_OP_recvmmsg : WIO_OP_sendmmsg;
                s.events[n].arg[1] = sends_first ? 1 : counts[i];
            }
        }
        finish(&s);
        assert_int_equal(s.edges.edge_count, counts[i] > 0 ? 1 : 0);
        end(&s);
    }
}

/* Thread 1 connects to thread 0, which has accepted at `accept_ns`. */
static void connect_stream(struct script *script, uint64_t accept_ns)
{
    struct wio_event *connect = add(script, 1, WIO_OP_connect, 5, 8);
    connect->path = SENDER_SOCKET;
    connect->path2 = CONNECTION;
    struct wio_event *accept = add(script, 0, WIO_OP_accept, 6, accept_ns);
    accept->path = SERVER_SOCKET;
    accept->path2 = CONNECTION;
}

/* Connections within two hosts that have the same ports on both. */
static void loopback_is_of_one_host(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    for (uint32_t t = 0; t < THREADS; t++) {
        bool accepts = t % 2 == 1;
        s.processes[t].host = t / 2;
        (void)add(&s, t, WIO_OP_fsync, 1, 2);
        struct wio_event *event =
            add(&s, t, accepts ? WIO_OP_accept : WIO_OP_connect, 5 + t, accepts ? 40 - t : 10 + t);
        event->path = accepts ? SERVER_SOCKET : SENDER_SOCKET;
        event->path2 = CONNECTION;
    }
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 0, 0, 1, 1, WIO_EDGE_HARD);
    assert_edge(&s, 2, 0, 3, 1, WIO_EDGE_HARD);
    end(&s);
}

/* The kernel does not look at the address; sent before or after the accept is done. */
static void an_address_does_not_take_bytes_out_of_a_stream(void **state)
{
    (void)state;
    for (uint64_t accept_ns = 9; accept_ns <= 15; accept_ns += 6) {
        struct script s;
        begin(&s, false);
        connect_stream(&s, accept_ns);
        send_to(&s, 1, 10, 11, 100);
        send_to(&s, 1, 12, 13, 50);
        receive(&s, 20, 21, 100, 100);
        receive(&s, 22, 23, 100, 50);
        finish(&s);
        assert_edge(&s, 1, 1, 0, 1, WIO_EDGE_HARD);
        assert_edge(&s, 1, 3, 0, 2, WIO_EDGE_HARD);
        assert_int_equal(wio_infer_left(s.infer).read_bytes, 0);
        end(&s);
    }
}

static void over_unix(struct script *s, uint32_t thread, enum wio_op op, uint64_t begin_ns,
                      uint64_t end_ns, uint32_t socket, int64_t peer)
{
    struct wio_event *event = add(s, thread, op, begin_ns, end_ns);
    event->path = socket;
    event->path2 = UNIX_CONNECTION;
    event->arg[1] = peer;
}

/* Threads 2 and 3 of one process connect at the same time: the one that ends first need not be
 * first. */
static void an_accept_names_the_peer(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add(&s, 2, WIO_OP_chmod, 1, 1);
    (void)add(&s, 3, WIO_OP_chmod, 2, 2);
    over_unix(&s, 2, WIO_OP_connect, 5, 9, SENDER_SOCKET, 0);      /* inode 4 */
    over_unix(&s, 0, WIO_OP_accept, 5, 7, UNIX_SOCKET, 4);         /* .. comes sooner */
    over_unix(&s, 3, WIO_OP_connect, 6, 8, SERVER_SOCKET, 0);      /* inode 5 */
    over_unix(&s, 0, WIO_OP_accept, 10, 11, OTHER_UNIX_SOCKET, 5); /* .. and later */
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 2, 0, 0, 0, WIO_EDGE_HARD);
    assert_edge(&s, 3, 0, 0, 1, WIO_EDGE_HARD);
    end(&s);
}

/* Data of a stream that is not connected yet (TCP Fast Open) is no datagram to that port. */
static void a_stream_sends_no_datagram(void **state)
{
    (void)state;
    struct script s;
    serve(&s);
    add_args(&s, 1, WIO_OP_socket, 3, 3, (int64_t[4]){2, SOCK_STREAM | SOCK_CLOEXEC})->path =
        SENDER_SOCKET;
    send_to(&s, 1, 10, 11, 100);
    receive(&s, 20, 21, 100, 100);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    end(&s);
}

static void a_connected_datagram_goes_where_it_is_sent(void **state)
{
    (void)state;
    struct script s;
    serve(&s);
    struct wio_event *connect = add(&s, 1, WIO_OP_connect, 5, 6);
    connect->path = SENDER_SOCKET;
    connect->path2 = ELSEWHERE;
    send_to(&s, 1, 10, 11, 100);
    receive(&s, 20, 21, 100, 100);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 1, 0, 2, WIO_EDGE_HARD);
    end(&s);
}

/* A splice that must wait for its reader cannot be what the reader waits for. */
static void a_splice_into_a_full_pipe_makes_no_cycle(void **state)
{
    (void)state;
    for (int64_t bytes = 10; bytes <= 100000; bytes += 99990) {
        struct script s;
        begin(&s, false);
        (void)add(&s, 0, WIO_OP_chmod, 5, 5);
        struct wio_event *splice = add(&s, 0, WIO_OP_splice, 10, 60);
        splice->path = 7;
        splice->path2 = 1;
        splice->result = bytes;
        struct wio_event *read = add(&s, 1, WIO_OP_read, 20, 50);
        read->path = 7;
        read->size = (uint64_t)bytes;
        read->result = bytes;
        finish(&s);
        assert_edge(&s, 0, bytes == 10 ? 1 : 0, 1, 0, WIO_EDGE_HARD);
        end(&s);
    }
}

static void a_look_takes_nothing(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add(&s, 0, WIO_OP_chmod, 5, 5);
    struct wio_event *write = add(&s, 0, WIO_OP_write, 10, 11);
    write->path = 1;
    write->result = 8;
    for (int i = 0; i < 2; i++) {
        struct wio_event *tee = add(&s, 1, WIO_OP_tee, 12 + (uint64_t)i, 20 + (uint64_t)i);
        tee->path2 = 1;
        tee->result = 8;
    }
    struct wio_event *read = add(&s, 1, WIO_OP_read, 30, 31);
    read->path = 1;
    read->result = 8;
    finish(&s);
    assert_edge(&s, 0, 0, 1, 0, WIO_EDGE_HARD); /* the second look is behind the first */
    assert_edge(&s, 0, 0, 1, 2, WIO_EDGE_HARD);
    end(&s);
}

/* A persistent one that was started, MPI_Ssend_init. */
static void a_started_synchronous_send_is_a_meeting(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    join_world(&s, 2);
    (void)add_args(&s, 0, WIO_OP_MPI_Start, 10, 11, (int64_t[4]){0, 1, 0, 0});
    add_args(&s, 0, WIO_OP_mpi_ssend, 10, 11, (int64_t[4]){7, 1, 5, 1})->flags = WIO_EVENT_CAUSED;
    (void)add_args(&s, 1, WIO_OP_MPI_Recv, 20, 25, (int64_t[4]){7, 0, 5, 0});
    (void)add_args(&s, 0, WIO_OP_MPI_Wait, 12, 26, (int64_t[4]){0, 1, 1, 0});
    add_args(&s, 0, WIO_OP_mpi_done, 12, 26, (int64_t[4]){7, -1, -1, 1})->flags = WIO_EVENT_CAUSED;
    finish(&s);
    assert_int_equal(s.edges.collective_count, 1);
    end(&s);
}

static void send_and_receive(struct script *script, uint64_t send_end_ns, uint64_t receive_ns,
                             uint64_t bytes)
{
    (void)add(script, 1, WIO_OP_write, receive_ns - 1, receive_ns - 1);
    add_args(script, 0, WIO_OP_MPI_Send, receive_ns - 10, send_end_ns, (int64_t[4]){7, 1, 5, 0})
        ->size = bytes;
    (void)add_args(script, 1, WIO_OP_MPI_Recv, receive_ns, receive_ns + 20,
                   (int64_t[4]){7, 0, 5, 0});
}

/* MPI_Send of much waits for its receive, unless one of as much did not. */
static void a_large_send_waits_for_its_receive(void **state)
{
    (void)state;
    for (int eager = 0; eager < 2; eager++) {
        struct script s;
        begin(&s, false);
        join_world(&s, 2);
        send_and_receive(&s, 35, 30, 300000);
        send_and_receive(&s, 135, 130, 200000);
        send_and_receive(&s, eager ? 225 : 235, 230, 300000);
        finish(&s);
        assert_int_equal(s.edges.edge_count, eager ? 3 : 5);
        if (!eager) {
            assert_edge(&s, 1, 1, 0, 1, WIO_EDGE_HARD);
            assert_edge(&s, 1, 5, 0, 3, WIO_EDGE_HARD);
        }
        end(&s);
    }
}

/* A rank that waits in an intercommunicator waits for the other group only: times must tell. */
static void a_group_does_not_wait_for_itself(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    for (uint32_t r = 0; r < 3; r++) {
        (void)add_args(&s, r, WIO_OP_mpi_comm, 1, 1, (int64_t[4]){7, r, 3, 1});
        (void)add(&s, r, WIO_OP_write, 5, 6);
    }
    (void)add_args(&s, 0, WIO_OP_MPI_Allreduce, 10, 30, (int64_t[4]){7, 0, -1, 0});
    (void)add_args(&s, 1, WIO_OP_MPI_Allreduce, 25, 50, (int64_t[4]){7, 0, -1, 0});
    (void)add_args(&s, 2, WIO_OP_MPI_Allreduce, 40, 50, (int64_t[4]){7, 0, -1, 0});
    finish(&s);
    assert_int_equal(s.edges.collective_count + s.edges.edge_count, 0);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_that_is_cut_is_gone),
        cmocka_unit_test(a_lost_message_is_told_by_its_size),
        cmocka_unit_test(messages_at_the_same_time_are_nobodys),
        cmocka_unit_test(of_too_many_messages_the_oldest_is_nobodys),
        cmocka_unit_test(counts_of_messages_may_be_anything),
        cmocka_unit_test(loopback_is_of_one_host),
        cmocka_unit_test(an_address_does_not_take_bytes_out_of_a_stream),
        cmocka_unit_test(a_stream_sends_no_datagram),
        cmocka_unit_test(a_connected_datagram_goes_where_it_is_sent),
        cmocka_unit_test(an_accept_names_the_peer),
        cmocka_unit_test(a_splice_into_a_full_pipe_makes_no_cycle),
        cmocka_unit_test(a_look_takes_nothing),
        cmocka_unit_test(a_started_synchronous_send_is_a_meeting),
        cmocka_unit_test(a_large_send_waits_for_its_receive),
        cmocka_unit_test(a_group_does_not_wait_for_itself),
    };
    return WIO_RUN(tests);
}
