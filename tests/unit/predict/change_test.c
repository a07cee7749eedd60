/* SPDX-License-Identifier: Apache-2.0 */
/* What a run takes if its program did the same I/O in another way: figures by hand. Without a
 * model that has a page cache a byte takes a microsecond, and a sync nothing. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "ops/calls.h"
#include "predict/changes/change.h"
#include "try.h"

static struct wio_change changes[4];

/* One more change. */
static void change(enum wio_change_kind kind, uint64_t amount)
{
    changes[try.params.change_count++] = (struct wio_change){.kind = kind, .amount = amount};
    try.params.changes = changes;
}

/* ---- --fsync-every ---- */

#define SYNCS                                                                                      \
    "fsync t=1000 dur=1000 fd=3 path=/a res=0\n"                                                   \
    "fsync t=3000 dur=1000 fd=3 path=/a res=0\n"                                                   \
    "fdatasync t=5000 dur=1000 fd=3 path=/a res=0\n"                                               \
    "fsync t=7000 dur=1000 fd=3 path=/a res=0\n"                                                   \
    "fsync t=9000 dur=1000 fd=3 path=/a res=0\n"

static void every_nth_sync_of_a_file_stays(void **state)
{
    (void)state;
    predict(SYNCS "fsync t=11000 dur=1000 fd=4 path=/b res=0\n");
    assert_int_equal(try.result.all.ops, 6);
    change(WIO_CHANGE_FSYNC_EVERY, 2);
    /* of /a the second, the fourth, and the last; of /b the last */
    predict(SYNCS "fsync t=11000 dur=1000 fd=4 path=/b res=0\n");
    assert_int_equal(try.result.all.ops, 4);
    changes[0].amount = 1;
    predict(SYNCS);
    assert_int_equal(try.result.all.ops, 5);
    changes[0].amount = 100;
    predict(SYNCS);
    assert_int_equal(try.result.all.ops, 1); /* the process ends */
    predict(SYNCS "close t=12000 dur=1000 fd=3 path=/a\n");
    assert_int_equal(try.result.all.ops, 1);
    predict(SYNCS "close t=12000 dur=1000 fd=3 path=/a\n"
                  "fsync t=14000 dur=1000 fd=3 path=/a res=0\n"
                  "fsync t=16000 dur=1000 fd=3 path=/a res=0\n");
    assert_int_equal(try.result.all.ops, 2); /* before the close, and at the end */
}

static void another_process_reads_what_was_synced(void **state)
{
    (void)state;
    static const char *const readers[] = {"1", "0"};
    static const uint64_t ops[] = {3, 2}; /* with the read itself */
    char script[1024];
    change(WIO_CHANGE_FSYNC_EVERY, 100);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(script, sizeof(script),
                       TWO "fsync t=1000 dur=100 fd=3 path=/a res=0\n"
                           "fsync t=3000 dur=100 fd=3 path=/a res=0\n"
                           "pread stream=%s t=4000 dur=100 fd=3 path=/a off=0 size=1\n"
                           "fsync stream=0 t=5000 dur=100 fd=3 path=/a res=0\n",
                       readers[i]);
        predict(script);
        assert_int_equal(try.result.all.ops, ops[i]);
    }
}

/* What is not synced is written by and by. */
static void a_sync_that_is_dropped_costs_nothing(void **state)
{
    (void)state;
    static const char script[] = "pwrite t=1000 dur=1000 fd=3 path=/a off=0 size=4096\n"
                                 "fsync t=2000 dur=1000 fd=3 path=/a res=0\n"
                                 "pwrite t=3000 dur=1000 fd=3 path=/a off=4096 size=4096\n"
                                 "fsync t=4000 dur=1000 fd=3 path=/a res=0\n";
    try.params.model = WIO_MODEL_KERNEL;
    predict(script);
    assert_us(try.result.all.total_s, 4 * 4096);
    change(WIO_CHANGE_FSYNC_EVERY, 2);
    predict(script);
    assert_us(try.result.all.total_s, 4 * 4096); /* two pages at once */
    assert_int_equal(try.result.all.ops, 3);
    assert_us(try.result.all.traced_s, 4);
    assert_us(try.result.all.traced_io_s, 4);
}

/* ---- --aggregate ---- */

#define WRITE(t, offset, size)                                                                     \
    "pwrite t=" #t " dur=1000 fd=3 path=/a off=" #offset " size=" #size "\n"

static void adjacent_writes_become_one(void **state)
{
    (void)state;
    change(WIO_CHANGE_AGGREGATE, 100);
    predict(WRITE(1000, 0, 30) WRITE(3000, 30, 30) WRITE(5000, 60, 30) WRITE(7000, 90, 30));
    /* 90 bytes at the time of the third; computing of 1 us between all of them stays */
    assert_int_equal(try.result.all.ops, 2);
    assert_int_equal(try.result.all.bytes_written, 120);
    assert_us(try.ends_s[0], 1 + 1 + 1 + 90);
    assert_us(try.ends_s[1], 1 + 1 + 1 + 90 + 1 + 30);
}

static void what_ends_an_aggregate(void **state)
{
    (void)state;
    static const struct {
        const char *between;
        uint64_t ops; /* all */
    } cases[] = {
        {"", 1},
        {"pwrite t=2500 dur=100 fd=4 path=/b off=0 size=7\n", 2}, /* another file does not */
        {"fsync t=2500 dur=100 fd=4 path=/b res=0\n", 3},
        {"close t=2500 dur=100 fd=3 path=/a\n", 2},
        {"close t=2500 dur=100 fd=4 path=/b\n", 1},
        {"flock t=2500 dur=100 fd=3 path=/a a0=2\n", 2},
        {"pthread_mutex_lock t=2500 dur=0 a0=0x7000\n", 1}, /* of one thread alone */
        {"pread t=2500 dur=100 fd=3 path=/a off=0 size=7\n", 3},
        {"ftruncate t=2500 dur=100 fd=3 path=/a size=10 res=0\n", 2},
    };
    char script[1024];
    change(WIO_CHANGE_AGGREGATE, 1000);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)snprintf(script, sizeof(script), "%s%s%s", WRITE(1000, 0, 30), cases[i].between,
                       WRITE(3000, 30, 30));
        predict(script);
        if (try.result.all.ops != cases[i].ops) {
            fail_msg("case %zu: %d operations", i, (int)try.result.all.ops);
        }
    }
    predict(WRITE(1000, 0, 30) WRITE(3000, 31, 30)); /* a hole */
    assert_int_equal(try.result.all.ops, 2);
    predict("process 1\nstream 0 1\nstream 0 2\n" WRITE(
        1000, 0, 30) "pthread_mutex_lock t=2500 dur=0 a0=0x7000\n" WRITE(3000, 30,
                                                                         30) "usleep stream=1 "
                                                                             "t=5000 dur=10\n");
    assert_int_equal(try.result.all.ops, 2);
}

/* The receiver of a message may read what was written before it. */
static void what_is_waited_for_is_done_before(void **state)
{
    (void)state;
    change(WIO_CHANGE_AGGREGATE, 1000);
    predict(TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=30\n"
                "MPI_Send stream=0 t=2500 dur=100\n"
                "pwrite stream=0 t=3000 dur=1000 fd=3 path=/a off=30 size=30\n"
                "MPI_Recv stream=1 t=1000 dur=1600\n"
                "edge 0:0 1:0\n");
    assert_int_equal(try.result.all.ops, 2);
}

/* ---- --merge-files ---- */

static void a_directory_is_opened_once(void **state)
{
    (void)state;
    static const char script[] = "open t=1000 dur=1000 path=/d/a a0=0 res=3\n"
                                 "fstat t=2000 dur=500 fd=3 path=/d/a\n"
                                 "close t=3000 dur=200 fd=3 path=/d/a\n"
                                 "open t=4000 dur=1000 path=/d/b a0=0 res=3\n"
                                 "fstat t=5000 dur=500 fd=3 path=/d/b\n"
                                 "close t=6000 dur=200 fd=3 path=/d/b\n"
                                 "open t=7000 dur=1000 path=/e/b a0=0 res=3\n"
                                 "open t=8000 dur=1000 path=/d/c a0=0 err=2\n";
    predict(script);
    assert_us(try.result.all.kept_s, 3 + 1 + 0.4 + 1);
    change(WIO_CHANGE_MERGE_FILES, 0);
    predict(script);
    assert_us(try.result.all.kept_s, 2 + 0.5 + 0.2 + 1); /* what failed stays */
}

/* ---- --balance ---- */

#define BARRIERS                                                                                   \
    "MPI_Barrier stream=0 t=90000 dur=1000\n"                                                      \
    "MPI_Barrier stream=1 t=90000 dur=1000\n"                                                      \
    "collective 0:%d 1:%d\n"

static void bytes_are_split_evenly(void **state)
{
    (void)state;
    char script[1024];
    (void)snprintf(script, sizeof(script),
                   TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=60\n"
                       "pwrite stream=0 t=2000 dur=1000 fd=3 path=/a off=60 size=60\n"
                       "pwrite stream=0 t=3000 dur=1000 fd=3 path=/a off=120 size=60\n"
                       "pwrite stream=1 t=1000 dur=1000 fd=3 path=/b off=0 size=20\n" BARRIERS,
                   3, 1);
    predict(script);
    assert_int_equal(try.result.ranks[0].bytes_written, 180);
    assert_int_equal(try.result.ranks[1].bytes_written, 20);
    change(WIO_CHANGE_BALANCE, 0);
    predict(script);
    assert_int_equal(try.result.ranks[0].bytes_written, 100);
    assert_int_equal(try.result.ranks[1].bytes_written, 100);
    /* 60 and 40 of its own; its own 20, the 20 that are left of the second, and the third */
    assert_int_equal(try.result.ranks[0].ops, 2);
    assert_int_equal(try.result.ranks[1].ops, 3);
}

/* Each phase by itself, and reads apart from writes. */
/* A rank that was not recorded takes no share. */
static void only_ranks_with_a_stream_take_a_share(void **state)
{
    (void)state;
    static const char script[] = "process 10 rank=0\nprocess 20 rank=1\nprocess 40 rank=3\n"
                                 "stream 0 10\nstream 1 20\nstream 2 40\n"
                                 "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=90\n"
                                 "stat stream=1 t=1000 dur=1000 path=/a\n"
                                 "stat stream=2 t=1000 dur=1000 path=/a\n";
    change(WIO_CHANGE_BALANCE, 0);
    predict(script);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(try.result.ranks[i].bytes_written, 30);
    }
    try.params.whatif.ranks = 6; /* those of the copy are others */
    predict(script);
    assert_int_equal(try.result.rank_count, 6);
}

static void phases_are_balanced_by_themselves(void **state)
{
    (void)state;
    char script[1024];
    (void)snprintf(script, sizeof(script),
                   TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=60\n"
                       "pread stream=1 t=1000 dur=1000 fd=3 path=/b off=0 size=40\n" BARRIERS
                       "pwrite stream=1 t=95000 dur=1000 fd=3 path=/a off=60 size=60\n",
                   1, 1);
    change(WIO_CHANGE_BALANCE, 0);
    predict(script);
    assert_int_equal(try.result.ranks[0].bytes_written, 30 + 30);
    assert_int_equal(try.result.ranks[1].bytes_written, 30 + 30);
    assert_int_equal(try.result.ranks[0].bytes_read, 20);
    assert_int_equal(try.result.ranks[1].bytes_read, 20);
}

/* ---- --collective ---- */

static void one_rank_of_a_host_performs(void **state)
{
    (void)state;
    char script[1024];
    struct wio_error err = WIO_ERROR_INIT;
    (void)snprintf(script, sizeof(script),
                   TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=10\n"
                       "pwrite stream=0 t=2000 dur=1000 fd=3 path=/a off=20 size=10\n"
                       "pwrite stream=1 t=1000 dur=1000 fd=3 path=/a off=10 size=10\n"
                       "pwrite stream=1 t=2000 dur=1000 fd=3 path=/a off=30 size=10\n" BARRIERS,
                   2, 2);
    change(WIO_CHANGE_COLLECTIVE, 0);
    assert_int_equal(try_predict(script, &err), WIO_ERR_USAGE);
    assert_non_null(strstr(err.message, "net_bw and net_lat"));
    try.params.host = try_host("net.json", ", \"net_bw\": 2e6, \"net_lat\": 3e-6");
    predict(script);
    /* rank 0 gets 20 bytes in 2 messages: 10 us and 6 us; then it writes 40 bytes */
    assert_int_equal(try.result.all.ops, 1);
    assert_int_equal(try.result.ranks[0].bytes_written, 40);
    assert_us(try.result.ranks[0].io_s, 16 + 40);
    assert_us(try.result.ranks[1].io_s, 16);
}

/* What MPI-IO writes for a call is gathered as well; what stdio does is not. */
static void writes_of_mpi_io_are_gathered(void **state)
{
    (void)state;
    static const char script[] =
        TWO "MPI_File_write_at stream=0 t=1000 dur=3000\n"
            "pwrite stream=0 t=2000 dur=1000 fd=3 path=/a off=0 size=10 caused\n"
            "MPI_File_write_at stream=1 t=1000 dur=3000\n"
            "pwrite stream=1 t=2000 dur=1000 fd=3 path=/a off=10 size=10 caused\n"
            "MPI_Barrier stream=0 t=90000 dur=1000\n"
            "MPI_Barrier stream=1 t=90000 dur=1000\n"
            "collective 0:2 1:2\n";
    try.params.host = try_host("net.json", ", \"net_bw\": 1e9, \"net_lat\": 1e-6");
    predict(script);
    uint64_t before = try.result.all.ops;
    change(WIO_CHANGE_COLLECTIVE, 0);
    predict(script);
    assert_int_equal(try.result.all.ops, before - 1);
    assert_int_equal(try.result.all.bytes_written, 20);
}

/* Two hosts: each has a half of the file; a file of one rank stays as it is. */
static void each_host_has_a_part(void **state)
{
    (void)state;
    char script[1024];
    (void)snprintf(script, sizeof(script),
                   "process 10 rank=0 host=n1\nprocess 20 rank=1 host=n2\n"
                   "stream 0 10\nstream 1 20\n"
                   "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=30\n"
                   "pwrite stream=0 t=2000 dur=1000 fd=3 path=/own off=0 size=7\n"
                   "pwrite stream=1 t=1000 dur=1000 fd=3 path=/a off=30 size=10\n" BARRIERS,
                   2, 1);
    change(WIO_CHANGE_COLLECTIVE, 0);
    try.params.host = try_host("net.json", ", \"net_bw\": 2e6, \"net_lat\": 3e-6");
    predict(script);
    assert_int_equal(try.result.ranks[0].bytes_written, 20 + 7);
    assert_int_equal(try.result.ranks[1].bytes_written, 20);
    assert_us(try.result.ranks[0].io_s, 5 + 3 + 20 + 7);
    assert_us(try.result.ranks[1].io_s, 5 + 3 + 20);
}

/* ---- in general ---- */

/* ---- --merge-files=SIZE ---- */

#define SMALL(t, name)                                                                             \
    "open t=" #t "000 dur=500 path=/d/" #name " a0=0 res=3\n"                                      \
    "write t=" #t "500 dur=100 fd=3 path=/d/" #name " off=0 size=30\n"                             \
    "close t=" #t "700 dur=100 fd=3 path=/d/" #name "\n"

static void files_of_a_directory_are_written_at_once(void **state)
{
    (void)state;
    change(WIO_CHANGE_MERGE_FILES, 0);
    predict(SMALL(1, a) SMALL(2, b) SMALL(3, c) SMALL(4, d));
    uint64_t writes_and_one_file = try.result.all.ops;
    assert_int_equal(try.result.all.bytes_written, 120);
    changes[0].amount = 100;
    predict(SMALL(1, a) SMALL(2, b) SMALL(3, c) SMALL(4, d));
    assert_int_equal(try.result.all.ops, writes_and_one_file - 2); /* 90 bytes, and 30 */
    assert_int_equal(try.result.all.bytes_written, 120);
    changes[0].amount = 1000;
    predict(SMALL(1, a) "fsync t=1900 dur=10 fd=9 path=/e res=0\n" SMALL(2, b));
    assert_int_equal(try.result.all.bytes_written, 60); /* a sync ends what is gathered */
}

/* ---- --sort ---- */

#define READ(t, offset, size)                                                                      \
    "pread t=" #t " dur=1000 fd=3 path=/a off=" #offset " size=" #size "\n"

static void transfers_are_made_by_offset(void **state)
{
    (void)state;
    change(WIO_CHANGE_SORT, 100);
    predict(WRITE(1000, 60, 30) WRITE(3000, 0, 30) WRITE(5000, 90, 30) WRITE(7000, 30, 30));
    /* [0, 90) and [90, 120), at the time of the last two; computing of 1 us between all stays */
    assert_int_equal(try.result.all.ops, 2);
    assert_int_equal(try.result.all.bytes_written, 120);
    assert_us(try.ends_s[0], 1 + 1 + 1 + 90);
    assert_us(try.ends_s[1], 1 + 1 + 1 + 90 + 1 + 30);
    predict(WRITE(1000, 60, 30) WRITE(3000, 0, 30)); /* a hole */
    assert_int_equal(try.result.all.ops, 2);
    predict(WRITE(1000, 30, 30) "fsync t=2500 dur=100 fd=3 path=/a res=0\n" WRITE(3000, 0, 30));
    assert_int_equal(try.result.all.ops, 3); /* a sync comes between */
}

static void reads_go_over_small_holes(void **state)
{
    (void)state;
    change(WIO_CHANGE_SORT, 100);
    predict(READ(1000, 60, 30) READ(3000, 0, 30));
    assert_int_equal(try.result.all.ops, 1); /* 60 of 90 bytes were asked for */
    predict(READ(1000, 90, 10) READ(3000, 0, 30));
    assert_int_equal(try.result.all.ops, 2); /* 40 of 100 */
    predict(READ(1000, 90, 30) READ(3000, 0, 60));
    assert_int_equal(try.result.all.ops, 2); /* more than 100 */
    predict(READ(1000, 0, 30) READ(3000, 0, 30) READ(5000, 10, 10));
    assert_int_equal(try.result.all.ops, 1); /* the same again */
}

/* ---- --no-polling ---- */

/* Process 10 makes a file 1,000 us after its begin; process 20 looks for it, sleeps 4,000 us, finds
 * it and goes on. */
static void a_thread_goes_on_when_the_file_is_there(void **state)
{
    (void)state;
    static const char script[] =
        TWO "pwrite stream=0 t=0 dur=900000 fd=3 path=/b off=0 size=900\n"
            "open stream=0 t=900000 dur=100000 path=/a a0=0x41 res=4\n"
            "access stream=1 t=10000 dur=1000 path=/a err=2\n"
            "access stream=1 t=4011000 dur=1000 path=/a err=2\n"
            "access stream=1 t=8012000 dur=1000 path=/a res=0\n"
            "pwrite stream=1 t=8013000 dur=7000 fd=3 path=/c off=0 size=7\n"
            "edge 0:1 1:2 evidence=poll\n"
            "poll-loop 1:0 2\n";
    predict(script);
    assert_true(try.result.all.total_s > 4e-3);
    change(WIO_CHANGE_NO_POLLING, 0);
    predict(script);
    assert_true(try.result.all.total_s >= 1007e-6 && try.result.all.total_s < 1050e-6);
}

/* ---- --read-maps ---- */

/* Behind the map the thread computes for 10 us and sleeps for 490: page faults. What it slept
 * before it had mapped anything is none. */
static void a_mapped_file_is_read(void **state)
{
    (void)state;
    static const char script[] =
        "pwrite t=1000 dur=1000 fd=4 path=/b off=0 size=1\n"
        "pwrite t=102000 dur=1000 fd=4 path=/b off=1 size=1 gap_cpu=1000 gap_slept=1\n"
        "mmap t=103000 dur=1000 fd=3 path=/a off=0 size=250 res=4096 a0=1 a1=2\n"
        "pwrite t=604000 dur=1000 fd=4 path=/b off=2 size=1 gap_cpu=10000 gap_slept=1\n";
    predict(script);
    double before_s = try.result.all.total_s;
    assert_int_equal(try.result.all.bytes_read, 0);
    change(WIO_CHANGE_READ_MAPS, 100);
    predict(script);
    assert_int_equal(try.result.all.ops, 3 + 3); /* three writes, and 250 bytes in three reads */
    assert_in_range(try.result.all.bytes_read, 250, 252);
    assert_us(try.result.all.total_s, before_s * 1e6 - 490 + (double)try.result.all.bytes_read);
}

/* The sleeps of a loop that looks for a file pass for page faults where a file is mapped: both
 * changes leave them out. */
static void a_polling_process_has_mapped_a_file(void **state)
{
    (void)state;
    static const char script[] =
        TWO "pwrite stream=0 t=0 dur=900000 fd=3 path=/b off=0 size=900\n"
            "open stream=0 t=900000 dur=100000 path=/a a0=0x41 res=4\n"
            "mmap stream=1 t=5000 dur=1000 fd=3 path=/m off=0 size=10 res=4096 a0=1 a1=2\n"
            "access stream=1 t=10000 dur=1000 path=/a err=2\n"
            "access stream=1 t=4011000 dur=1000 path=/a err=2 gap_cpu=1000 gap_slept=1\n"
            "access stream=1 t=8012000 dur=1000 path=/a res=0 gap_cpu=1000 gap_slept=1\n"
            "pwrite stream=1 t=8013000 dur=7000 fd=3 path=/c off=0 size=7\n"
            "edge 0:1 1:3 evidence=poll\n"
            "poll-loop 1:1 3\n";
    change(WIO_CHANGE_READ_MAPS, 100);
    change(WIO_CHANGE_NO_POLLING, 0);
    predict(script);
    assert_true(try.result.all.total_s >= 1007e-6 && try.result.all.total_s < 1070e-6);
}

static void a_change_holds_within_its_scope(void **state)
{
    (void)state;
    static const char script[] = "pwrite t=1000 dur=1000 fd=3 path=/a off=0 size=30 at=0x1000\n"
                                 "pwrite t=3000 dur=1000 fd=3 path=/a off=30 size=40 at=0x2000\n";
    const uint16_t ops[] = {WIO_OP_pwrite};
    const uint32_t sources[] = {1};
    struct wio_change_scope scope = {.ops = ops, .op_count = 1};
    change(WIO_CHANGE_REMOVE, 0);
    changes[0].scope = &scope;
    predict(script);
    assert_int_equal(try.result.all.bytes_written, 0);
    scope.sources = sources;
    scope.source_count = 1;
    predict(script);
    assert_int_equal(try.result.all.bytes_written, 40);
    assert_us(try.ends_s[0], 1 + 1 + 40); /* the first takes no time */
}

static void a_part_of_what_is_removed_stays(void **state)
{
    (void)state;
    static const char script[] = "pwrite t=1000 dur=1000 fd=3 path=/a off=0 size=10\n"
                                 "pwrite t=3000 dur=1000 fd=3 path=/a off=10 size=10\n"
                                 "pwrite t=5000 dur=1000 fd=3 path=/a off=20 size=10\n"
                                 "pwrite t=7000 dur=1000 fd=3 path=/a off=30 size=10\n"
                                 "pwrite t=9000 dur=1000 fd=3 path=/a off=40 size=10\n";
    const uint16_t ops[] = {WIO_OP_pwrite};
    const struct wio_change_scope scope = {.ops = ops, .op_count = 1};
    change(WIO_CHANGE_REMOVE, 400000);
    changes[0].scope = &scope;
    predict(script);
    assert_int_equal(try.result.all.bytes_written, 20);
}

/* The second change sees what the first has left: without syncs all writes are one. */
static void changes_come_one_after_the_other(void **state)
{
    (void)state;
    static const char script[] =
        WRITE(1000, 0, 30) "fsync t=2000 dur=500 fd=3 path=/a res=0\n" WRITE(
            3000, 30, 30) "fsync t=4000 dur=500 fd=3 path=/a res=0\n";
    change(WIO_CHANGE_AGGREGATE, 1000);
    predict(script);
    assert_int_equal(try.result.all.ops, 4);
    try.params.change_count = 0;
    change(WIO_CHANGE_FSYNC_EVERY, 2);
    change(WIO_CHANGE_AGGREGATE, 1000);
    predict(script);
    assert_int_equal(try.result.all.ops, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRY(every_nth_sync_of_a_file_stays),
        TRY(another_process_reads_what_was_synced),
        TRY(a_sync_that_is_dropped_costs_nothing),
        TRY(adjacent_writes_become_one),
        TRY(what_ends_an_aggregate),
        TRY(what_is_waited_for_is_done_before),
        TRY(a_directory_is_opened_once),
        TRY(bytes_are_split_evenly),
        TRY(only_ranks_with_a_stream_take_a_share),
        TRY(phases_are_balanced_by_themselves),
        TRY(one_rank_of_a_host_performs),
        TRY(writes_of_mpi_io_are_gathered),
        TRY(each_host_has_a_part),
        TRY(files_of_a_directory_are_written_at_once),
        TRY(transfers_are_made_by_offset),
        TRY(reads_go_over_small_holes),
        TRY(a_thread_goes_on_when_the_file_is_there),
        TRY(a_mapped_file_is_read),
        TRY(a_polling_process_has_mapped_a_file),
        TRY(a_change_holds_within_its_scope),
        TRY(a_part_of_what_is_removed_stays),
        TRY(a_part_of_what_is_removed_stays),
        TRY(changes_come_one_after_the_other),
    };
    return WIO_RUN(tests);
}
