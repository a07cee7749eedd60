/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/format/fresh.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "trace/format/format.h"
#include "trace/format/trust.h"

enum { OWNER_MODE = 0600, ATTEMPTS = 100, WAITS = 500 };

#define WAIT_NS UINT64_C(10000000)

int wio_fresh_open_parent(const char *path, const char **name_out)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name_out = slash == NULL ? path : slash + 1;
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (length >= sizeof(parent)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)snprintf(parent, sizeof(parent), "%.*s", (int)length, path);
    return open(length == 0 ? "." : parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Whether a class of users may read and enter a directory; in the bits of that class. */
static mode_t reading(mode_t mode, mode_t read, mode_t enter)
{
    return (mode & read) != 0 && (mode & enter) != 0 ? read : 0;
}

static mode_t mode_in(int dir)
{
    struct stat st;
    if (fstat(dir, &st) != 0) {
        return OWNER_MODE;
    }
    return OWNER_MODE | reading(st.st_mode, S_IRGRP, S_IXGRP) |
           reading(st.st_mode, S_IROTH, S_IXOTH);
}

enum taking { TAKEN, REMOVED, HELD };

/* Lock it. A wio_fresh_clear of another process may have found it before: that removes the name, so
 * that nothing else may get the name until it has let go of the file. */
static enum taking take(int fd)
{
    struct stat st;
    for (unsigned i = 0; i < WAITS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) {
            return fstat(fd, &st) != 0 || st.st_nlink > 0 ? TAKEN : REMOVED;
        }
        wio_clock_sleep_ns(WAIT_NS);
    }
    return HELD;
}

int wio_fresh_create_at(int dir, const char *name)
{
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    for (unsigned i = 0; i < ATTEMPTS; i++) {
        WIO_CLEANUP(wio_fd_cleanup) int fd = openat(dir, name, flags, mode_in(dir));
        if (fd < 0) {
            return -1;
        }
        enum taking taking = take(fd);
        if (taking == TAKEN) {
            int made = fd;
            fd = -1;
            return made;
        }
        if (taking == HELD) {
            break;
        }
    }
    errno = EBUSY;
    return -1;
}

static bool begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

static bool is_half_written(const char *name)
{
    return wio_text_ends_with(name, ".seg.tmp") ||
           ((begins_with(name, WIO_EDGES_NAME ".") || begins_with(name, WIO_HELD_NAME ".")) &&
            wio_text_ends_with(name, ".tmp"));
}

/* Is it the file that is open? Another clearing may have removed that one, and its maker begun
 * anew. */
static bool is_named(int fd, int dir, const char *name)
{
    struct stat open;
    struct stat named;
    return fstat(fd, &open) == 0 && fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

static void remove_if_dead(int dir, const char *name)
{
    struct stat st;
    WIO_CLEANUP(wio_fd_cleanup) int fd = wio_io_open_regular(dir, name, O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &st) == 0 && wio_trust_is_own(&st) &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, dir, name)) {
        (void)unlinkat(dir, name, 0);
    }
}

void wio_fresh_clear(int dir)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = wio_io_list(dir);
    const struct dirent *entry = NULL;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (is_half_written(entry->d_name)) {
            remove_if_dead(dir, entry->d_name);
        }
    }
}
