/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <errno.h>
#include <string.h>

#include <whyio/status.h>

static void every_status_has_text_and_exit(void **state)
{
    (void)state;
    assert_string_equal(wio_status_text(WIO_ERR_TRUNCATED), "cut short");
    assert_int_equal(wio_status_exit(WIO_OK), 0);
    assert_int_equal(wio_status_exit(WIO_ERR_USAGE), 2);
    assert_int_equal(wio_status_exit(WIO_ERR_FORMAT), 3);
    assert_int_equal(wio_status_exit(WIO_ERR_NOMEM), 4);
    assert_string_equal(wio_status_text((enum wio_status)99), "unknown status");
    assert_int_equal(wio_status_exit((enum wio_status)99), 4);
}

static void set_fills_everything(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char text[256];
    enum wio_status status =
        wio_error_set(&err, WIO_ERR_FORMAT, "a.seg", 4096, "expected %s, found %d", "WBLK", 7);
    assert_int_equal(status, WIO_ERR_FORMAT);
    assert_int_equal(err.status, WIO_ERR_FORMAT);
    assert_int_equal(err.sys_errno, 0);
    wio_error_format(&err, text, sizeof(text));
    assert_string_equal(text, "'a.seg' at byte 4096: expected WBLK, found 7");
}

static void without_file_or_offset(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char text[256];
    (void)wio_error_set(&err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "no such thing");
    wio_error_format(&err, text, sizeof(text));
    assert_string_equal(text, "no such thing");
    (void)wio_error_set(&err, WIO_ERR_USAGE, "f", WIO_ERROR_NO_OFFSET, "%s", "");
    wio_error_format(&err, text, sizeof(text));
    assert_string_equal(text, "'f': wrong usage");
}

static void sys_keeps_errno_and_its_text(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    errno = ENOSPC;
    assert_int_equal(wio_error_sys(&err, "x", "cannot write"), WIO_ERR_IO);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_int_equal(errno, ENOSPC);
    assert_string_equal(err.message, "cannot write: No space left on device");
    errno = ENOMEM;
    assert_int_equal(wio_error_sys(NULL, "x", "cannot write"), WIO_ERR_NOMEM);
}

static void causes_are_appended(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    (void)wio_error_set(&err, WIO_ERR_IO, "x", 3, "first");
    wio_error_add(&err, "while reading rank %d", 3);
    assert_string_equal(err.message, "first; while reading rank 3");
    assert_int_equal(err.offset, 3);
    wio_error_add(NULL, "nobody listens");
}

static void long_texts_are_cut_and_ended(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char name[2000];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    (void)wio_error_set(&err, WIO_ERR_IO, name, 0, "%s", name);
    wio_error_add(&err, "%s", name);
    assert_int_equal(strlen(err.file), sizeof(err.file) - 1);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    char small[8];
    wio_error_format(&err, small, sizeof(small));
    assert_string_equal(small, "'nnnnnn");
    wio_error_format(&err, small, 0);
    assert_string_equal(small, "'nnnnnn");
}

static void a_long_name_leaves_room_for_the_cause(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char name[2000];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    errno = ENAMETOOLONG;
    assert_int_equal(wio_error_sys(&err, NULL, "cannot open '%s'", name), WIO_ERR_IO);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    assert_non_null(strstr(err.message, "nnn...: File name too long"));
}

/* Wherever in a character the room ends. */
static void a_name_is_cut_between_characters(void **state)
{
    static const char *const characters[] = {"n", "\u00e9", "\u20ac", "\U0001f600"};
    (void)state;
    for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
        size_t length = strlen(characters[i]);
        for (size_t before = 0; before < length; before++) {
            struct wio_error err = WIO_ERROR_INIT;
            char name[2001];
            for (size_t at = 0; at < 2000; at++) {
                name[at] = characters[i][at % length];
            }
            name[2000 - 2000 % length] = '\0';
            errno = ENAMETOOLONG;
            (void)wio_error_sys(&err, NULL, "%.*s'%s'", (int)before, "123", name);
            const char *mark = strstr(err.message, "...: File name too long");
            assert_non_null(mark);
            assert_memory_equal(mark - length, characters[i], length);
        }
    }
}

/* Bytes that are no characters: as long as there is room. */
static void what_is_no_text_is_cut_anywhere(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char name[2000];
    memset(name, 0x80, sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    errno = ENAMETOOLONG;
    (void)wio_error_sys(&err, NULL, "%s", name);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_text_and_exit),
        cmocka_unit_test(set_fills_everything),
        cmocka_unit_test(a_long_name_leaves_room_for_the_cause),
        cmocka_unit_test(a_name_is_cut_between_characters),
        cmocka_unit_test(what_is_no_text_is_cut_anywhere),
        cmocka_unit_test(without_file_or_offset),
        cmocka_unit_test(sys_keeps_errno_and_its_text),
        cmocka_unit_test(causes_are_appended),
        cmocka_unit_test(long_texts_are_cut_and_ended),
    };
    return WIO_RUN(tests);
}
