/* SPDX-License-Identifier: Apache-2.0 */
/* On which file each event of a trace works. */
#include "support/unit.h"

#include <fcntl.h>
#include <stdlib.h>

#include "predict/program.h"
#include "support/script_open.h"

static struct wio_trace *trace;
static struct wio_program program;
static struct wio_used_files_reader *readers;

static void read_program(const char *script)
{
    struct wio_error err = WIO_ERROR_INIT;
    trace = script_open(script);
    program = (struct wio_program){0};
    assert_ok(wio_program_init(&program, trace, &err), &err);
    assert_int_equal(wio_used_files_readers(&program.files, &readers), WIO_OK);
}

static int drop_program(void **state)
{
    (void)state;
    wio_program_fini(&program);
    wio_trace_close(trace);
    free(readers);
    return 0;
}

static struct wio_event_files at(uint32_t stream, uint64_t seq)
{
    return *wio_used_files_at(&readers[stream], seq);
}

static void a_removed_file_is_another_one(void **state)
{
    (void)state;
    read_program("open path=/a a0=0x41 res=3\n"
                 "pwrite fd=3 path=/a off=0 size=9\n"
                 "unlink path=/a\n"
                 "pwrite fd=3 path=/a off=0 size=9\n"
                 "open path=/a a0=0x41 res=4\n"
                 "pwrite fd=4 path=/a off=0 size=9\n"
                 "close fd=3 path=/a\n");
    assert_false(at(0, 0).was_there);
    assert_false(at(0, 4).was_there);
    assert_int_equal(at(0, 2).file, at(0, 1).file);
    assert_int_equal(at(0, 3).file, at(0, 1).file); /* it has no name, and is open */
    assert_int_not_equal(at(0, 5).file, at(0, 1).file);
    assert_int_equal(at(0, 6).file, at(0, 1).file);
}

static void a_rename_replaces(void **state)
{
    (void)state;
    read_program("stat path=/b\n"
                 "open path=/a a0=0x41 res=3\n"
                 "rename path=/a path2=/b\n"
                 "open path=/b a0=0x41 res=4\n"
                 "copy_file_range fd2=3 path2=/a off2=0 fd=4 path=/b off=9 size=9\n"
                 "rename path=/b path2=/c\n");
    assert_int_equal(at(0, 2).file, at(0, 1).file);
    assert_int_equal(at(0, 2).file2, at(0, 0).file);
    assert_true(at(0, 2).was_there);
    assert_int_equal(at(0, 3).file, at(0, 1).file);
    assert_true(at(0, 3).was_there);
    assert_int_equal(at(0, 4).file, at(0, 1).file);
    assert_int_equal(at(0, 4).file2, at(0, 1).file);
    assert_false(at(0, 5).was_there);
}

/* Streams may be read back and forth, and begin behind an exec. */
static void streams_are_read_on_their_own(void **state)
{
    (void)state;
    read_program("process 10 host=n1\nprocess 20 host=n2\nstream 0 10\nstream 1 20\n"
                 "open stream=0 path=/a a0=0 res=3\n"
                 "open stream=1 path=/a a0=0x4000 res=3\n"
                 "pread stream=0 fd=3 path=/a off=0 size=9\n"
                 "pread stream=1 fd=3 path=/a off=0 size=9\n"
                 "open stream=0 path=/b a0=0 res=4\n"
                 "pread stream=0 fd=4 path=/b off=0 size=9\n"
                 "pread stream=0 fd=3 path=/a off=0 size=9\n");
    assert_int_equal(at(0, 1).file, at(1, 1).file);
    assert_int_equal(at(1, 1).flags, O_DIRECT);
    assert_int_equal(at(0, 4).file, at(0, 1).file);
    assert_int_equal(at(0, 3).file, at(0, 2).file);
    assert_int_equal(at(0, 0).file, at(0, 1).file);
    assert_int_equal(at(0, 4).file, at(0, 1).file);
    assert_int_not_equal(at(0, 3).file, at(0, 1).file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_removed_file_is_another_one, drop_program),
        cmocka_unit_test_teardown(a_rename_replaces, drop_program),
        cmocka_unit_test_teardown(streams_are_read_on_their_own, drop_program),
    };
    return WIO_RUN(tests);
}
