/* SPDX-License-Identifier: Apache-2.0 */
/* Which finding has the seconds, on traces made by hand. */
#include "findings_script.h"

#include <stdio.h>
#include <string.h>

static void flushes_of_little_data_are_a_storm(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("write t=%u dur=1000 fd=3 path=/d/a off=%u size=100 at=0x20\n", 10000 + i * 10000, i);
        add("fsync t=%u dur=8000 fd=3 path=/d/a at=0x30\n", 11000 + i * 10000);
    }
    expect("sync_storm");
}

static void flushes_of_much_data_are_none(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("write t=%u dur=1000 fd=3 path=/d/a off=%u0000000 size=10000000 at=0x20\n",
            10000 + i * 10000, i);
        add("fsync t=%u dur=8000 fd=3 path=/d/a at=0x30\n", 11000 + i * 10000);
    }
    expect("other_io");
}

/* `first` has O_SYNC, and writes; `other` has not, and is opened later. Flags: O_RDWR | O_SYNC. */
static void synchronous_writes_are_those_of_their_descriptor(void **state)
{
    (void)state;
    static const char *const kinds[] = {"sync_storm", "small_writes"};
    for (unsigned fd = 3; fd < 5; fd++) {
        begin_script("open t=0 dur=1000 path=/d/a res=3 a0=1052674 at=0x10\n"
                     "open t=2000 dur=1000 path=/d/a res=4 a0=2 at=0x10\n");
        for (unsigned i = 0; i < 100; i++) {
            add("write t=%u dur=8000 fd=%u path=/d/a off=%u size=100 at=0x20\n", 10000 + i * 10000,
                fd, i * 100);
        }
        expect(kinds[fd - 3]);
    }
}

static void small_writes_in_a_row(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("write t=%u dur=8000 fd=3 path=/d/a off=%u size=100 at=0x20\n", 10000 + i * 10000,
            i * 100);
    }
    expect("small_writes");
}

static void fewer_than_the_threshold_are_no_pattern(void **state)
{
    struct wio_thresholds thresholds = wio_thresholds_default();
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("write t=%u dur=8000 fd=3 path=/d/a off=%u size=100 at=0x20\n", 10000 + i * 10000,
            i * 100);
    }
    thresholds.many_requests = 101;
    struct run run = explain_with(thresholds);
    assert_string_equal(run.of->findings.items[0].kind, "other_io");
    run_end(&run);
}

static void reads_at_random_places(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("pread t=%u dur=8000 fd=3 path=/d/a off=%u size=4096 at=0x20\n", 10000 + i * 10000,
            i * 7919u % 101 * 40960000u);
    }
    expect("random_access");
}

static void a_rate_of_many_bytes_is_right(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("write t=%u dur=1000000000 fd=3 path=/d/a off=%u000000000 size=1073741824 at=0x20\n",
            10000 + i * 10000, i * 2);
    }
    struct run run = explain_with(wio_thresholds_default());
    assert_string_equal(run.of->findings.items[0].kind, "other_io");
    assert_string_equal(run.of->findings.items[0].detail, "1.00 GiB/s");
    run_end(&run);
}

static void the_same_bytes_again(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 100; i++) {
        add("pread t=%u dur=8000 fd=3 path=/d/a off=0 size=1000000 at=0x20\n", 10000 + i * 10000);
    }
    expect("redundant_reads");
}

/* `between`: what is done to the file before each read of it, by another thread. */
static void add_reads_of_changed(const char *between)
{
    begin_script("process 1\nprocess 2\nstream 0 1\nstream 1 2\n"
                 "open stream=0 t=0 dur=10 path=/d/a res=3 a0=2 at=0x10\n");
    for (unsigned i = 0; i < 100; i++) {
        add("%s stream=1 t=%u dur=10 at=0x15\n", between, 5000 + i * 10000);
        add("pread stream=0 t=%u dur=8000 fd=3 path=/d/a off=0 size=1000000 at=0x20\n",
            10000 + i * 10000);
    }
}

static void bytes_that_have_changed_are_not_the_same(void **state)
{
    (void)state;
    static const char *const changes[] = {"open path=/d/a a0=512 res=4",
                                          "ftruncate fd=4 path=/d/a size=0 res=0",
                                          "rename path=/d/new path2=/d/a", "unlink path=/d/a",
                                          "pwrite fd=4 path=/d/a off=0 size=1000000"};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        add_reads_of_changed(changes[i]);
        struct run run = explain_with(wio_thresholds_default());
        for (uint32_t k = 0; k < run.of->findings.count; k++) {
            assert_string_not_equal(run.of->findings.items[k].kind, "redundant_reads");
        }
        run_end(&run);
    }
    add_reads_of_changed("pwrite fd=4 path=/d/a off=9000000 size=1000000");
    expect("redundant_reads");
}

static void what_the_kernel_makes_up_is_neither_the_same_nor_small(void **state)
{
    (void)state;
    for (unsigned size = 100; size < 10000000; size *= 10000) {
        begin_script("open t=0 dur=10 path=/proc/stat res=3 a0=0 at=0x10\n");
        for (unsigned i = 0; i < 100; i++) {
            add("pread t=%u dur=8000 fd=3 path=/proc/stat off=0 size=%u at=0x20\n",
                10000 + i * 10000, size);
        }
        expect("other_io");
    }
}

static void bytes_that_it_has_written(void **state)
{
    (void)state;
    begin_script(OPEN "write t=5000 dur=10 fd=3 path=/d/a off=0 size=100000000 at=0x18\n");
    for (unsigned i = 0; i < 100; i++) {
        add("pread t=%u dur=8000 fd=3 path=/d/a off=%u size=1000000 at=0x20\n", 10000 + i * 10000,
            i * 1000000);
    }
    expect("read_after_write");
}

static void many_files_of_little_data(void **state)
{
    (void)state;
    begin_script("");
    for (unsigned i = 0; i < 100; i++) {
        add("open t=%u dur=4000 path=/d/f%u res=3 a0=66 at=0x10\n", i * 10000, i);
        add("write t=%u dur=2000 fd=3 path=/d/f%u off=0 size=100 at=0x20\n", i * 10000 + 4000, i);
        add("close t=%u dur=3000 fd=3 path=/d/f%u at=0x30\n", i * 10000 + 6000, i);
    }
    expect("many_small_files");
}

/* `text`: of paths; no data is read where `size` is 0. */
static void add_files(const char *text, unsigned size)
{
    begin_script("");
    for (unsigned i = 0; i < 100; i++) {
        add("open t=%u dur=4000 path=%s%u res=3 a0=0 at=0x10\n", i * 10000, text, i);
        if (size > 0) {
            add("read t=%u dur=2000 fd=3 path=%s%u off=0 size=%u at=0x20\n", i * 10000 + 4000, text,
                i, size);
        }
        add("close t=%u dur=3000 fd=3 path=%s%u at=0x30\n", i * 10000 + 6000, text, i);
    }
}

static void only_files_that_hold_data_are_many(void **state)
{
    (void)state;
    add_files("/d/f", 100);
    expect("many_small_files");
    add_files("/proc/", 100);
    expect("other_io");
    add_files("/sys/class/", 100);
    expect("other_io");
    add_files("/d/f", 0);
    expect("other_io");
}

static void each_file_looked_at_once_is_no_storm(void **state)
{
    (void)state;
    begin_script("");
    for (unsigned i = 0; i < 100; i++) {
        add("stat t=%u dur=4000 path=/d/f%u at=0x10\n", i * 10000, i);
        add("lgetxattr t=%u dur=3000 path=/d/f%u err=61 at=0x30\n", i * 10000 + 6000, i);
    }
    expect("other_io");
    begin_script("");
    for (unsigned i = 0; i < 100; i++) {
        add("stat t=%u dur=4000 path=/d/f%u err=2 at=0x10\n", i * 10000, i);
    }
    expect("stat_storm");
    begin_script("");
    for (unsigned i = 0; i < 400; i++) {
        add("stat t=%u dur=4000 path=/d/f%u at=0x10\n", i * 10000, i % 40);
    }
    expect("stat_storm");
}

static void one_file_opened_again_and_again(void **state)
{
    (void)state;
    begin_script("");
    for (unsigned i = 0; i < 100; i++) {
        add("open t=%u dur=4000 path=/d/f res=3 a0=66 at=0x10\n", i * 10000);
        add("close t=%u dur=3000 fd=3 path=/d/f at=0x30\n", i * 10000 + 6000);
    }
    expect("open_storm");
}

/* `times`: of each of `directories`, of 10 entries. */
static void add_scans(unsigned directories, unsigned times)
{
    begin_script("");
    for (unsigned i = 0; i < directories * times; i++) {
        unsigned number = i % directories;
        add("opendir t=%u dur=1000 path=/d/%u res=3 at=0x10\n", i * 100000, number);
        for (unsigned k = 0; k < 10; k++) {
            add("readdir t=%u dur=4000 fd=3 path=/d/%u res=%d at=0x20\n",
                i * 100000 + 1000 + k * 5000, number, k < 9);
        }
        add("closedir t=%u dur=3000 fd=3 path=/d/%u at=0x30\n", i * 100000 + 90000, number);
    }
}

static void a_directory_read_again_and_again(void **state)
{
    (void)state;
    add_scans(1, 5);
    expect("dir_scan");
    add_scans(30, 5);
    expect("dir_scan");
}

static void entries_of_directories_read_once_are_no_scans(void **state)
{
    (void)state;
    add_scans(1, 3);
    expect("other_io");
    add_scans(5, 1);
    expect("other_io");
    add_scans(50, 1);
    expect("other_io");
}

static void writes_that_stand_for_write_back(void **state)
{
    (void)state;
    begin_script(OPEN);
    for (unsigned i = 0; i < 40; i++) {
        add("write t=%u0000000 dur=%u fd=3 path=/d/a off=%u size=1000000 at=0x20\n", i + 1,
            i < 30 ? 100000 : 9000000, i * 1000000);
    }
    expect("page_cache_throttling");
}

/* Two threads write in turn under a lock, then read at the same time. */
static void turns_are_of_the_threads_and_the_io_of_the_lock(void **state)
{
    (void)state;
    begin_script("process 1\nstream 0 1\nstream 0 2\n");
    for (unsigned long long i = 0, t = 0; i < 8; i++, t += 2000000000) {
        add("write stream=0 t=%llu dur=999990000 fd=3 path=/d/a size=1000000 at=0x20\n", t + 2000);
        add("pthread_mutex_lock stream=1 t=%llu dur=999999000 at=0x30\n", t + 1000);
        add("pthread_mutex_unlock stream=0 t=%llu dur=100 at=0x40\n", t + 1000000000);
        add("pthread_mutex_lock stream=0 t=%llu dur=999999000 at=0x30\n", t + 1000001000);
        add("write stream=1 t=%llu dur=999990000 fd=3 path=/d/b size=1000000 at=0x20\n",
            t + 1000002000);
        add("pthread_mutex_unlock stream=1 t=%llu dur=100 at=0x40\n", t + 2000000000);
        add("edge 0:%llu 1:%llu class=mutex evidence=lock\n", 3 * i + 1, 3 * i);
        add("edge 1:%llu 0:%llu class=mutex evidence=lock\n", 3 * i + 2, 3 * i + 2);
    }
    for (unsigned stream = 0; stream < 2; stream++) {
        add("read stream=%u t=16000010000 dur=6000000000 fd=4 path=/d/c.%u size=1000000 at=0x50\n",
            stream, stream);
    }
    struct run run = explain_with(wio_thresholds_default());
    const struct wio_finding *finding = &run.of->findings.items[0];
    assert_string_equal(finding->kind, "serialised");
    assert_string_equal(finding->title, "I/O of 2 threads one after the other, by a lock");
    double seconds = 0; /* of main threads and of others */
    for (uint32_t i = 0; i < run.of->findings.count; i++) {
        bool is_serial = strcmp(run.of->findings.items[i].kind, finding->kind) == 0;
        seconds += is_serial ? run.of->findings.items[i].seconds : 0;
    }
    assert_true(seconds > 15.9 && seconds < 16.1);
    run_end(&run);
}

/* Rank 0 writes 4 s and then rank 1 does, while the other waits; `last` ends the run. */
static void expect_turns_of_two(unsigned last)
{
    const unsigned long long second = 1000000000;

    begin_script("process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n");
    for (unsigned long long i = 0; i < 4; i++) {
        add("write stream=0 t=%llu dur=999999999 fd=3 path=/d/a off=%llu size=1000000 at=0x20\n",
            i * second, i * 1000000);
    }
    add("MPI_Barrier stream=1 t=0 dur=4000001000 at=0x30\n");
    add("MPI_Barrier stream=0 t=4000000000 dur=1000 at=0x30\n");
    for (unsigned long long i = 0; i < 4; i++) {
        add("write stream=1 t=%llu dur=999990000 fd=3 path=/d/b off=%llu size=1000000 at=0x20\n",
            4000002000 + i * second, i * 1000000);
    }
    add("MPI_Barrier stream=0 t=4000002000 dur=%llu at=0x40\n",
        4 * second + (last == 0 ? 9000 : 1000));
    add("MPI_Barrier stream=1 t=8000002000 dur=%u at=0x40\n", last == 1 ? 9000 : 1000);
    add("collective 0:4 1:0\ncollective 0:5 1:5\n");
    struct run run = explain_with(wio_thresholds_default());
    const struct wio_finding *finding = &run.of->findings.items[0];
    assert_string_equal(finding->kind, "serialised");
    assert_true(finding->seconds > 7.99 && finding->seconds < 8.01);
    run_end(&run);
}

static void turns_are_the_same_whichever_rank_ends_last(void **state)
{
    (void)state;
    expect_turns_of_two(0);
    expect_turns_of_two(1);
}

static void flushes_count_what_all_threads_have_written(void **state)
{
    (void)state;
    begin_script("process 1\nstream 0 1\nstream 0 2\n");
    for (unsigned i = 0; i < 100; i++) {
        add("write stream=0 t=%u dur=1000 fd=3 path=/d/a off=%u0000000 size=10000000 at=0x20\n",
            10000 + i * 10000, i);
        add("fsync stream=1 t=%u dur=8000 fd=3 path=/d/a at=0x30\n", 11000 + i * 10000);
    }
    expect("other_io");
}

static void a_flush_of_a_directory_has_its_own_words(void **state)
{
    (void)state;
    begin_script("open t=0 dur=1000 path=/d res=3 a0=65536 at=0x10\n");
    for (unsigned i = 0; i < 100; i++) {
        add("fsync t=%u dur=8000 fd=3 path=/d at=0x30\n", 11000 + i * 10000);
    }
    struct run run = explain_with(wio_thresholds_default());
    assert_string_equal(run.of->findings.items[0].kind, "sync_storm");
    assert_string_equal(run.of->findings.items[0].title,
                        "fsync of a directory, for the names in it");
    run_end(&run);
}

static void a_rank_that_needs_longer(void **state)
{
    (void)state;
    begin_script("process 1 rank=0\nprocess 2 rank=1\nprocess 3 rank=2\n"
                 "stream 0 1\nstream 1 2\nstream 2 3\n");
    for (unsigned i = 0; i < 3; i++) {
        add("write stream=%u t=1000 dur=%u fd=3 path=/d/a.%u off=0 size=100000000 at=0x20\n", i,
            i == 1 ? 9000000 : 1000000, i);
    }
    expect("straggler");
}

/* Each name is another one: so many calls are a storm whatever they name. */
static void a_storm_may_name_a_file_once(void **state)
{
    (void)state;
    begin_script("");
    for (unsigned i = 0; i < 20; i++) {
        add("mkdir t=%u dur=4000000 path=/d/%u res=0 at=0x10\n", i * 5000000, i);
    }
    struct run run = explain_with(wio_thresholds_default());
    assert_string_equal(run.of->findings.items[0].kind, "metadata_storm");
    assert_int_equal(run.of->findings.count, 1);
    run_end(&run);
}

/* Rank 0 writes for all, then all write: both are told, with what each costs. */
static void one_rank_at_a_line_is_told_beside_other_lines(void **state)
{
    (void)state;
    begin_script("process 10 rank=0\nprocess 20 rank=1\nstream 0 10\nstream 1 20\n");
    for (unsigned i = 0; i < 100; i++) {
        add("pwrite stream=0 t=%u dur=4000000 fd=3 path=/d/a off=%u size=1048576 at=0x10\n",
            i * 4000000, i * 1048576);
    }
    add("MPI_Barrier stream=0 t=400000000 dur=1000000 at=0x50\n");
    add("MPI_Barrier stream=1 t=0 dur=401000000 at=0x50\n");
    add("collective 0:100 1:0\n");
    for (unsigned i = 0; i < 400; i++) {
        add("pwrite stream=%u t=%u dur=900000 fd=4 path=/d/b%u off=%u size=512 at=0x20\n", i % 2,
            401000000 + i / 2 * 1000000, i % 2, i / 2 * 512);
    }
    struct run run = explain_with(wio_thresholds_default());
    const struct wio_finding *findings = run.of->findings.items;
    assert_string_equal(findings[0].kind, "one_rank");
    assert_true(findings[0].seconds > 0.39 && findings[0].seconds < 0.41);
    assert_true(findings[0].is_alone);
    assert_string_equal(findings[1].kind, "small_writes");
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flushes_of_little_data_are_a_storm),
        cmocka_unit_test(flushes_of_much_data_are_none),
        cmocka_unit_test(synchronous_writes_are_those_of_their_descriptor),
        cmocka_unit_test(small_writes_in_a_row),
        cmocka_unit_test(fewer_than_the_threshold_are_no_pattern),
        cmocka_unit_test(reads_at_random_places),
        cmocka_unit_test(a_rate_of_many_bytes_is_right),
        cmocka_unit_test(the_same_bytes_again),
        cmocka_unit_test(bytes_that_have_changed_are_not_the_same),
        cmocka_unit_test(what_the_kernel_makes_up_is_neither_the_same_nor_small),
        cmocka_unit_test(bytes_that_it_has_written),
        cmocka_unit_test(many_files_of_little_data),
        cmocka_unit_test(only_files_that_hold_data_are_many),
        cmocka_unit_test(each_file_looked_at_once_is_no_storm),
        cmocka_unit_test(one_file_opened_again_and_again),
        cmocka_unit_test(a_directory_read_again_and_again),
        cmocka_unit_test(entries_of_directories_read_once_are_no_scans),
        cmocka_unit_test(writes_that_stand_for_write_back),
        cmocka_unit_test(turns_are_of_the_threads_and_the_io_of_the_lock),
        cmocka_unit_test(turns_are_the_same_whichever_rank_ends_last),
        cmocka_unit_test(flushes_count_what_all_threads_have_written),
        cmocka_unit_test(a_flush_of_a_directory_has_its_own_words),
        cmocka_unit_test(a_rank_that_needs_longer),
        cmocka_unit_test(a_storm_may_name_a_file_once),
        cmocka_unit_test(one_rank_at_a_line_is_told_beside_other_lines),
    };
    return WIO_RUN(tests);
}
