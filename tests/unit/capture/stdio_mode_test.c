/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/stdio/stdio_mode.h"

static void test_the_three_letters(void **state)
{
    (void)state;
    assert_int_equal(cap_stdio_open_flags("r"), O_RDONLY);
    assert_int_equal(cap_stdio_open_flags("w"), O_WRONLY | O_CREAT | O_TRUNC);
    assert_int_equal(cap_stdio_open_flags("a"), O_WRONLY | O_CREAT | O_APPEND);
}

static void test_plus_keeps_creation(void **state)
{
    (void)state;
    assert_int_equal(cap_stdio_open_flags("r+"), O_RDWR);
    assert_int_equal(cap_stdio_open_flags("wb+"), O_RDWR | O_CREAT | O_TRUNC);
    assert_int_equal(cap_stdio_open_flags("a+e"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC);
}

static void test_refused_modes(void **state)
{
    (void)state;
    assert_int_equal(cap_stdio_open_flags(""), -1);
    assert_int_equal(cap_stdio_open_flags("x"), -1);
    assert_int_equal(cap_stdio_open_flags("+r"), -1);
}

static void test_letters_behind_the_sixth_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(cap_stdio_open_flags("rbbbbbe"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(cap_stdio_open_flags("rbbbbbbe"), O_RDONLY);
}

/* The kernel says which flags libc really gave: the same as ours for every mode. */
static void test_agrees_with_libc(void **state)
{
    static const char *const modes[] = {"r", "r+", "w", "w+", "a", "a+", "rb", "re", "w+b", "ab+"};
    const int seen = O_ACCMODE | O_APPEND;
    char path[] = "/tmp/whyio-mode-XXXXXX";
    int made = mkstemp(path);
    (void)state;
    assert_true(made >= 0);
    close(made);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        FILE *stream = fopen(path, modes[i]);
        assert_non_null(stream);
        int real = fcntl(fileno(stream), F_GETFL);
        int cloexec = fcntl(fileno(stream), F_GETFD) & FD_CLOEXEC;
        int ours = cap_stdio_open_flags(modes[i]);
        assert_int_equal(ours & seen, real & seen);
        assert_int_equal((ours & O_CLOEXEC) != 0, cloexec != 0);
        fclose(stream);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_three_letters),
        cmocka_unit_test(test_plus_keeps_creation),
        cmocka_unit_test(test_refused_modes),
        cmocka_unit_test(test_letters_behind_the_sixth_do_not_count),
        cmocka_unit_test(test_agrees_with_libc),
    };
    return WIO_RUN(tests);
}
