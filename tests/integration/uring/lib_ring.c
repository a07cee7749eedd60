/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_uring by liburing: `lib_ring FILE REQUESTS [index]`. One thread waits for a completion until a
 * signal handler jumps out of liburing; then it collects what another thread submits. With `index`
 * one thread does both, the ring's descriptor is closed, and a signal handler writes while the
 * thread waits. Prints what raw_ring prints. Exit 77
 * where the kernel has no io_uring.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH 64
#define BYTES 64

static struct io_uring ring;
static int file;
static long total;
static sigjmp_buf out;

static void jump(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static void wait_in_vain(void)
{
    struct io_uring_cqe *cqe;
    (void)signal(SIGALRM, jump);
    if (sigsetjmp(out, 1) == 0) {
        (void)ualarm(20000, 0);
        (void)io_uring_wait_cqe(&ring, &cqe);
    }
}

static void submit(long i)
{
    static char data[BYTES];
    struct io_uring_sqe *sqe;
    while ((sqe = io_uring_get_sqe(&ring)) == NULL) {
        (void)io_uring_submit(&ring);
    }
    io_uring_prep_write(sqe, file, data, BYTES, (unsigned long)i * BYTES);
    sqe->user_data = (unsigned long)i;
    (void)printf("write %ld %d\n", i * BYTES, BYTES);
    (void)io_uring_submit(&ring);
}

static void *submit_all(void *unused)
{
    (void)unused;
    for (long i = 0; i < total; i++) {
        submit(i);
    }
    return NULL;
}

/* The bytes that the request has written. */
static long collect(void)
{
    struct io_uring_cqe *cqe;
    if (io_uring_wait_cqe(&ring, &cqe) != 0) {
        exit(1);
    }
    long bytes = cqe->res;
    io_uring_cqe_seen(&ring, cqe);
    return bytes;
}

static long by_two_threads(void)
{
    pthread_t thread;
    long bytes = 0;
    wait_in_vain();
    if (pthread_create(&thread, NULL, submit_all, NULL) != 0) {
        exit(1);
    }
    for (long i = 0; i < total; i++) {
        bytes += collect();
    }
    (void)pthread_join(thread, NULL);
    return bytes;
}

static void write_mark(int number)
{
    static volatile sig_atomic_t has_written;
    (void)number;
    if (has_written != 0) {
        return;
    }
    has_written = 1;
    if (pwrite(file, "!", 1, total * BYTES) != 1) {
        _exit(1);
    }
}

/* Nothing ever ends: the wait does, by the signal, which comes again where the first one came
 * before the wait. */
static void wait_for_handler(void)
{
    struct sigaction action = {.sa_handler = write_mark};
    (void)sigaction(SIGALRM, &action, NULL);
    (void)ualarm(20000, 20000);
    if (io_uring_enter((unsigned)ring.ring_fd, 0, 1, IORING_ENTER_GETEVENTS, NULL) != -EINTR) {
        exit(1);
    }
    (void)ualarm(0, 0);
}

/* What io_uring_close_ring_fd of newer liburings does. */
static long by_index(void)
{
    long bytes = 0;
    wait_for_handler();
    if (io_uring_register_ring_fd(&ring) != 1 || close(ring.ring_fd) != 0) {
        exit(77);
    }
    ring.ring_fd = -1;
    for (long i = 0; i < total; i++) {
        submit(i);
        bytes += collect();
    }
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return 2;
    }
    total = atol(argv[2]);
    file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (io_uring_queue_init(DEPTH, &ring, 0) != 0) {
        return 77;
    }
    long bytes = argc > 3 ? by_index() : by_two_threads();
    io_uring_queue_exit(&ring);
    (void)printf("sum %ld %ld\n", total, bytes);
    return 0;
}
