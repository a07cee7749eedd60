/* SPDX-License-Identifier: Apache-2.0 */
/* Maps with code, as the kernel finds them and as it writes them out. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/core/program/proc_maps.h"

enum { LINES_MAX = 256 };

static _Alignas(struct cap_proc_map) char text[CAP_PROC_MAPS_BUFFER];
static _Alignas(struct cap_proc_map) char found[CAP_PROC_MAPS_BUFFER];

struct lines {
    struct cap_proc_map maps[LINES_MAX];
    char paths[LINES_MAX][256];
    uint32_t count;
};

/* What the processor executes in the kernel's place (vsyscall) is no memory of the process. */
static void keep_code(void *arg, const struct cap_proc_map *map)
{
    struct lines *lines = arg;
    if (map->is_code && strcmp(map->path, "[vsyscall]") != 0 && lines->count < LINES_MAX) {
        lines->maps[lines->count] = *map;
        (void)snprintf(lines->paths[lines->count], sizeof(lines->paths[0]), "%s", map->path);
        lines->count++;
    }
}

static uint32_t read_code(void)
{
    uint32_t count = 0;
    if (!cap_proc_maps_code(found, &count)) {
        return 0; /* a kernel before 6.11 */
    }
    return count;
}

static void both_ways_tell_the_same(void **state)
{
    static struct lines lines;
    const struct cap_proc_map *maps = (const struct cap_proc_map *)(const void *)found;
    void *own = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(own, MAP_FAILED);
    uint32_t count = read_code();
    assert_int_not_equal(cap_proc_maps_read(text, keep_code, &lines), 0);
    assert_true(lines.count > 2);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(maps[i].lo, lines.maps[i].lo);
        assert_int_equal(maps[i].hi, lines.maps[i].hi);
        assert_int_equal(maps[i].offset, lines.maps[i].offset);
        assert_int_equal(maps[i].device, lines.maps[i].device);
        assert_int_equal(maps[i].inode, lines.maps[i].inode);
        assert_true(maps[i].is_code);
        assert_int_equal(maps[i].is_writable, lines.maps[i].is_writable);
        assert_int_equal(maps[i].is_shared, lines.maps[i].is_shared);
        assert_string_equal(maps[i].path, lines.paths[i]);
    }
    assert_true(count == 0 || count == lines.count);
    assert_int_equal(munmap(own, 4096), 0);
}

static void what_has_no_room_is_said(void **state)
{
    enum { MANY = 600 };
    (void)state;
    char *own = mmap(NULL, (size_t)2 * MANY * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(own, MAP_FAILED);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(mprotect(own + 2 * i * 4096, 4096, PROT_READ | PROT_EXEC), 0);
    }
    assert_int_equal(read_code(), 0);
    assert_int_equal(munmap(own, (size_t)2 * MANY * 4096), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_tell_the_same),
        cmocka_unit_test(what_has_no_room_is_said),
    };
    return WIO_RUN(tests);
}
