/* SPDX-License-Identifier: Apache-2.0 */
/* What is synced, and which of it waits for the journal to take in the file's time. */
#include "support/unit.h"

#include <stdio.h>

#include "try.h"

#define DATA_US 4096  /* a page */
#define TIME_US 12288 /* a commit of 3 blocks */

/* Overwrites a page, in a tick of its own, and syncs it. */
static void assert_sync(const char *call, double us)
{
    char script[1024];
    (void)snprintf(script, sizeof(script),
                   "pwrite t=1000 dur=1000 fd=3 path=/a off=0 size=4096\n"
                   "fsync t=3000 dur=1000 fd=3 path=/a res=0\n"
                   "pwrite t=9000000 dur=1000 fd=3 path=/a off=0 size=4096\n"
                   "%s\n",
                   call);
    predict(script);
    assert_int_equal(try.result.all.ops, 4);
    assert_us(try.ends_s[3] - try.ends_s[2], 1 + us);
}

static void a_file_s_time_is_waited_for_by_some(void **state)
{
    (void)state;
    try.params.model = WIO_MODEL_KERNEL;
    try.params.host = try_host("journal.json", ", \"commit_bytes\": 40960");
    assert_sync("fsync t=9002000 dur=1000 fd=3 path=/a res=0", DATA_US + TIME_US);
    assert_sync("fdatasync t=9002000 dur=1000 fd=3 path=/a res=0", DATA_US);
    assert_sync("sync_file_range t=9002000 dur=1000 fd=3 path=/a a0=4 res=0", DATA_US);
}

/* glibc's aio_fsync with O_SYNC and O_DSYNC, libaio's two, io_uring's two, and its
 * sync_file_range. */
static void requests_tell_what_they_wait_for(void **state)
{
    (void)state;
    static const struct {
        const char *call;
        double us;
    } cases[] = {
        {"aio_fsync t=9002000 dur=9 fd=3 path=/a a2=0x101000 res=0 async", DATA_US + TIME_US},
        {"aio_fsync t=9002000 dur=9 fd=3 path=/a a2=0x1000 res=0 async", DATA_US},
        {"aio_fsync t=9002000 dur=9 fd=3 path=/a a3=2 res=0 async", DATA_US + TIME_US},
        {"aio_fsync t=9002000 dur=9 fd=3 path=/a a3=3 res=0 async", DATA_US},
        {"uring_fsync t=9002000 dur=9 fd=3 path=/a a3=3 res=0 async", DATA_US + TIME_US},
        {"uring_fsync t=9002000 dur=9 fd=3 path=/a a2=1 a3=3 res=0 async", DATA_US},
        {"uring_fsync t=9002000 dur=9 fd=3 path=/a a2=4 a3=8 res=0 async", DATA_US},
        {"uring_fsync t=9002000 dur=9 fd=3 path=/a a2=2 a3=8 res=0 async", 0},
    };
    try.params.model = WIO_MODEL_KERNEL;
    try.params.host = try_host("journal.json", ", \"commit_bytes\": 40960");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_sync(cases[i].call, cases[i].us);
    }
}

/* A writer with O_SYNC need not wait for the time any more. */
static void what_writes_committed_is_not_waited_for(void **state)
{
    (void)state;
    static const struct {
        const char *begin; /* of two writes: open, or nothing */
        const char *call;  /* and what they are */
        double us;
    } cases[] = {
        {"open t=500 dur=9 path=/a a0=0x101042 res=3\n", "pwrite", 0},     /* O_SYNC */
        {"open t=500 dur=9 path=/a a0=0x1042 res=3\n", "pwrite", TIME_US}, /* O_DSYNC */
        {"", "pwritev2 a0=4", 0},
        {"", "pwritev2 a0=2", TIME_US},
        {"open t=500 dur=9 path=/a a0=0x105042 res=3\n", "pwrite", 0}, /* and O_DIRECT */
        {"open t=500 dur=9 path=/a a0=0x5042 res=3\n", "pwrite", TIME_US},
    };
    try.params.model = WIO_MODEL_KERNEL;
    try.params.host = try_host("journal.json", ", \"commit_bytes\": 40960");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char script[1024];
        (void)snprintf(script, sizeof(script),
                       "%s%s t=1000 dur=1000 fd=3 path=/a off=0 size=4096\n"
                       "fsync t=3000 dur=1000 fd=3 path=/a res=0\n"
                       "%s t=9000000 dur=1000 fd=3 path=/a off=0 size=4096\n"
                       "fsync t=9002000 dur=1000 fd=3 path=/a res=0\n",
                       cases[i].begin, cases[i].call, cases[i].call);
        predict(script);
        assert_int_equal(try.result.all.ops, 4);
        assert_us(try.ends_s[3] - try.ends_s[2], 1 + cases[i].us);
    }
}

/* Flags of a request: nothing is left for an fsync 1 s later, but for the time with RWF_DSYNC. */
static void a_request_is_synchronous_by_itself(void **state)
{
    (void)state;
    static const struct {
        const char *call;
        double us;
    } cases[] = {
        {"aio_write a3=1", DATA_US + TIME_US}, /* of libaio, as of io_uring */
        {"aio_write a2=2 a3=1", TIME_US},
        {"aio_write a2=4 a3=1", 0},
        {"uring_write", DATA_US + TIME_US},
        {"uring_write a2=2", TIME_US},
        {"uring_write a2=4", 0},
    };
    try.params.model = WIO_MODEL_KERNEL;
    try.params.host = try_host("journal.json", ", \"commit_bytes\": 40960");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char script[1024];
        (void)snprintf(script, sizeof(script),
                       "pwrite t=1000 dur=1000 fd=3 path=/a off=0 size=4096\n"
                       "fsync t=3000 dur=1000 fd=3 path=/a res=0\n"
                       "%s t=9000000 dur=9 fd=3 path=/a off=0 size=4096 async\n"
                       "fsync t=1009000000 dur=1000 fd=3 path=/a res=0\n",
                       cases[i].call);
        predict(script);
        assert_int_equal(try.result.all.ops, 4);
        assert_us(try.ends_s[3] - try.ends_s[1], 8996 + 1e6 + cases[i].us);
    }
}

/* Neither has a buffer; the write that the call caused is in its cost. */
static void text_to_a_descriptor_is_written_at_once(void **state)
{
    (void)state;
    static const char *const calls[] = {"write", "dprintf", "vdprintf"};
    static const char *const opened[] = {"", "open t=500 dur=9 path=/a a0=0x101042 res=3\n"};
    try.params.model = WIO_MODEL_KERNEL;
    try.params.host = try_host("journal.json", ", \"commit_bytes\": 40960");
    for (size_t i = 0; i < 2; i++) {
        double end_s = 0;
        for (size_t call = 0; call < 3; call++) {
            char script[1024];
            (void)snprintf(script, sizeof(script),
                           "%s%s t=1000 dur=1000 fd=3 path=/a off=0 size=100 res=100\n"
                           "%s"
                           "fsync t=3000 dur=1000 fd=3 path=/a res=0\n"
                           "%s t=9000000 dur=1000 fd=3 path=/a off=100 size=100 res=100\n"
                           "fsync t=9002000 dur=1000 fd=3 path=/a res=0\n",
                           opened[i], calls[call],
                           call > 0 ? "write t=1500 dur=9 fd=3 path=/a off=0 size=100 caused\n"
                                    : "",
                           calls[call]);
            predict(script);
            assert_int_equal(try.result.all.ops, 4);
            end_s = call > 0 ? end_s : try.ends_s[3];
            assert_us(try.ends_s[3], end_s * 1e6);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRY(a_file_s_time_is_waited_for_by_some),     TRY(what_writes_committed_is_not_waited_for),
        TRY(requests_tell_what_they_wait_for),        TRY(a_request_is_synchronous_by_itself),
        TRY(text_to_a_descriptor_is_written_at_once),
    };
    return WIO_RUN(tests);
}
