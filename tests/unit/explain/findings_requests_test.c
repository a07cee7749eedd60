/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are small or at random places, whatever call makes them and waits for them. */
#include "findings_script.h"

static void expect_change(const char *kind, const char *change, bool is_removal)
{
    struct run run = explain_with(wio_thresholds_default());
    const struct wio_finding *first = &run.of->findings.items[0];

    assert_true(run.of->findings.count > 0);
    assert_string_equal(first->kind, kind);
    assert_non_null(strstr(first->change, change));
    assert_int_equal(first->is_removal, is_removal);
    run_end(&run);
}

/* ---- asynchronous requests ---- */

/* One at a time; what is waited for it by `waits` has the time. */
static void add_requests(const char *request, const char *waits)
{
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("%s t=%u dur=8000 fd=3 path=/d/a off=%u size=100 async at=0x20\n", request,
            10000 + i * 10000, i * 100);
        add("%s t=%u dur=7900 at=0x21\n", waits, 10100 + i * 10000);
    }
}

static void requests_that_are_waited_for_one_by_one(void **state)
{
    (void)state;
    static const char *const waits[] = {"aio_suspend", "lio_listio", "io_getevents",
                                        "io_uring_enter fd=5 path=anon_inode:[io_uring]"};
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        add_requests("aio_read", waits[i]);
        expect("small_reads");
        add_requests("uring_write", waits[i]);
        expect("small_writes");
        expect_change("small_writes", "under way at a time", true);
    }
}

/* A lock is no call that collects requests. */
static void what_waits_for_others_is_no_request(void **state)
{
    (void)state;
    add_requests("aio_read", "pthread_mutex_lock a0=7");
    struct run run = explain_with(wio_thresholds_default());
    for (uint32_t i = 0; i < run.of->findings.count; i++) {
        assert_string_not_equal(run.of->findings.items[i].kind, "small_reads");
    }
    run_end(&run);
}

/* The wait goes on behind the request: that part is the call's own. */
static void a_request_has_the_time_in_which_it_is_under_way(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("aio_read t=%u dur=4000 fd=3 path=/d/a off=%u size=100 async at=0x20\n",
            10000 + i * 10000, i * 100);
        add("aio_suspend t=%u dur=8000 at=0x21\n", 11000 + i * 10000);
    }
    struct run run = explain_with(wio_thresholds_default());
    assert_string_equal(run.of->findings.items[1].kind, "small_reads");
    assert_true(run.of->findings.items[1].seconds > 299e-6 &&
                run.of->findings.items[1].seconds < 301e-6);
    run_end(&run);
}

/* ---- bytes that the thread has written ---- */

static void small_reads_of_what_was_written_before(void **state)
{
    (void)state;
    begin_script(OPEN "write t=5000 dur=10 fd=3 path=/d/a off=0 size=100000000 at=0x18\n");
    for (unsigned i = 0; i < 100; i++) {
        add("pread t=%u dur=8000 fd=3 path=/d/a off=%u size=100 at=0x20\n", 10000 + i * 10000,
            i * 100);
    }
    expect("small_reads");
}

static void small_reads_at_once_behind_each_write(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("pwrite t=%u dur=10 fd=3 path=/d/a off=%u size=100 at=0x18\n", 10000 + i * 10000,
            i * 100);
        add("pread t=%u dur=8000 fd=3 path=/d/a off=%u size=100 at=0x20\n", 10100 + i * 10000,
            i * 100);
    }
    expect("read_after_write");
}

static void written_once_and_read_again_and_again(void **state)
{
    (void)state;
    begin_script(OPEN "write t=5000 dur=10 fd=3 path=/d/a off=0 size=1000000 at=0x18\n");
    for (unsigned i = 0; i < 100; i++) {
        add("pread t=%u dur=8000 fd=3 path=/d/a off=0 size=1000000 at=0x20\n", 10000 + i * 10000);
    }
    expect("redundant_reads");
}

static void a_file_that_is_read_once_behind_its_writes(void **state)
{
    (void)state;
    begin_script(OPEN "write t=5000 dur=10 fd=3 path=/d/a off=0 size=1000000 at=0x18\n"
                      "pread t=10000 dur=8000 fd=3 path=/d/a off=0 size=1000000 at=0x20\n");
    expect("other_io");
}

/* ---- larger requests ---- */

static void reads_with_gaps_between_them(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("pread t=%u dur=8000000 fd=3 path=/d/a off=%u size=100 at=0x20\n", 10000 + i * 8001000,
            i * 16384);
    }
    expect_change("small_reads", "with the gaps", true);
}

/* Reading all that lies between them would take longer. */
static void reads_that_are_far_apart(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("pread t=%u dur=8000 fd=3 path=/d/a off=%u000000 size=100 at=0x20\n", 10000 + i * 10000,
            i);
    }
    expect_change("small_reads", "many of them at a time", false);
}

static void reads_without_gaps(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("pread t=%u dur=8000 fd=3 path=/d/a off=%u size=100 at=0x20\n", 10000 + i * 10000,
            i * 100);
    }
    expect_change("small_reads", "gather reads", false);
}

/* The begin of a file that has more: nothing lies between these reads. */
static void reads_of_a_part_have_no_gaps(void **state)
{
    (void)state;
    begin_script(OPEN);
    add("pread t=5000 dur=1000 fd=3 path=/d/a off=900000 size=1 res=0 at=0x21\n");
    add("pwrite t=7000 dur=1000 fd=3 path=/d/a off=999999 size=1 at=0x22\n");
    for (unsigned i = 0; i < 100; i++) {
        add("pread t=%u dur=8000000 fd=3 path=/d/a off=%u size=100 at=0x20\n", 10000 + i * 8001000,
            i * 100);
    }
    expect_change("small_reads", "gather reads", false);
}

/* A larger buffer of a stream does not hold records that lie far apart. */
static void streams_at_random_places(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        unsigned at = i * 7919 % 100 * 65536;
        add("fwrite t=%u dur=8000000 fd=3 path=/d/a off=%u size=4096 at=0x20\n",
            10000 + i * 8001000, at);
        add("write t=%u dur=7999000 fd=3 path=/d/a off=%u size=4096 at=0x20 caused\n",
            10500 + i * 8001000, at);
    }
    struct run run = explain_with(wio_thresholds_default());
    assert_true(run.of->findings.count > 0);
    assert_null(strstr(run.of->findings.items[0].change, "buffer of 1 MiB"));
    run_end(&run);
}

static void copies_in_small_parts(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("sendfile t=%u dur=8000 fd=3 path=/d/a off=%u size=100 at=0x20\n", 10000 + i * 10000,
            i * 100);
    }
    expect_change("small_writes", "each call copy", true);
}

/* ---- flushes ---- */

static void flushes_of_mapped_pages(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("msync t=%u dur=8000 path=/d/a off=%u size=4096 at=0x20\n", 10000 + i * 10000,
            i * 4096);
    }
    expect_change("sync_storm", "one flush for every 16", true);
}

static void a_file_opened_for_each_flush(void **state)
{
    (void)state;
    begin_script("");
    for (unsigned i = 0; i < 100; i++) {
        add("open t=%u dur=10 path=/d/f res=3 a0=66 at=0x10\n", i * 10000);
        add("write t=%u dur=10 fd=3 path=/d/f off=0 size=100 at=0x11\n", i * 10000 + 100);
        add("fsync t=%u dur=8000 fd=3 path=/d/f at=0x12\n", i * 10000 + 200);
        add("close t=%u dur=10 fd=3 path=/d/f at=0x13\n", i * 10000 + 8300);
    }
    expect_change("sync_storm", "commit 16", true);
}

/* Each rank has opened the file once: one flush for several is right. */
static void a_file_of_all_ranks_is_opened_by_each(void **state)
{
    (void)state;
    begin_script("");
    for (unsigned rank = 0; rank < 32; rank++) {
        add("process %u rank=%u\nstream %u %u\n", 10 + rank, rank, rank, 10 + rank);
    }
    for (unsigned rank = 0; rank < 32; rank++) {
        add("open stream=%u t=%u dur=10 path=/d/f res=3 a0=66 at=0x10\n", rank, rank);
        for (unsigned i = 0; i < 34; i++) {
            unsigned t = 10000 + i * 10000 + rank;
            add("write stream=%u t=%u dur=10 fd=3 path=/d/f off=%u size=100 at=0x11\n", rank, t,
                i * 100);
            add("fsync stream=%u t=%u dur=8000 fd=3 path=/d/f at=0x12\n", rank, t + 100);
        }
    }
    expect_change("sync_storm", "one flush for every 16", false);
}

/* ---- names ---- */

/* Each file is opened once, by a call of stdio. */
static void files_that_are_opened_once_by_stdio(void **state)
{
    (void)state;
    begin_script("");
    for (unsigned i = 0; i < 100; i++) {
        unsigned t = i * 20000;
        add("fopen t=%u dur=8000 path=/d/f%u res=3 at=0x10\n", t, i);
        add("open t=%u dur=7000 path=/d/f%u res=3 a0=0 at=0x10 caused\n", t + 500, i);
        add("close t=%u dur=3000 fd=3 path=/d/f%u at=0x30\n", t + 9000, i);
    }
    struct run run = explain_with(wio_thresholds_default());
    for (uint32_t i = 0; i < run.of->findings.count; i++) {
        assert_string_not_equal(run.of->findings.items[i].kind, "open_storm");
    }
    run_end(&run);
}

static void temporary_files_are_names_that_are_made(void **state)
{
    (void)state;
    begin_script("");
    for (unsigned i = 0; i < 100; i++) {
        add("mkstemp t=%u dur=8000 path=/d/t%u res=3 at=0x10\n", i * 10000, i);
        add("close t=%u dur=10 fd=3 path=/d/t%u at=0x11\n", i * 10000 + 8100, i);
    }
    expect("metadata_storm");
}

static void what_is_asked_of_each_descriptor_goes_with_its_open(void **state)
{
    (void)state;
    begin_script("");
    for (unsigned i = 0; i < 100; i++) {
        add("open t=%u dur=2000 path=/d/f res=3 a0=0 at=0x10\n", i * 10000);
        add("fstat t=%u dur=6000 fd=3 path=/d/f at=0x10\n", i * 10000 + 2100);
        add("close t=%u dur=10 fd=3 path=/d/f at=0x10\n", i * 10000 + 8200);
    }
    struct run run = explain_with(wio_thresholds_default());
    assert_string_equal(run.of->findings.items[0].kind, "open_storm");
    assert_true(run.of->findings.items[0].seconds > 790e-6);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_are_waited_for_one_by_one),
        cmocka_unit_test(what_waits_for_others_is_no_request),
        cmocka_unit_test(a_request_has_the_time_in_which_it_is_under_way),
        cmocka_unit_test(small_reads_of_what_was_written_before),
        cmocka_unit_test(small_reads_at_once_behind_each_write),
        cmocka_unit_test(written_once_and_read_again_and_again),
        cmocka_unit_test(a_file_that_is_read_once_behind_its_writes),
        cmocka_unit_test(reads_with_gaps_between_them),
        cmocka_unit_test(reads_that_are_far_apart),
        cmocka_unit_test(reads_without_gaps),
        cmocka_unit_test(reads_of_a_part_have_no_gaps),
        cmocka_unit_test(streams_at_random_places),
        cmocka_unit_test(a_file_of_all_ranks_is_opened_by_each),
        cmocka_unit_test(files_that_are_opened_once_by_stdio),
        cmocka_unit_test(copies_in_small_parts),
        cmocka_unit_test(flushes_of_mapped_pages),
        cmocka_unit_test(a_file_opened_for_each_flush),
        cmocka_unit_test(temporary_files_are_names_that_are_made),
        cmocka_unit_test(what_is_asked_of_each_descriptor_goes_with_its_open),
    };
    return WIO_RUN(tests);
}
