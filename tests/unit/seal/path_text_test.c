/* SPDX-License-Identifier: Apache-2.0 */
/* Paths made normal (R-STRING-1) and hidden. */
#include <stdlib.h>
#include <string.h>

#include "seal/seal_internal.h"
#include "support/unit.h"

static bool is_link(void *arg, const char *path)
{
    return strcmp(path, arg) == 0;
}

static void check_normal(const char *path, const char *link, const char *want)
{
    char text[256] = {0};
    char name[64] = {0};
    memcpy(text, path, strlen(path));
    memcpy(name, link, strlen(link));
    size_t bytes = wio_path_normalise(text, strlen(text), is_link, name);
    assert_int_equal(bytes, strlen(want));
    assert_string_equal(text, want);
}

static void paths_become_normal(void **state)
{
    (void)state;
    check_normal("/", "", "/");
    check_normal("//", "", "/");
    check_normal("/a", "", "/a");
    check_normal("/a/", "", "/a");
    check_normal("//a///b", "", "/a/b");
    check_normal("/./a/./.", "", "/a");
    check_normal("/a/..", "", "/");
    check_normal("/a/b/../c", "", "/a/c");
    check_normal("/../../a", "", "/a");
    check_normal("/a/...", "", "/a/...");
    check_normal("/a/..b/c..", "", "/a/..b/c..");
}

static void links_keep_what_follows(void **state)
{
    (void)state;
    check_normal("/a/l/../c", "/a/l", "/a/l/../c");
    check_normal("/a/l/x/../c", "/a/l", "/a/l/c");
    check_normal("/a/l/../../c", "/a/l", "/a/l/../../c");
    check_normal("/l/../b/../c", "/l", "/l/../c");
}

static void any_bytes_end(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (unsigned round = 0; round < 5000; round++) {
        static const char letters[] = "/../.a/b";
        char text[40];
        size_t bytes = wio_test_random(&seed) % 38;
        for (size_t i = 0; i < bytes; i++) {
            text[i] = letters[wio_test_random(&seed) % 8];
        }
        text[0] = '/';
        bytes = bytes == 0 ? 1 : bytes;
        size_t length = wio_path_normalise(text, bytes, NULL, NULL);
        assert_true(length >= 1 && length <= bytes);
        assert_int_equal(text[0], '/');
        char again[40];
        memcpy(again, text, length + 1);
        assert_int_equal(wio_path_normalise(again, length, NULL, NULL), length);
        assert_string_equal(again, text);
    }
}

static char *hidden(const uint8_t *key, const char *path)
{
    struct wio_blob out = {0};
    assert_int_equal(wio_path_anonymise(key, path, strlen(path), &out), WIO_OK);
    assert_int_equal(wio_blob_u8(&out, 0), WIO_OK);
    return (char *)out.data;
}

static void names_are_hidden_alike(void **state)
{
    (void)state;
    uint8_t key[WIO_HIDE_KEY_BYTES] = {1, 2, 3};
    uint8_t other[WIO_HIDE_KEY_BYTES] = {3, 2, 1};
    char *first = hidden(key, "/home/bob/x.tar");
    char *again = hidden(key, "/home/bob/x.tar");
    char *foreign = hidden(other, "/home/bob/x.tar");
    char *system = hidden(key, "/usr/lib/libc.so");
    char *dots = hidden(key, "../bob");
    assert_string_equal(first, again);
    assert_string_not_equal(first, foreign);
    assert_string_equal(system, "/usr/lib/libc.so");
    assert_string_equal(strrchr(first, '.'), ".tar");
    assert_memory_equal(dots, "../", 3);
    assert_null(strstr(dots, "bob"));
    free(first);
    free(again);
    free(foreign);
    free(system);
    free(dots);
}

/* FORMAT.md#channels: what tells both ends stays. */
static void channels_stay_themselves(void **state)
{
    (void)state;
    static const char *const kept[] = {"pipe:[12]", "socket:[3]", "eventfd:[4]",
                                       "inet 10.0.0.1:80 10.0.0.2:4000", "dgram inet 10.0.0.1:80"};
    uint8_t key[WIO_HIDE_KEY_BYTES] = {1, 2, 3};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        char *text = hidden(key, kept[i]);
        assert_string_equal(text, kept[i]);
        free(text);
    }
    char *local = hidden(key, "unix /home/bob/socket 12");
    assert_memory_equal(local, "unix ", 5);
    assert_null(strstr(local, "bob"));
    assert_null(strchr(local, '/'));
    free(local);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_become_normal),
        cmocka_unit_test(links_keep_what_follows),
        cmocka_unit_test(any_bytes_end),
        cmocka_unit_test(names_are_hidden_alike),
        cmocka_unit_test(channels_stay_themselves),
    };
    return WIO_RUN(tests);
}
