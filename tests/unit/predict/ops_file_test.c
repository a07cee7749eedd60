/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "predict/ops/ops_file.h"

#define LINE "{\"file\":\"%s\",\"offset\":%d,\"size\":1}\n"

static struct wio_ops_file *open_text(const void *data, size_t bytes)
{
    static char *path;
    struct wio_ops_file *file;
    struct wio_error err = WIO_ERROR_INIT;
    free(path);
    path = wio_test_path("ops.jsonl");
    wio_test_write(path, data, bytes);
    assert_ok(wio_ops_file_open(path, &file, &err), &err);
    return file;
}

static void files_get_numbers_and_empty_lines_none(void **state)
{
    (void)state;
    static const char text[] = "{\"file\":\"a\",\"offset\":1,\"size\":1}\n\n \r\n"
                               "{\"file\":\"b\",\"offset\":2,\"size\":1}\n"
                               "{\"file\":\"\\u0061\",\"offset\":3,\"size\":1}";
    struct wio_ops_file *file = open_text(text, sizeof(text) - 1);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_op ops[3];
    for (int i = 0; i < 3; i++) {
        assert_ok(wio_ops_file_next(file, &ops[i], &err), &err);
        assert_int_equal(ops[i].offset, i + 1);
    }
    assert_true(ops[0].file == ops[2].file && ops[0].file != ops[1].file);
    assert_int_equal(wio_ops_file_next(file, &ops[0], &err), WIO_END);
    assert_int_equal(wio_ops_file_next(file, &ops[0], &err), WIO_END);
    wio_ops_file_close(file);
}

static void a_mark_in_front_is_skipped(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf{\"file\":\"a\",\"offset\":1,\"size\":1}\n"
                               "\xef\xbb\xbf{\"file\":\"a\",\"offset\":1,\"size\":1}\n";
    struct wio_ops_file *file = open_text(text, sizeof(text) - 1);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_op op;
    uint64_t offset;
    assert_ok(wio_ops_file_next(file, &op, &err), &err);
    assert_int_equal(wio_ops_file_line(file, &offset), 1);
    assert_int_equal(offset, 3);
    assert_status(wio_ops_file_next(file, &op, &err), WIO_ERR_FORMAT, &err); /* only in front */
    assert_int_equal(err.offset, 3 + 33);
    wio_ops_file_close(file);
    file = open_text("\xef\xbb\xbf", 3);
    assert_int_equal(wio_ops_file_next(file, &op, &err), WIO_END);
    wio_ops_file_close(file);
}

/* More than the buffer holds: lines that straddle its end. */
static void long_lists_are_read_whole(void **state)
{
    (void)state;
    struct wio_blob text = {0};
    char line[128];
    for (int i = 0; i < 100000; i++) {
        int bytes = snprintf(line, sizeof(line), LINE, i % 3 == 0 ? "x" : "longer name", i);
        assert_int_equal(wio_blob_put(&text, line, (size_t)bytes), WIO_OK);
    }
    struct wio_ops_file *file = open_text(text.data, text.size);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_op op;
    for (int i = 0; i < 100000; i++) {
        assert_ok(wio_ops_file_next(file, &op, &err), &err);
        assert_int_equal(op.offset, i);
    }
    uint64_t done;
    uint64_t total;
    wio_ops_file_progress(file, &done, &total);
    assert_true(done == text.size && total == text.size);
    assert_int_equal(wio_ops_file_next(file, &op, &err), WIO_END);
    wio_ops_file_close(file);
    wio_blob_fini(&text);
}

static void errors_name_file_offset_and_line(void **state)
{
    (void)state;
    static const char text[] = "{\"file\":\"a\",\"offset\":1,\"size\":1}\n"
                               "{\"file\":\"a\",\"offset\":-1,\"size\":1}\n";
    struct wio_ops_file *file = open_text(text, sizeof(text) - 1);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_op op;
    assert_ok(wio_ops_file_next(file, &op, &err), &err);
    assert_status(wio_ops_file_next(file, &op, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.file, "ops.jsonl"));
    assert_int_equal(err.offset, 33 + 21);
    assert_non_null(strstr(err.message, "line 2: "));
    wio_ops_file_close(file);
}

static void a_line_without_end_is_refused(void **state)
{
    (void)state;
    size_t bytes = (1u << 20) + 1;
    char *text = malloc(bytes);
    memset(text, ' ', bytes);
    struct wio_ops_file *file = open_text(text, bytes);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_op op;
    assert_status(wio_ops_file_next(file, &op, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "less than 1 MiB"));
    wio_ops_file_close(file);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_get_numbers_and_empty_lines_none),
        cmocka_unit_test(a_mark_in_front_is_skipped),
        cmocka_unit_test(long_lists_are_read_whole),
        cmocka_unit_test(errors_name_file_offset_and_line),
        cmocka_unit_test(a_line_without_end_is_refused),
    };
    return WIO_RUN(tests);
}
