/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory as a file system whose reads and writes take their time, as those of a server far
 * away do: slowfs DIRECTORY DELAY_US MOUNTPOINT [NAMES_US [WRITES [CACHE_KIB KIB_PER_S [SHARE]]]].
 * Each read, write and fsync of a file waits DELAY_US; with NAMES_US opening, looking at, making
 * and removing names, locking whole files (flock) and reading directories waits so long, and
 * nothing is remembered of them. With WRITES only every so many-th write waits, as those do that
 * stand until a cache has room; with CACHE_KIB and KIB_PER_S a write waits until there is room in a
 * cache of that size, which empties at that rate. With SHARE 1 each read and write takes as many
 * times as long as there are under way. Several wait side by side. Nothing stays in the page cache
 * (direct_io). Needs FUSE 3; runs in the foreground.
 */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static int root;
static struct timespec delay;
static struct timespec names_delay;
static unsigned writes_each = 1; /* of so many writes one waits */
static atomic_uint writes;
static double cache_bytes; /* 0: none */
static double cache_rate;  /* bytes per second */
static int is_shared;      /* reads and writes under way slow each other down */
static atomic_int under_way;

static void wait_for_names(void)
{
    if (names_delay.tv_nsec != 0 || names_delay.tv_sec != 0) {
        (void)nanosleep(&names_delay, NULL);
    }
}

/* For a read or write. */
static void wait_for_data(void)
{
    int count = atomic_fetch_add(&under_way, 1) + 1;
    for (int i = 0; i < (is_shared ? count * count : 1); i++) {
        (void)nanosleep(&delay, NULL);
    }
    (void)atomic_fetch_sub(&under_way, 1);
}

/* Until the cache has room for so many bytes more. */
static void wait_for_room(double bytes)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static double dirty;
    static struct timespec last;
    struct timespec now;

    (void)pthread_mutex_lock(&lock);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    double passed = (double)(now.tv_sec - last.tv_sec) + (double)(now.tv_nsec - last.tv_nsec) / 1e9;
    last = now;
    dirty = dirty > passed * cache_rate ? dirty - passed * cache_rate : 0;
    dirty += bytes;
    double wait = dirty > cache_bytes ? (dirty - cache_bytes) / cache_rate : 0;
    (void)pthread_mutex_unlock(&lock);
    if (wait > 0) {
        struct timespec pause = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
        (void)nanosleep(&pause, NULL);
    }
}

/* Paths come as "/a/b"; the root as "/". */
static const char *below(const char *path)
{
    return path[1] == 0 ? "." : path + 1;
}

static int answer(int result)
{
    return result < 0 ? -errno : 0;
}

static int get_attr(const char *path, struct stat *st, struct fuse_file_info *file)
{
    wait_for_names();
    return answer(file != NULL ? fstat((int)file->fh, st)
                               : fstatat(root, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int read_dir(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset,
                    struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
    wait_for_names();
    (void)offset;
    (void)file;
    (void)flags;
    int fd = openat(root, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL) {
        return -errno;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        (void)fill(buf, entry->d_name, NULL, 0, 0);
    }
    (void)closedir(directory);
    return 0;
}

static int open_file(const char *path, struct fuse_file_info *file)
{
    wait_for_names();
    int fd = openat(root, below(path), (file->flags & ~O_DIRECT) | O_CLOEXEC);
    file->fh = (uint64_t)fd;
    file->direct_io = 1;
    return answer(fd);
}

static int create_file(const char *path, mode_t mode, struct fuse_file_info *file)
{
    wait_for_names();
    int fd = openat(root, below(path), (file->flags & ~O_DIRECT) | O_CREAT | O_CLOEXEC, mode);
    file->fh = (uint64_t)fd;
    file->direct_io = 1;
    return answer(fd);
}

static int read_file(const char *path, char *buf, size_t size, off_t offset,
                     struct fuse_file_info *file)
{
    (void)path;
    wait_for_data();
    ssize_t done = pread((int)file->fh, buf, size, offset);
    return done < 0 ? -errno : (int)done;
}

static int write_file(const char *path, const char *buf, size_t size, off_t offset,
                      struct fuse_file_info *file)
{
    (void)path;
    if (cache_bytes > 0) {
        wait_for_room((double)size);
    } else if (atomic_fetch_add(&writes, 1) % writes_each == writes_each - 1) {
        wait_for_data();
    }
    ssize_t done = pwrite((int)file->fh, buf, size, offset);
    return done < 0 ? -errno : (int)done;
}

static int lock_file(const char *path, struct fuse_file_info *file, int op)
{
    (void)path;
    wait_for_names();
    return answer(flock((int)file->fh, op));
}

static int sync_file(const char *path, int is_data, struct fuse_file_info *file)
{
    (void)path;
    (void)is_data;
    (void)nanosleep(&delay, NULL);
    return answer(fdatasync((int)file->fh));
}

static int release_file(const char *path, struct fuse_file_info *file)
{
    (void)path;
    (void)close((int)file->fh);
    return 0;
}

static int truncate_file(const char *path, off_t size, struct fuse_file_info *file)
{
    if (file != NULL) {
        return answer(ftruncate((int)file->fh, size));
    }
    int fd = openat(root, below(path), O_WRONLY | O_CLOEXEC);
    int result = fd < 0 ? -errno : answer(ftruncate(fd, size));
    if (fd >= 0) {
        (void)close(fd);
    }
    return result;
}

static int make_dir(const char *path, mode_t mode)
{
    wait_for_names();
    return answer(mkdirat(root, below(path), mode));
}

static int remove_file(const char *path)
{
    wait_for_names();
    return answer(unlinkat(root, below(path), 0));
}

static int remove_dir(const char *path)
{
    wait_for_names();
    return answer(unlinkat(root, below(path), AT_REMOVEDIR));
}

static int rename_file(const char *from, const char *to, unsigned flags)
{
    wait_for_names();
    return answer(renameat2(root, below(from), root, below(to), flags));
}

static int link_file(const char *from, const char *to)
{
    wait_for_names();
    return answer(linkat(root, below(from), root, below(to), 0));
}

static int make_symlink(const char *text, const char *path)
{
    wait_for_names();
    return answer(symlinkat(text, root, below(path)));
}

static int read_link(const char *path, char *buf, size_t size)
{
    ssize_t length = readlinkat(root, below(path), buf, size - 1);
    buf[length < 0 ? 0 : length] = 0;
    return length < 0 ? -errno : 0;
}

static int change_mode(const char *path, mode_t mode, struct fuse_file_info *file)
{
    wait_for_names();
    (void)file;
    return answer(fchmodat(root, below(path), mode, 0));
}

static int change_times(const char *path, const struct timespec times[2],
                        struct fuse_file_info *file)
{
    (void)file;
    return answer(utimensat(root, below(path), times, AT_SYMLINK_NOFOLLOW));
}

static int state(const char *path, struct statvfs *st)
{
    (void)path;
    return answer(fstatvfs(root, st));
}

int main(int argc, char **argv)
{
    static const struct fuse_operations operations = {
        .getattr = get_attr,
        .readdir = read_dir,
        .open = open_file,
        .create = create_file,
        .read = read_file,
        .write = write_file,
        .fsync = sync_file,
        .flock = lock_file,
        .release = release_file,
        .truncate = truncate_file,
        .mkdir = make_dir,
        .unlink = remove_file,
        .rmdir = remove_dir,
        .rename = rename_file,
        .link = link_file,
        .symlink = make_symlink,
        .readlink = read_link,
        .chmod = change_mode,
        .utimens = change_times,
        .statfs = state,
    };
    if (argc < 4 || argc > 9 || argc == 7) {
        (void)fputs("usage: slowfs DIRECTORY DELAY_US MOUNTPOINT [NAMES_US [WRITES [CACHE_KIB "
                    "KIB_PER_S [SHARE]]]]\n",
                    stderr);
        return 2;
    }
    long us = strtol(argv[2], NULL, 10);
    delay = (struct timespec){us / 1000000, us % 1000000 * 1000};
    root = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) {
        perror(argv[1]);
        return 1;
    }
    us = argc > 4 ? strtol(argv[4], NULL, 10) : 0;
    writes_each = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 1;
    writes_each = writes_each > 0 ? writes_each : 1;
    cache_bytes = argc > 7 ? 1024 * strtod(argv[6], NULL) : 0;
    cache_rate = argc > 7 ? 1024 * strtod(argv[7], NULL) : 0;
    cache_bytes = cache_rate > 0 ? cache_bytes : 0;
    is_shared = argc > 8 && strtol(argv[8], NULL, 10) != 0;
    names_delay = (struct timespec){us / 1000000, us % 1000000 * 1000};
    char remembered[] = "max_idle_threads=16";
    char forgotten[] = "max_idle_threads=16,attr_timeout=0,entry_timeout=0,negative_timeout=0";
    char *arguments[] = {argv[0], "-f", "-o", us > 0 ? forgotten : remembered, argv[3], NULL};
    return fuse_main(5, arguments, &operations, NULL);
}
