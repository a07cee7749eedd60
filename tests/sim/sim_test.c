/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator keeps what it promises (sim/sim.h): else what runs in it proves nothing. */
#include "support/unit.h"

#include <errno.h>
#include <string.h>

#include "sim/sim.h"

enum { SEEDS = 200, BYTES = 100000 };

/* ---- a sender and a receiver ---------------------------------------------------------------- */

struct ends {
    struct wio_io *io[2];
    struct wio_io_conn *conn[2];
    uint8_t room[700];
    size_t came;
    bool is_wrong;
    bool is_opened;
    unsigned closed;
};

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 7 + i / 251);
}

static void opened(void *context)
{
    struct ends *ends = context;
    uint8_t bytes[BYTES];
    ends->is_opened = true;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = byte_at(i);
    }
    const struct wio_io_bytes parts[] = {{bytes, 1000}, {bytes + 1000, sizeof(bytes) - 1000}};
    assert_int_equal(ends->io[0]->ops->conn_send(ends->conn[0], parts, 2), WIO_OK);
}

static void *room(void *context, size_t *size_out)
{
    struct ends *ends = context;
    *size_out = sizeof(ends->room);
    return ends->room;
}

static void came(void *context, size_t bytes)
{
    struct ends *ends = context;
    for (size_t i = 0; i < bytes; i++) {
        ends->is_wrong |= ends->room[i] != byte_at(ends->came++);
    }
}

static void drained(void *context)
{
    (void)context;
}

static void closed(void *context, enum wio_status why)
{
    struct ends *ends = context;
    (void)why;
    ends->closed++;
}

static const struct wio_io_handler handler = {opened, room, came, drained, closed};

static void accepted(void *context, struct wio_io_conn *conn, const struct wio_io_peer *peer)
{
    struct ends *ends = context;
    (void)peer;
    ends->conn[1] = conn;
    ends->io[1]->ops->conn_attach(conn, &handler, ends);
}

static void begin(struct wio_sim *sim, struct ends *ends)
{
    struct wio_io_listener *listener = NULL;
    *ends = (struct ends){0};
    ends->io[0] = wio_sim_start(wio_sim_node(sim, "a"));
    ends->io[1] = wio_sim_start(wio_sim_node(sim, "b"));
    assert_int_equal(
        ends->io[1]->ops->listen(ends->io[1], "unix:b", accepted, ends, &listener, NULL), WIO_OK);
    assert_int_equal(
        ends->io[0]->ops->connect(ends->io[0], "unix:b", &handler, ends, &ends->conn[0], NULL),
        WIO_OK);
}

static uint64_t run_once(uint64_t seed)
{
    const struct wio_sim_options options = {.seed = seed, .late = 10000, .window_bytes = 3000};
    struct wio_sim *sim = wio_sim_create(&options);
    struct ends ends;
    begin(sim, &ends);
    while (wio_sim_run(sim, 1000)) {
    }
    assert_int_equal(ends.came, BYTES);
    assert_false(ends.is_wrong);
    uint64_t hash = wio_sim_hash(sim);
    ends.io[0]->ops->conn_close(ends.conn[0]);
    ends.io[1]->ops->conn_close(ends.conn[1]);
    wio_sim_destroy(sim);
    return hash;
}

/* In any pieces, each direction is in order and whole. */
static void same_seed_same_trace(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 10; seed++) {
        uint64_t hash = run_once(seed);
        assert_true(hash == run_once(seed));
        assert_true(hash != run_once(seed + 1));
    }
}

static void a_partition_holds_bytes_back(void **state)
{
    (void)state;
    const struct wio_sim_options options = {.seed = 1};
    struct wio_sim *sim = wio_sim_create(&options);
    struct ends ends;
    begin(sim, &ends);
    while (!ends.is_opened) {
        assert_true(wio_sim_run(sim, 1));
    }
    size_t before = ends.came;
    wio_sim_part(sim, wio_sim_node(sim, "a"), NULL);
    while (wio_sim_run(sim, 1000)) {
    }
    assert_int_equal(ends.came, before);
    assert_true(wio_sim_counts(sim)->parted > 0);
    wio_sim_heal(sim);
    while (wio_sim_run(sim, 1000)) {
    }
    assert_int_equal(ends.came, BYTES);
    assert_int_equal(ends.closed, 0);
    wio_sim_destroy(sim);
}

static void a_paused_reader_gets_nothing(void **state)
{
    (void)state;
    const struct wio_sim_options options = {.seed = 1, .window_bytes = 4096};
    struct wio_sim *sim = wio_sim_create(&options);
    struct ends ends;
    begin(sim, &ends);
    while (ends.came == 0) {
        assert_true(wio_sim_run(sim, 1));
    }
    size_t before = ends.came;
    ends.io[1]->ops->conn_pause(ends.conn[1], true);
    while (wio_sim_run(sim, 1000)) {
    }
    assert_int_equal(ends.came, before);
    assert_true(ends.io[0]->ops->conn_unsent(ends.conn[0]) > 0);
    ends.io[1]->ops->conn_pause(ends.conn[1], false);
    while (wio_sim_run(sim, 1000)) {
    }
    assert_int_equal(ends.came, BYTES);
    wio_sim_destroy(sim);
}

static void the_other_end_hears_of_a_kill(void **state)
{
    (void)state;
    const struct wio_sim_options options = {.seed = 1};
    struct wio_sim *sim = wio_sim_create(&options);
    struct ends ends;
    begin(sim, &ends);
    while (ends.came < BYTES && wio_sim_steps(sim) < 100000) {
        (void)wio_sim_run(sim, 1);
    }
    wio_sim_kill(ends.io[1]);
    while (wio_sim_run(sim, 1000)) {
    }
    assert_int_equal(ends.closed, 1);
    const struct wio_io_bytes part = {"x", 1};
    assert_int_not_equal(ends.io[1]->ops->conn_send(ends.conn[1], &part, 1), WIO_OK);
    wio_sim_destroy(sim);
}

/* ---- time ---------------------------------------------------------------------------------- */

struct alarm {
    struct wio_sim *sim;
    uint64_t due_ns;
    unsigned fired;
};

static void fire(void *context)
{
    struct alarm *alarm = context;
    assert_true(wio_sim_now_ns(alarm->sim) >= alarm->due_ns);
    alarm->fired++;
}

static void timers_fire_once_and_never_early(void **state)
{
    (void)state;
    const struct wio_sim_options options = {.seed = 1};
    struct wio_sim *sim = wio_sim_create(&options);
    struct wio_io *io = wio_sim_start(wio_sim_node(sim, "a"));
    struct alarm alarm = {.sim = sim};
    struct wio_io_timer *timer = io->ops->timer_create(io, fire, &alarm);
    io->ops->timer_set(timer, 5000000);
    io->ops->timer_set(timer, 9000000);
    alarm.due_ns = io->ops->now_ns(io) + 9000000;
    while (wio_sim_run(sim, 10)) {
    }
    assert_int_equal(alarm.fired, 1);
    io->ops->timer_set(timer, 1);
    io->ops->timer_stop(timer);
    while (wio_sim_run(sim, 10)) {
    }
    assert_int_equal(alarm.fired, 1);
    uint64_t unix_ns = io->ops->unix_ns(io);
    wio_sim_jump(wio_sim_node(sim, "a"), -1000);
    assert_int_equal(io->ops->unix_ns(io), unix_ns - 1000);
    io->ops->timer_destroy(timer);
    wio_sim_destroy(sim);
}

/* ---- disks --------------------------------------------------------------------------------- */

enum { SECTORS = 8, SECTOR = 512, SIZE = SECTORS * SECTOR };

static struct wio_io_file *open_file(struct wio_io *io, const char *name, unsigned flags)
{
    struct wio_io_file *file = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(io->ops->file_open(io, name, flags, &file, &err), &err);
    return file;
}

static enum wio_status write_all(struct wio_io *io, struct wio_io_file *file, uint8_t value)
{
    uint8_t bytes[SIZE];
    memset(bytes, value, sizeof(bytes));
    const struct wio_io_bytes part = {bytes, sizeof(bytes)};
    return io->ops->file_write(file, 0, &part, 1, NULL);
}

/* How many sectors hold the value; each is one of the two as a whole. */
static unsigned count(struct wio_io *io, struct wio_io_file *file, uint8_t value, uint8_t other)
{
    uint8_t bytes[SIZE];
    size_t got = 0;
    unsigned found = 0;
    assert_int_equal(io->ops->file_read(file, 0, bytes, sizeof(bytes), &got, NULL), WIO_OK);
    assert_int_equal(got, SIZE);
    for (unsigned i = 0; i < SECTORS; i++) {
        uint8_t is = bytes[(size_t)i * SECTOR];
        assert_true(is == value || is == other);
        found += is == value;
        for (unsigned j = 0; j < SECTOR; j++) {
            assert_int_equal(bytes[(size_t)i * SECTOR + j], is);
        }
    }
    return found;
}

/* A file whose name and 1s are durable, and 2s over them that are not; then no power. */
static unsigned crash_once(uint64_t seed, bool is_flushed)
{
    const struct wio_sim_options options = {.seed = seed};
    struct wio_sim *sim = wio_sim_create(&options);
    struct wio_sim_node *node = wio_sim_node(sim, "a");
    struct wio_io *io = wio_sim_start(node);
    struct wio_io_file *file = open_file(io, "f", WIO_IO_CREATE);
    assert_int_equal(write_all(io, file, 1), WIO_OK);
    assert_int_equal(io->ops->file_sync(file, NULL), WIO_OK);
    assert_int_equal(io->ops->dir_sync(io, "", NULL), WIO_OK);
    assert_int_equal(write_all(io, file, 2), WIO_OK);
    if (is_flushed) {
        assert_int_equal(io->ops->file_sync(file, NULL), WIO_OK);
    }
    io->ops->file_close(file);
    wio_sim_crash(node);
    assert_int_not_equal(io->ops->file_open(io, "f", 0, &file, NULL), WIO_OK);
    io = wio_sim_start(node);
    file = open_file(io, "f", 0);
    unsigned twos = count(io, file, 2, 1);
    io->ops->file_close(file);
    wio_sim_destroy(sim);
    return twos;
}

static void crashes_lose_any_subset_of_what_was_not_flushed(void **state)
{
    (void)state;
    unsigned seen[SECTORS + 1] = {0};
    for (uint64_t seed = 0; seed < SEEDS * 5; seed++) {
        seen[crash_once(seed, false)]++;
    }
    for (unsigned i = 0; i <= SECTORS; i++) {
        assert_true(seen[i] > 0);
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        assert_int_equal(crash_once(seed, true), SECTORS);
    }
}

static void crashes_tear_the_tail(void **state)
{
    (void)state;
    unsigned whole = 0;
    unsigned torn = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct wio_sim_options options = {.seed = seed};
        struct wio_sim *sim = wio_sim_create(&options);
        struct wio_sim_node *node = wio_sim_node(sim, "a");
        struct wio_io *io = wio_sim_start(node);
        struct wio_io_file *file = open_file(io, "f", WIO_IO_CREATE);
        uint64_t bytes = 0;
        assert_int_equal(io->ops->dir_sync(io, "", NULL), WIO_OK);
        assert_int_equal(write_all(io, file, 1), WIO_OK);
        wio_sim_crash(node);
        io = wio_sim_start(node);
        file = open_file(io, "f", 0);
        assert_int_equal(io->ops->file_size(file, &bytes, NULL), WIO_OK);
        assert_true(bytes <= SIZE);
        whole += bytes == SIZE;
        torn += bytes > 0 && bytes < SIZE;
        wio_sim_destroy(sim);
    }
    assert_true(whole > 0 && torn > 0 && whole + torn < SEEDS);
}

static bool exists(struct wio_io *io, const char *name)
{
    struct wio_io_file *file = NULL;
    bool is_there = io->ops->file_open(io, name, 0, &file, NULL) == WIO_OK;
    if (is_there) {
        io->ops->file_close(file);
    }
    return is_there;
}

/* Changes of names are kept up to some point: never the second without the first. */
static void crashes_lose_names_from_some_point_on(void **state)
{
    (void)state;
    unsigned seen[3] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct wio_sim_options options = {.seed = seed};
        struct wio_sim *sim = wio_sim_create(&options);
        struct wio_sim_node *node = wio_sim_node(sim, "a");
        struct wio_io *io = wio_sim_start(node);
        io->ops->file_close(open_file(io, "old", WIO_IO_CREATE));
        assert_int_equal(io->ops->dir_sync(io, "", NULL), WIO_OK);
        io->ops->file_close(open_file(io, "new", WIO_IO_CREATE));
        assert_int_equal(io->ops->rename(io, "new", "old", NULL), WIO_OK);
        assert_int_equal(io->ops->remove(io, "old", NULL), WIO_OK);
        wio_sim_crash(node);
        io = wio_sim_start(node);
        bool has_old = exists(io, "old");
        bool has_new = exists(io, "new");
        assert_false(has_new && !has_old);
        seen[has_new ? 2 : has_old]++;
        wio_sim_destroy(sim);
    }
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
}

static void a_failed_flush_is_not_mended(void **state)
{
    (void)state;
    unsigned lost = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct wio_sim_options options = {.seed = seed};
        struct wio_sim *sim = wio_sim_create(&options);
        struct wio_sim_node *node = wio_sim_node(sim, "a");
        struct wio_io *io = wio_sim_start(node);
        struct wio_io_file *file = open_file(io, "f", WIO_IO_CREATE);
        assert_int_equal(write_all(io, file, 1), WIO_OK);
        assert_int_equal(io->ops->file_sync(file, NULL), WIO_OK);
        assert_int_equal(io->ops->dir_sync(io, "", NULL), WIO_OK);
        assert_int_equal(write_all(io, file, 2), WIO_OK);
        wio_sim_options(sim)->flush_fails = 1000000;
        assert_int_equal(io->ops->file_sync(file, NULL), WIO_ERR_IO);
        wio_sim_options(sim)->flush_fails = 0;
        assert_int_equal(io->ops->file_sync(file, NULL), WIO_OK);
        wio_sim_crash(node);
        io = wio_sim_start(node);
        file = open_file(io, "f", 0);
        lost += count(io, file, 2, 1) < SECTORS;
        wio_sim_destroy(sim);
    }
    assert_true(lost > SEEDS / 2);
}

static void disks_fill_up_and_fail(void **state)
{
    (void)state;
    const struct wio_sim_options options = {.seed = 1, .disk_bytes = SIZE};
    struct wio_sim *sim = wio_sim_create(&options);
    struct wio_io *io = wio_sim_start(wio_sim_node(sim, "a"));
    struct wio_io_file *file = open_file(io, "f", WIO_IO_CREATE);
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_io_bytes part = {"x", 1};
    assert_int_equal(write_all(io, file, 1), WIO_OK);
    assert_int_equal(io->ops->file_write(file, SIZE, &part, 1, &err), WIO_ERR_IO);
    assert_int_equal(err.sys_errno, ENOSPC);
    wio_sim_options(sim)->write_fails = 1000000;
    assert_int_equal(io->ops->file_write(file, 0, &part, 1, &err), WIO_ERR_IO);
    assert_int_equal(err.sys_errno, EIO);
    wio_sim_options(sim)->write_fails = 0;
    assert_int_equal(io->ops->remove(io, "f", NULL), WIO_OK);
    struct wio_io_space space;
    assert_int_equal(io->ops->space(io, &space, NULL), WIO_OK);
    assert_int_equal(space.free_bytes, SIZE);
    wio_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_same_trace),
        cmocka_unit_test(a_partition_holds_bytes_back),
        cmocka_unit_test(a_paused_reader_gets_nothing),
        cmocka_unit_test(the_other_end_hears_of_a_kill),
        cmocka_unit_test(timers_fire_once_and_never_early),
        cmocka_unit_test(crashes_lose_any_subset_of_what_was_not_flushed),
        cmocka_unit_test(crashes_tear_the_tail),
        cmocka_unit_test(crashes_lose_names_from_some_point_on),
        cmocka_unit_test(a_failed_flush_is_not_mended),
        cmocka_unit_test(disks_fill_up_and_fail),
    };
    return WIO_RUN(tests);
}
