/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that compute share the processors of their host. */
#include "support/unit.h"

#include <stdio.h>

#include "try.h"

/* Two threads that computed 4 ms each, on one processor: one of them had waited for it. */
#define SHARED                                                                                     \
    "%sprocess 10\nstream 0 10\nstream 0 11\n"                                                     \
    "pwrite stream=0 t=0 dur=1000 fd=3 path=/a off=0 size=1\n"                                     \
    "pwrite stream=0 t=4001000 dur=1000 fd=3 path=/a off=1 size=1 gap_cpu=4000000\n"               \
    "pwrite stream=1 t=0 dur=1000 fd=3 path=/b off=0 size=1\n"                                     \
    "pwrite stream=1 t=8001000 dur=1000 fd=3 path=/b off=1 size=1 gap_cpu=4000000%s\n"

static void predict_shared(const char *first, uint32_t cpus, const char *more)
{
    char text[1024];
    (void)snprintf(text, sizeof(text), SHARED, first, more);
    try.params.whatif.cpus = cpus;
    predict(text);
}

static void enough_processors_make_no_thread_wait(void **state)
{
    (void)state;
    predict_shared("", 2, "");
    assert_us(try.ends_s[2], 1 + 4000 + 1);
    assert_us(try.ends_s[3], 2 + 4000 + 1);
}

/* A turn is 3 ms; the first goes to the end of the line with 1 ms left, the second too. */
static void threads_take_turns(void **state)
{
    (void)state;
    predict_shared("", 1, "");
    assert_us(try.ends_s[2], 1 + 3000 + 3000 + 1000 + 1);
    assert_us(try.ends_s[3], 1 + 3000 + 3000 + 1000 + 1000 + 1);
}

/* Without a number of processors nothing is known of waits for processors. */
static void unknown_processors_leave_time_as_it_was(void **state)
{
    (void)state;
    predict_shared("", 0, "");
    assert_us(try.ends_s[2], 1 + 4000 + 1);
    assert_us(try.ends_s[3], 2 + 8000 + 1);
}

/* It slept for something that is no event, which more processors do not spare. */
static void a_sleeper_takes_its_time(void **state)
{
    (void)state;
    predict_shared("", 1, " gap_slept=1");
    assert_us(try.ends_s[2], 1 + 4000 + 1);
    assert_us(try.ends_s[3], 2 + 8000 + 1);
}

static void a_host_says_how_many_it_has(void **state)
{
    (void)state;
    try.params.host = try_host("two.json", ", \"cpus\": 2");
    predict_shared("", 0, "");
    assert_us(try.ends_s[3], 2 + 4000 + 1);
    predict_shared("", 1, "");
    assert_us(try.ends_s[3], 8001 + 1);
}

static void else_they_are_as_many_as_there_were(void **state)
{
    (void)state;
    predict_shared("cpus 1\n", 0, "");
    assert_us(try.ends_s[3], 8001 + 1);
    predict_shared("cpus 2\n", 0, "");
    assert_us(try.ends_s[3], 2 + 4000 + 1);
}

/* One that comes while another computes alone cuts its turn short, after whole ones. */
static void a_turn_ends_when_another_waits(void **state)
{
    (void)state;
    try.params.whatif.cpus = 1;
    predict("process 10\nstream 0 10\nstream 0 11\n"
            "pwrite stream=0 t=0 dur=1000 fd=3 path=/a off=0 size=1\n"
            "pwrite stream=0 t=10001000 dur=1000 fd=3 path=/a off=1 size=1 gap_cpu=10000000\n"
            "pwrite stream=1 t=4000000 dur=1000 fd=3 path=/b off=0 size=1\n"
            "pwrite stream=1 t=5001000 dur=1000 fd=3 path=/b off=1 size=1 gap_cpu=1000000\n");
    assert_us(try.ends_s[2], 1 + 6000 + 1000 + 1);
    assert_us(try.ends_s[3], 1 + 10000 + 1000 + 1);
}

/* A message came at 2 ms, and was seen later by a thread that looked for it and had no processor:
 * others had it, which looked for something, too, for a turn at the most. */
static void a_looker_is_late_as_long_as_others_look(void **state)
{
    (void)state;
    static const uint32_t cpus[] = {0, 1, 2, 3};
    static const unsigned tails_us[] = {2000, 8000};
    for (size_t i = 0; i < 8; i++) {
        char script[1024];
        unsigned tail_us = tails_us[i / 4];
        (void)snprintf(script, sizeof(script),
                       TWO "cpus 2\n"
                           "pwrite stream=0 t=0 dur=1000 fd=3 path=/a off=0 size=1\n"
                           "MPI_Send stream=0 t=2000000 dur=0\n"
                           "MPI_Recv stream=1 t=0 dur=%u dur_cpu=1000\n"
                           "pwrite stream=1 t=%u dur=1000 fd=3 path=/b off=0 size=1\n"
                           "edge 0:0 1:0\n",
                       (2000 + tail_us) * US, (2001 + tail_us) * US);
        try.params.whatif.cpus = cpus[i % 4];
        predict(script);
        unsigned late_us = tail_us < 3000 ? tail_us : 3000; /* a turn */
        assert_us(try.ends_s[1], 2000 + (cpus[i % 4] > 2 ? 0 : late_us) + 1 + 1);
    }
}

/* Only holding showed that it waits for the other's writes. At the second one it comes long after
 * the release: it had been kept from a processor. At the third one it looked for the release for 20
 * ms; that it computed before for as long as the other time is what is known. */
static void a_waiter_for_what_was_held_has_computed(void **state)
{
    (void)state;
    try.params.whatif.cpus = 2;
    predict(
        "process 10\nstream 0 10\nstream 0 11\n"
        "pwrite stream=0 t=0 dur=1000 fd=3 path=/a off=0 size=1\n"
        "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=1 size=1\n"
        "pwrite stream=0 t=40001000 dur=1000 fd=3 path=/a off=2 size=1 gap_cpu=9000000\n"
        "pwrite stream=0 t=40002000 dur=1000 fd=3 path=/a off=2 size=1\n"
        "pwrite stream=1 t=1000 dur=1000 fd=3 path=/b off=0 size=1\n"
        "pwrite stream=1 t=20002000 dur=1000 fd=3 path=/b off=1 size=1 at=0x10 gap_cpu=5000000\n"
        "pwrite stream=1 t=40012000 dur=1000 fd=3 path=/b off=2 size=1 at=0x10 gap_cpu=20000000\n"
        "edge 0:0 1:1 evidence=held\nedge 0:2 1:2 evidence=held\n");
    assert_us(try.ends_s[3], 3 + 5000 + 1);
    assert_us(try.ends_s[6], 5004 + 5000 + 1);
}

/* Calls that copy: 1 ms each, four of two threads one behind the other. */
#define COPIES(stream, file)                                                                       \
    "pwrite stream=" stream " t=0 dur=1000 fd=3 path=" file " off=0 size=1000\n"                   \
    "pwrite stream=" stream " t=1000 dur=1000 fd=3 path=" file " off=1000 size=1000\n"             \
    "pwrite stream=" stream " t=2000 dur=1000 fd=3 path=" file " off=2000 size=1000\n"             \
    "pwrite stream=" stream " t=3000 dur=1000 fd=3 path=" file " off=3000 size=1000\n"

static void predict_copies(uint32_t cpus, const double ends_us[8])
{
    try.params.model = WIO_MODEL_KERNEL;
    try.params.whatif.cpus = cpus;
    predict("process 10\nstream 0 10\nstream 0 11\n" COPIES("0", "/a") COPIES("1", "/b"));
    for (size_t i = 0; i < 8; i++) {
        assert_us(try.ends_s[i], ends_us[i]);
    }
}

static void calls_that_copy_take_turns_too(void **state)
{
    (void)state;
    static const double two[] = {1000, 1000, 2000, 2000, 3000, 3000, 4000, 4000};
    static const double one[] = {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000};
    predict_copies(2, two);
    predict_copies(0, two);
    predict_copies(1, one);
}

/* The first one's page is on its way to the device for 4.1 ms while the second one copies. */
static void a_waiter_for_the_device_gives_way(void **state)
{
    (void)state;
    try.params.model = WIO_MODEL_KERNEL;
    try.params.whatif.cpus = 1;
    predict("process 10\nstream 0 10\nstream 0 11\n"
            "pwrite stream=0 t=0 dur=1000 fd=3 path=/a off=0 size=1000\n"
            "fsync stream=0 t=1000 dur=1000 fd=3 path=/a\n"
            "pwrite stream=1 t=0 dur=1000 fd=4 path=/b off=0 size=1000\n"
            "pwrite stream=1 t=1000 dur=1000 fd=4 path=/b off=1000 size=1000\n");
    assert_us(try.ends_s[0], 1000);
    assert_us(try.ends_s[1], 2000);
    assert_us(try.ends_s[2], 3000);
    assert_us(try.ends_s[3], 1000 + 4096);
}

/* The first one locks every 50 us behind its copying, which needs no processor of its own. */
static void gaps_between_points_end_with_the_turn(void **state)
{
    (void)state;
    static char text[16384];
    size_t at = (size_t)snprintf(text, sizeof(text),
                                 "process 10\nstream 0 10\nstream 0 11\n"
                                 "pwrite stream=0 t=0 dur=1000 fd=3 path=/a off=0 size=1000\n"
                                 "pwrite stream=1 t=0 dur=1000 fd=4 path=/b off=0 size=1000\n");
    for (unsigned i = 1; i <= 200; i++) {
        at += (size_t)snprintf(text + at, sizeof(text) - at,
                               "pthread_mutex_lock stream=0 t=%u dur=0 a0=0x7000\n",
                               1000 + i * 50 * US);
    }
    try.params.model = WIO_MODEL_KERNEL;
    try.params.whatif.cpus = 1;
    predict(text);
    assert_us(try.ends_s[0], 1000);
    assert_us(try.ends_s[1], 3000 + 1000); /* a turn */
}

/* Made early, while the second one sleeps; when it looks the third one copies, up to 1100 us. What
 * it computes then comes behind that. */
static void a_look_in_vain_waits_for_a_processor(void **state)
{
    (void)state;
    try.params.model = WIO_MODEL_KERNEL;
    try.params.whatif.cpus = 1;
    predict("process 10\nstream 0 10\nstream 0 11\nstream 0 12\n"
            "pwrite stream=0 t=20000 dur=668000 fd=3 path=/x off=0 size=5\n"
            "open stream=0 t=689000 dur=1000 path=/a a0=0x41 res=3\n"
            "access stream=1 t=1000 dur=1000 path=/a err=2\n"
            "nanosleep stream=1 t=2000 dur=198000\n"
            "access stream=1 t=200000 dur=1000 path=/a err=2\n"
            "access stream=1 t=701000 dur=1000 path=/a\n"
            "pwrite stream=1 t=702000 dur=1000 fd=4 path=/b off=0 size=7\n"
            "pwrite stream=2 t=100000 dur=1000 fd=5 path=/c off=0 size=1000\n"
            "edge 0:1 1:3 evidence=poll\n"
            "poll-loop 1:0 3\n");
    assert_us(try.ends_s[1], 1100);
    assert_us(try.ends_s[2], 1100 + 500 + 1 + 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRY(enough_processors_make_no_thread_wait),
        TRY(threads_take_turns),
        TRY(unknown_processors_leave_time_as_it_was),
        TRY(a_sleeper_takes_its_time),
        TRY(a_host_says_how_many_it_has),
        TRY(else_they_are_as_many_as_there_were),
        TRY(a_turn_ends_when_another_waits),
        TRY(a_looker_is_late_as_long_as_others_look),
        TRY(a_waiter_for_what_was_held_has_computed),
        TRY(calls_that_copy_take_turns_too),
        TRY(a_waiter_for_the_device_gives_way),
        TRY(gaps_between_points_end_with_the_turn),
        TRY(a_look_in_vain_waits_for_a_processor),
    };
    return WIO_RUN(tests);
}
