/* SPDX-License-Identifier: Apache-2.0 */
/* Both ways to ask the kernel for asynchronous I/O give the same results. */
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "replay/run/engine.h"

#define REQUESTS 200u
#define BYTES 4096u

struct results {
    int64_t result[REQUESTS];
    bool is_done[REQUESTS];
    uint32_t count;
};

static void note(void *arg, uint32_t tag, int64_t result)
{
    struct results *results = arg;
    assert_true(tag < REQUESTS);
    assert_false(results->is_done[tag]);
    results->is_done[tag] = true;
    results->result[tag] = result;
    results->count++;
}

static void run(const struct rp_engine *engine, void *self, enum rp_engine_op op, int fd,
                struct results *results)
{
    static uint8_t data[REQUESTS * BYTES];
    *results = (struct results){.count = 0};
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const struct rp_engine_request request = {
            op, fd, data + (size_t)i * BYTES, BYTES, (int64_t)i * BYTES, i};
        engine->add(self, &request, note, results);
    }
    engine->flush(self, note, results);
    while (results->count < REQUESTS) {
        assert_true(engine->reap(self, note, results));
    }
}

static void assert_all(const struct results *results, int64_t wanted)
{
    for (uint32_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(results->result[i], wanted);
    }
}

static void try_engine(const struct rp_engine *engine)
{
    struct results results;
    void *self = engine == NULL ? NULL : engine->create(REQUESTS);
    if (self == NULL) {
        (void)fprintf(stderr, "# %s is not there\n", engine == NULL ? "io_uring" : engine->name);
        return;
    }
    char *path = wio_test_path(engine->name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    run(engine, self, RP_ENGINE_READ, fd, &results);
    assert_all(&results, 0); /* the end of an empty file */
    run(engine, self, RP_ENGINE_WRITE, fd, &results);
    assert_all(&results, BYTES);
    assert_int_equal(lseek(fd, 0, SEEK_END), REQUESTS * BYTES);
    run(engine, self, RP_ENGINE_READ, fd, &results);
    assert_all(&results, BYTES);
    run(engine, self, RP_ENGINE_READ, 1000, &results);
    assert_all(&results, -EBADF);
    run(engine, self, RP_ENGINE_WRITE, fd, &results); /* still usable after failures */
    assert_all(&results, BYTES);
    engine->destroy(self);
    close(fd);
    free(path);
}

static void by_aio(void **state)
{
    (void)state;
    try_engine(rp_engine_aio());
}

static void by_uring(void **state)
{
    (void)state;
    try_engine(rp_engine_uring());
}

/* Every request ends, also when the kernel takes none. */
static void a_ring_that_breaks(void **state)
{
    (void)state;
    const struct rp_engine *engine = rp_engine_uring();
    struct results results;
    int ring = dup(STDERR_FILENO); /* the number that the ring gets */
    assert_int_equal(close(ring), 0);
    void *self = engine == NULL ? NULL : engine->create(REQUESTS);
    if (self == NULL) {
        return;
    }
    assert_int_equal(close(ring), 0);
    run(engine, self, RP_ENGINE_READ, STDIN_FILENO, &results);
    assert_all(&results, -EBADF);
    assert_false(engine->reap(self, note, &results));
    engine->destroy(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_aio), cmocka_unit_test(by_uring),
                                       cmocka_unit_test(a_ring_that_breaks)};
    return WIO_RUN(tests);
}
