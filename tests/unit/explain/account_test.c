/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "explain/account.h"
#include "ops/calls.h"

static void bytes_are_those_that_moved(void **state)
{
    struct wio_event event = {.op = WIO_OP_pwrite, .size = 4096, .result = 100};

    (void)state;
    assert_int_equal(wio_account_bytes(&event), 100);
    event.result = WIO_RESULT_PENDING;
    assert_int_equal(wio_account_bytes(&event), 0);
    event.result = -1;
    event.error = 5;
    assert_int_equal(wio_account_bytes(&event), 0);
    event = (struct wio_event){.op = WIO_OP_open, .result = 7};
    assert_int_equal(wio_account_bytes(&event), 0);
    event = (struct wio_event){.op = WIO_OP_copy_file_range, .result = 7};
    assert_int_equal(wio_account_bytes(&event), 7);
}

static void every_operation_has_a_kind(void **state)
{
    (void)state;
    assert_int_equal(wio_account_kind(WIO_OP_fread), WIO_IO_READ);
    assert_int_equal(wio_account_kind(WIO_OP_uring_write), WIO_IO_WRITE);
    assert_int_equal(wio_account_kind(WIO_OP_fsync), WIO_IO_META);
    assert_int_equal(wio_account_kind(WIO_OP_rename), WIO_IO_META);
    assert_int_equal(wio_account_kind(WIO_OP_io_getevents), WIO_IO_NONE);
    assert_int_equal(wio_account_kind(WIO_OP_waitpid), WIO_IO_NONE);
    assert_int_equal(wio_account_kind(60000), WIO_IO_NONE);
    assert_int_equal(wio_account_kind(WIO_OP_MPI_File_read), WIO_IO_NONE);
    for (unsigned op = 1; op < WIO_OP_COUNT; op++) {
        enum wio_class cls = wio_op_class(op);
        if (wio_account_kind(op) == WIO_IO_READ) {
            assert_true(cls == WIO_CLASS_READ || cls == WIO_CLASS_ASYNC_READ ||
                        cls == WIO_CLASS_STDIO_READ);
        }
    }
}

static void only_buffered_stdio_counts_twice(void **state)
{
    (void)state;
    assert_true(wio_account_is_buffered(WIO_OP_fread));
    assert_true(wio_account_is_buffered(WIO_OP_fflush));
    assert_true(wio_account_is_buffered(WIO_OP_fseek));
    assert_false(wio_account_is_buffered(WIO_OP_fopen));
    assert_false(wio_account_is_buffered(WIO_OP_fclose));
    assert_false(wio_account_is_buffered(WIO_OP_read));
    assert_true(wio_account_is_buffered(WIO_OP_dprintf)); /* causes a write */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_that_moved),
        cmocka_unit_test(every_operation_has_a_kind),
        cmocka_unit_test(only_buffered_stdio_counts_twice),
    };
    return WIO_RUN(tests);
}
