/* SPDX-License-Identifier: Apache-2.0 */
/* The table of descriptors of this very process beside what the kernel says of them. */
#include "support/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <whyio/event.h>

#include "tracer/fds.h"
#include "tracer/tracee.h"

struct fixture {
    struct tracer_process process;
    struct tracer_thread thread;
    int dir;
};

static void begin(struct fixture *fixture)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_ring_image image = {.pid = getpid(), .host = "h", .first_string = 1};
    *fixture = (struct fixture){.dir = open(wio_test_dir(), O_RDONLY | O_DIRECTORY)};
    fixture->process.pid = getpid();
    fixture->thread = (struct tracer_thread){.tid = getpid(), .process = &fixture->process};
    assert_ok(wio_ring_writer_create(fixture->dir, &image, &fixture->process.ring, &err), &err);
    wio_ring_stream_init(&fixture->thread.stream, &fixture->process.ring, getpid(), getpid(), 0);
}

static void end(struct fixture *fixture)
{
    tracer_fds_fini(&fixture->process.fds);
    wio_ring_stream_fini(&fixture->thread.stream);
    wio_ring_writer_close(&fixture->process.ring);
    (void)close(fixture->dir);
}

static int64_t position(int fd)
{
    return lseek(fd, 0, SEEK_CUR);
}

/* Random reads, writes and seeks by two descriptors, which are one open file for a while. */
static void positions_are_those_of_the_kernel(void **state)
{
    struct fixture f;
    char bytes[64] = {0};
    uint64_t seed = 3;
    char *path = wio_test_path("file");
    (void)state;
    begin(&f);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    tracer_fd_set(&f.thread, fd, 5, O_RDWR);
    int copy = -1;
    for (int i = 0; i < 2000; i++) {
        const uint64_t what = wio_test_random(&seed) % 40;
        const int64_t before = position(fd);
        if (what == 0 && copy < 0) {
            copy = dup(fd);
            tracer_fd_dup(&f.thread, fd, copy);
        } else if (what == 1 && copy >= 0) {
            tracer_fd_clear(&f.thread, copy);
            (void)close(copy);
            copy = -1;
        } else if (what < 10) {
            const int64_t pos = lseek(fd, (off_t)(wio_test_random(&seed) % 1000), SEEK_SET);
            tracer_fd_seek(&f.thread, fd, pos);
        } else if (what < 25) {
            const int used = copy >= 0 && what % 2 == 0 ? copy : fd;
            const ssize_t done = write(used, bytes, wio_test_random(&seed) % sizeof(bytes));
            assert_int_equal(tracer_fd_advance(&f.thread, used, done), before);
        } else {
            const ssize_t done = read(fd, bytes, wio_test_random(&seed) % sizeof(bytes));
            assert_int_equal(tracer_fd_advance(&f.thread, fd, done), before);
        }
    }
    (void)close(fd);
    free(path);
    end(&f);
}

static void names_and_kinds(void **state)
{
    struct fixture f;
    int ends[2];
    (void)state;
    begin(&f);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_not_equal(tracer_fd_path(&f.thread, ends[0]), WIO_NO_STRING);
    assert_int_equal(tracer_fd_path(&f.thread, ends[0]), tracer_fd_path(&f.thread, ends[0]));
    assert_true(tracer_fd_advance(&f.thread, ends[0], 5) == WIO_NO_OFFSET);
    assert_int_equal(tracer_fd_path(&f.thread, -1), WIO_NO_STRING);
    assert_int_equal(tracer_fd_path(&f.thread, INT32_MAX), WIO_NO_STRING);
    tracer_fd_set(&f.thread, INT32_MAX, 3, 0); /* beyond the table: no memory is taken for it */
    tracer_fd_clear_range(&f.thread, 0, UINT32_MAX);
    assert_true(tracer_fd_advance(&f.thread, ends[0], 5) == WIO_NO_OFFSET);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(positions_are_those_of_the_kernel),
                                       cmocka_unit_test(names_and_kinds)};
    return WIO_RUN(tests);
}
