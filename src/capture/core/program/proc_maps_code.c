/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that hold code, asked for one by one. */
#include <sys/ioctl.h>

#include "capture/core/program/proc_maps.h"
#include "capture/core/raw.h"

#define MAPS_MAX 256u

/* struct procmap_query of linux/fs.h, which Debian 12 does not have yet. */
struct query {
    uint64_t size;
    uint64_t query_flags;
    uint64_t query_addr;
    uint64_t vma_start;
    uint64_t vma_end;
    uint64_t vma_flags;
    uint64_t vma_page_size;
    uint64_t vma_offset;
    uint64_t inode;
    uint32_t dev_major;
    uint32_t dev_minor;
    uint32_t vma_name_size; /* room, then bytes with the NUL; 0 = no name */
    uint32_t build_id_size;
    uint64_t vma_name_addr;
    uint64_t build_id_addr;
};
_Static_assert(sizeof(struct query) == 104, "as the kernel has it");

#define QUERY _IOWR('f', 17, struct query)
enum { IS_WRITABLE = 0x02, IS_EXECUTABLE = 0x04, IS_SHARED = 0x08, OR_NEXT = 0x10 };

/* Room for the paths, behind the table. */
struct code_names {
    char *at;
    size_t left;
};

/* The first map at or behind `address`. Returns -ENOENT behind the last one. */
static long ask(int fd, uint64_t address, struct code_names *names, struct cap_proc_map *map_out)
{
    struct query query = {
        .size = sizeof(query),
        .query_flags = IS_EXECUTABLE | OR_NEXT,
        .query_addr = address,
        .vma_name_size = (uint32_t)names->left,
        .vma_name_addr = (uintptr_t)names->at,
    };
    long result = raw_call3(SYS_ioctl, fd, QUERY, (long)&query);
    if (result != 0) {
        return result;
    }
    *map_out = (struct cap_proc_map){
        .lo = query.vma_start,
        .hi = query.vma_end,
        .offset = query.vma_offset,
        .device = (uint64_t)query.dev_major << 32 | query.dev_minor,
        .inode = query.inode,
        .is_code = true,
        .is_writable = (query.vma_flags & IS_WRITABLE) != 0,
        .is_shared = (query.vma_flags & IS_SHARED) != 0,
        .path = query.vma_name_size > 0 ? names->at : "",
    };
    names->at += query.vma_name_size;
    names->left -= query.vma_name_size;
    return 0;
}

bool cap_proc_maps_code(char *buffer, uint32_t *count_out)
{
    struct cap_proc_map *maps = (struct cap_proc_map *)(void *)buffer;
    const size_t table_bytes = MAPS_MAX * sizeof(*maps);
    struct code_names names = {buffer + table_bytes, CAP_PROC_MAPS_BUFFER - table_bytes};
    static bool is_missing; /* Linux 6.11 */
    uint32_t count = 0;
    uint64_t address = 0;
    *count_out = 0;
    if (is_missing) {
        return false;
    }
    long fd = raw_openat(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    long result = fd < 0 ? fd : 0;
    while (result == 0 && count < MAPS_MAX) {
        result = ask((int)fd, address, &names, &maps[count]);
        if (result == 0) {
            address = maps[count++].hi;
        }
    }
    if (fd >= 0) {
        (void)raw_close((int)fd);
    }
    is_missing = result == -ENOTTY;
    *count_out = count;
    return result == -ENOENT;
}
