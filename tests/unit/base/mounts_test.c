/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "base/system/mounts.h"

static const char mounts[] =
    "21 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
    "22 21 0:5 / /dev rw - devtmpfs devtmpfs rw\n"
    "23 22 0:20 / /dev/shm rw shared:3 master:1 - tmpfs tmpfs rw,size=1g\n"
    "not a line at all\n"
    "24 21 0:40 /sub /mnt/with\\040blank rw,noatime shared:7 - btrfs /dev/sdb1 rw\n"
    "25 21 8:17 / /data rw - xfs /dev/sdb1 rw\n"
    "26 25 0:44 / /data rw - nfs4 server:/export rw";

static void finds(const char *path, const char *type, const char *place, unsigned major,
                  unsigned minor)
{
    struct wio_mount mount;
    assert_true(wio_mount_find(mounts, path, &mount));
    assert_string_equal(mount.type, type);
    assert_string_equal(mount.place, place);
    assert_int_equal(mount.major, major);
    assert_int_equal(mount.minor, minor);
}

static void finds_the_longest_place(void **state)
{
    (void)state;
    finds("/", "ext4", "/", 254, 0);
    finds("/home/me", "ext4", "/", 254, 0);
    finds("/dev", "devtmpfs", "/dev", 0, 5);
    finds("/dev/shm/x", "tmpfs", "/dev/shm", 0, 20);
    finds("/dev/shmem", "devtmpfs", "/dev", 0, 5);
}

static void reads_blanks_and_sources(void **state)
{
    (void)state;
    struct wio_mount mount;
    finds("/mnt/with blank/deep", "btrfs", "/mnt/with blank", 0, 40);
    assert_true(wio_mount_find(mounts, "/mnt/with blank", &mount));
    assert_string_equal(mount.source, "/dev/sdb1");
    assert_string_equal(mount.root, "/sub");
}

static void takes_the_mount_on_top(void **state)
{
    (void)state;
    finds("/data/file", "nfs4", "/data", 0, 44);
}

static void lives_with_anything(void **state)
{
    (void)state;
    struct wio_mount mount;
    char longest[1000];
    static const char *const odd[] = {
        "",
        "\n\n\n",
        "1",
        "1 2 3:4",
        "1 2 x:4 / / rw - a b",
        "1 2 3:4 / / rw a b",
        "1 2 3:4 / / rw -",
        "1 2 3:4 / / rw - a",
        "1 2 3:4 / /\\04 rw - a",
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        assert_false(wio_mount_find(odd[i], "/x", &mount));
    }
    memset(longest, 'a', sizeof(longest));
    memcpy(longest, "1 2 3:4 / / rw - ", 17);
    memcpy(longest + 600, " source", 8);
    assert_true(wio_mount_find(longest, "/x", &mount));
    assert_int_equal(strlen(mount.type), WIO_MOUNT_TEXT - 1);
    assert_string_equal(mount.source, "source");
    /* Every beginning of the text. */
    for (size_t i = 0; i < sizeof(mounts); i++) {
        char text[sizeof(mounts)];
        memcpy(text, mounts, i);
        text[i] = '\0';
        (void)wio_mount_find(text, "/data/x", &mount);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_longest_place),
        cmocka_unit_test(reads_blanks_and_sources),
        cmocka_unit_test(takes_the_mount_on_top),
        cmocka_unit_test(lives_with_anything),
    };
    return WIO_RUN(tests);
}
