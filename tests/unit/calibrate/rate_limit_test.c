/* SPDX-License-Identifier: Apache-2.0 */
/* With files instead of control groups. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/io.h"
#include "calibrate/system/rate_limit.h"

static void set(const char *group, const char *name, const char *text)
{
    struct wio_error err = WIO_ERROR_INIT;
    char path[256];
    char *dir = wio_test_path(group);
    assert_ok(wio_io_mkdirs(dir, &err), &err);
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    wio_test_write(path, text, strlen(text));
    free(dir);
}

static void link_to(const char *target, const char *name)
{
    char *path = wio_test_path(name);
    assert_int_equal(symlink(target, path), 0);
    free(path);
}

static double limit_of(unsigned minor_of, const char *cgroups)
{
    return wio_rate_limit_of(makedev(7, minor_of), cgroups, wio_test_dir());
}

/* Version 1: that of the process' own group. */
static void reads_blkio(void **state)
{
    (void)state;
    set("blkio", "blkio.throttle.write_bps_device", "7:1 20971520\n7:12 41943040\n");
    set("blkio/a/b", "blkio.throttle.write_bps_device", "7:1 1048576\n");
    assert_true(limit_of(1, "9:name=systemd:/\n7:blkio:/\n") == 20971520);
    assert_true(limit_of(12, "7:cpu,blkio:/\n") == 41943040);
    assert_true(limit_of(2, "7:blkio:/\n") == 0);
    assert_true(limit_of(1, "7:blkio:/a/b\n") == 1048576);
    assert_true(limit_of(1, "7:blkio:/a\n1:cpu:/a/b\n") == 0);
}

/* Version 2: the least of the group's and all above it. */
static void reads_io_max(void **state)
{
    (void)state;
    set("v2", "io.max", "7:1 rbps=max wbps=500 riops=max wiops=max\n");
    set("v2/a", "io.max", "7:0 rbps=1 wbps=max riops=max wiops=1\n7:1 rbps=1 wbps=400 riops=max\n");
    set("v2/a/b", "io.max", "7:1 rbps=max wbps=600 riops=max wiops=max");
    assert_true(limit_of(1, "0::/v2/a/b\n") == 400);
    assert_true(limit_of(1, "0::/v2\n") == 500);
    assert_true(limit_of(0, "0::/v2/a/b") == 0);
    set("unified/c", "io.max", "7:3 rbps=max wbps=700 riops=max wiops=max\n");
    assert_true(limit_of(3, "0::/c\n") == 700);
}

static void anything_else_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n",
                                        "0",
                                        "0:",
                                        "0::",
                                        "0::/",
                                        "::",
                                        "7:blkio:",
                                        "7:blkio",
                                        "0::no/slash\n",
                                        "\n\n0::/gone\n"};
    set("", "io.max", "x\n7\n7:\n7:9\n7:9 \n:9 1\n99999999999999999999:1 1\n");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_true(limit_of(9, texts[i]) == 0);
    }
}

/* As the system shows devices: sda with a partition, on which LVM has a volume; md of two. */
static void make_system(void)
{
    set("sys/devices/sda", "dev", "8:0\n");
    set("sys/devices/sda/sda2", "dev", "8:2\n");
    set("sys/devices/sda/sda2", "partition", "2\n");
    set("sys/devices/sdb", "dev", "8:16\n");
    set("sys/devices/dm-0", "dev", "253:0\n");
    set("sys/devices/md0", "dev", "9:0\n");
    set("sys/devices/dm-0/slaves", ".hidden", "");
    set("sys/devices/md0/slaves", ".hidden", "");
    set("sys/dev/block", ".hidden", "");
    link_to("../../devices/sda", "sys/dev/block/8:0");
    link_to("../../devices/sda/sda2", "sys/dev/block/8:2");
    link_to("../../devices/sdb", "sys/dev/block/8:16");
    link_to("../../devices/dm-0", "sys/dev/block/253:0");
    link_to("../../devices/md0", "sys/dev/block/9:0");
    link_to("../../sda/sda2", "sys/devices/dm-0/slaves/sda2");
    link_to("../../sda", "sys/devices/md0/slaves/sda");
    link_to("../../sdb", "sys/devices/md0/slaves/sdb");
    set("proc/self", "cgroup", "7:blkio:/\n0::/\n");
}

/* A limit is that of a whole device; it holds for all that lies on that one alone. */
static void finds_what_is_below(void **state)
{
    (void)state;
    make_system();
    set("sys/fs/cgroup/blkio", "blkio.throttle.write_bps_device", "8:0 400\n8:2 1\n9:0 300\n");
    assert_true(wio_rate_limit(makedev(8, 0), wio_test_dir()) == 400);
    assert_true(wio_rate_limit(makedev(8, 2), wio_test_dir()) == 400);
    assert_true(wio_rate_limit(makedev(253, 0), wio_test_dir()) == 400);
    assert_true(wio_rate_limit(makedev(9, 0), wio_test_dir()) == 300);
    assert_true(wio_rate_limit(makedev(8, 16), wio_test_dir()) == 0);
    assert_true(wio_rate_limit(makedev(7, 0), wio_test_dir()) == 0);
    set("sys/fs/cgroup/blkio", "blkio.throttle.write_bps_device", "8:0 400\n253:0 200\n");
    assert_true(wio_rate_limit(makedev(253, 0), wio_test_dir()) == 200);
    assert_true(wio_rate_limit(makedev(9, 0), wio_test_dir()) == 0);
    set("proc/self", "cgroup", "");
    assert_true(wio_rate_limit(makedev(8, 0), wio_test_dir()) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_blkio),
        cmocka_unit_test(reads_io_max),
        cmocka_unit_test(anything_else_is_none),
        cmocka_unit_test(finds_what_is_below),
    };
    return WIO_RUN(tests);
}
