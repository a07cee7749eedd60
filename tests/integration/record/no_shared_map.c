/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is preloaded: files below $NO_SHARED_MAP cannot be mapped shared, as on a file
 * system that does not allow it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_below(int fd)
{
    char link[64];
    char path[4096];
    const char *place = getenv("NO_SHARED_MAP");
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t size = place != NULL && fd >= 0 ? readlink(link, path, sizeof(path) - 1) : -1;
    if (size < 0) {
        return 0;
    }
    path[size] = '\0';
    return strncmp(path, place, strlen(place)) == 0;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if ((flags & MAP_SHARED) != 0 && is_below(fd)) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mmap(address, size, protection, flags, fd, offset);
}
