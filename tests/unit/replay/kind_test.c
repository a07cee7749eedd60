/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "replay/initial/kind.h"

static void tells_files_from_the_rest(void **state)
{
    (void)state;
    assert_int_equal(rp_kind_of_path("/home/u/a"), RP_KIND_FILE);
    assert_int_equal(rp_kind_of_path("/dev/shm/x"), RP_KIND_FILE);
    assert_int_equal(rp_kind_of_path("/procession"), RP_KIND_FILE);
    assert_int_equal(rp_kind_of_path("/system"), RP_KIND_FILE);
    assert_int_equal(rp_kind_of_path("/dev"), RP_KIND_FILE);
    assert_int_equal(rp_kind_of_path("/proc"), RP_KIND_OF_SKIP(PROC));
    assert_int_equal(rp_kind_of_path("/proc/self/maps"), RP_KIND_OF_SKIP(PROC));
    assert_int_equal(rp_kind_of_path("/sys/block"), RP_KIND_OF_SKIP(SYS));
    assert_int_equal(rp_kind_of_path("/dev/tty"), RP_KIND_OF_SKIP(TTY));
    assert_int_equal(rp_kind_of_path("/dev/ttyS0"), RP_KIND_OF_SKIP(TTY));
    assert_int_equal(rp_kind_of_path("/dev/pts/3"), RP_KIND_OF_SKIP(TTY));
    assert_int_equal(rp_kind_of_path("/dev/sda"), RP_KIND_OF_SKIP(DEVICE));
    assert_int_equal(rp_kind_of_path("pipe:[12]"), RP_KIND_OF_SKIP(PIPE));
    assert_int_equal(rp_kind_of_path("socket:[12]"), RP_KIND_OF_SKIP(SOCKET));
    assert_int_equal(rp_kind_of_path("anon_inode:[eventfd]"), RP_KIND_OF_SKIP(ANONYMOUS));
    assert_int_equal(rp_kind_of_path("eventfd:[12]"), RP_KIND_OF_SKIP(ANONYMOUS));
    assert_int_equal(rp_kind_of_path(""), RP_KIND_OF_SKIP(UNKNOWN));
    assert_int_equal(rp_kind_of_path("relative"), RP_KIND_OF_SKIP(UNKNOWN));
}

static void serves_some_from_memory(void **state)
{
    (void)state;
    assert_int_equal(rp_kind_of_path("/dev/null"), RP_KIND_NULL);
    assert_int_equal(rp_kind_of_path("/dev/zero"), RP_KIND_ZERO);
    assert_int_equal(rp_kind_of_path("/dev/urandom"), RP_KIND_RANDOM);
    assert_int_equal(rp_kind_of_path("/dev/nullable"), RP_KIND_OF_SKIP(DEVICE));
}

static void knows_files_without_a_name(void **state)
{
    (void)state;
    assert_int_equal(rp_kind_of_path("/memfd:x (deleted)"), RP_KIND_NAMELESS);
    assert_int_equal(rp_kind_of_path("/tmp/#123 (deleted)"), RP_KIND_NAMELESS);
    assert_int_equal(rp_kind_of_path("/tmp/a (deleted) b"), RP_KIND_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_files_from_the_rest),
        cmocka_unit_test(serves_some_from_memory),
        cmocka_unit_test(knows_files_without_a_name),
    };
    return WIO_RUN(tests);
}
