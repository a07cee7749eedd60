/* SPDX-License-Identifier: Apache-2.0 */
/* With files instead of control groups. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/system/memory_group.h"

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

static struct wio_memory_group group_of(const char *cgroups)
{
    return wio_memory_group_of(cgroups, wio_test_dir());
}

static void reads_version_1(void **state)
{
    (void)state;
    set("memory/job/step", "memory.limit_in_bytes", "1048576000\n");
    set("memory/job/step", "memory.usage_in_bytes", "500000000\n");
    set("memory/job/step", "memory.stat", "cache 1\nrss 2\ntotal_cache 400000000\ntotal_rss 7\n");
    struct wio_memory_group group = group_of("9:name=systemd:/\n4:memory:/job/step\n0::/\n");
    assert_int_equal(group.version, 1);
    assert_int_equal(group.limit, 1048576000);
    assert_int_equal(group.usage, 500000000);
    assert_int_equal(group.file, 400000000);
    set("memory/job", "memory.limit_in_bytes", "900000000\n"); /* that of a group above holds */
    set("memory/job", "memory.usage_in_bytes", "600000000\n");
    group = group_of("4:cpu,memory:/job/step\n");
    assert_int_equal(group.limit, 900000000);
    assert_int_equal(group.usage, 600000000);
    assert_int_equal(group.file, 0); /* not told */
}

static void reads_version_2(void **state)
{
    (void)state;
    set("unified/job", "memory.max", "max\n");
    assert_int_equal(group_of("0::/job\n").version, 0);
    set("unified/job/step", "memory.max", "123456789\n");
    set("unified/job/step", "memory.current", "1000\n");
    set("unified/job/step", "memory.stat", "anon 10\nfile 20\nfile_dirty 5\n");
    struct wio_memory_group group = group_of("0::/job/step");
    assert_int_equal(group.version, 2);
    assert_int_equal(group.limit, 123456789);
    assert_int_equal(group.file, 20);
    set("own", "memory.max", "77\n"); /* mounted at the root itself */
    assert_int_equal(group_of("0::/own\n").limit, 77);
}

static void no_limit_is_no_group(void **state)
{
    (void)state;
    set("memory/free", "memory.limit_in_bytes", "9223372036854771712\n");
    set("memory/odd", "memory.limit_in_bytes", "much\n");
    static const char *const texts[] = {"",
                                        "4:memory:/free\n",
                                        "4:memory:/odd\n",
                                        "4:memory:/nowhere\n",
                                        "4:cpuset:/job/step\n",
                                        "nonsense\n",
                                        "4:memory\n",
                                        "::::\n",
                                        "4:memory:/\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(group_of(texts[i]).version, 0);
    }
    (void)wio_memory_group_own(); /* whatever it is */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_version_1),
        cmocka_unit_test(reads_version_2),
        cmocka_unit_test(no_limit_is_no_group),
    };
    return WIO_RUN(tests);
}
