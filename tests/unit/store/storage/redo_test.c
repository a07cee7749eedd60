/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "store/storage/redo.h"

/* R-REDO-1 */
static void a_change_is_as_documented(void **state)
{
    struct wio_blob redo = {0};
    struct wio_redo_change write = {WIO_CHANGE_WRITE, {0x1122334455, 7}, 4097, "hello", 5};
    static const uint8_t expected[] = {
        2, 0, 0, 0, 7, 0, 0, 0, 0x55, 0x44, 0x33, 0x22, 0x11, 0,   0,   0,   1,   16, 0, 0,
        0, 0, 0, 0, 5, 0, 0, 0, 0,    0,    0,    0,    'h',  'e', 'l', 'l', 'o', 0,  0, 0};
    (void)state;
    assert_int_equal(wio_change_encode(&redo, &write), WIO_OK);
    assert_int_equal(redo.size, sizeof(expected));
    assert_memory_equal(redo.data, expected, sizeof(expected));
    wio_blob_fini(&redo);
}

static void a_list_comes_back(void **state)
{
    struct wio_blob redo = {0};
    struct wio_redo_change changes[] = {{WIO_CHANGE_IMAGE, {1, 2}, 8192, "abc", 3},
                                        {WIO_CHANGE_TRUNCATE, {1, 2}, 77, NULL, 0},
                                        {WIO_CHANGE_REMOVE, {9, 0}, 0, NULL, 0}};
    struct wio_redo_change back;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(wio_change_encode(&redo, &changes[i]), WIO_OK);
    }
    struct wio_buf buf = wio_buf_of(redo.data, redo.size);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(wio_change_decode(&buf, &back), WIO_OK);
        assert_int_equal(back.kind, changes[i].kind);
        assert_int_equal(back.offset, changes[i].offset);
        assert_int_equal(back.bytes, changes[i].bytes);
    }
    assert_int_equal(wio_change_decode(&buf, &back), WIO_END);
    wio_blob_fini(&redo);
}

/* Each truncation is an end or an error, and so are kinds, segments and offsets that are none. */
static void what_is_no_change_is_refused(void **state)
{
    struct wio_blob redo = {0};
    struct wio_redo_change write = {WIO_CHANGE_WRITE, {1, 2}, 3, "hello", 5};
    struct wio_redo_change back;
    (void)state;
    assert_int_equal(wio_change_encode(&redo, &write), WIO_OK);
    for (size_t size = 1; size < redo.size; size++) {
        struct wio_buf buf = wio_buf_of(redo.data, size);
        assert_true(wio_change_decode(&buf, &back) < 0);
    }
    for (size_t at = 0; at < 3; at++) {
        static const size_t places[] = {0, 6, 23}; /* kind, segment, offset */
        uint8_t copy[64];
        memcpy(copy, redo.data, redo.size);
        copy[places[at]] = 0xee;
        struct wio_buf buf = wio_buf_of(copy, redo.size);
        assert_int_equal(wio_change_decode(&buf, &back), WIO_ERR_FORMAT);
    }
    wio_blob_fini(&redo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_as_documented),
        cmocka_unit_test(a_list_comes_back),
        cmocka_unit_test(what_is_no_change_is_refused),
    };
    return WIO_RUN(tests);
}
