/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define WALK_LINKS 40
#define WALK_DEPTH 256

/* Flags that openat2 accepts; it refuses unknown ones where open ignores them. */
#define OPEN_FLAGS                                                                                 \
    (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_DSYNC |         \
     O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_SYNC | O_PATH | \
     O_TMPFILE)

static int kernel_open(int dir, const char *path, int flags, mode_t mode)
{
    struct open_how how = {0};
    how.flags = (unsigned)flags;
    how.mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? mode & 07777 : 0;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    int fd;
    do { /* EAGAIN: something was renamed while `..` was looked up */
        fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
    } while (fd < 0 && (errno == EAGAIN || errno == EINTR));
    return fd;
}

static const char *relative(const char *path)
{
    while (*path == '/') {
        path++;
    }
    return *path == '\0' ? "." : path;
}

static int clean_flags(int flags)
{
    flags = (flags & OPEN_FLAGS) | O_CLOEXEC;
    if ((flags & O_PATH) != 0) {
        return flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    return flags | O_NOCTTY;
}

/* A walk in progress: the directories from the root down to where it stands, and what is left. */
struct path_walk {
    int dirs[WALK_DEPTH]; /* [0] is the root, borrowed */
    unsigned depth;
    unsigned links;
    char left[2 * PATH_MAX];
};

static void walk_cut(struct path_walk *walk, unsigned depth)
{
    while (walk->depth > depth) {
        (void)close(walk->dirs[walk->depth]);
        walk->depth--;
    }
}

/* Put a link's text before what is left. */
static int walk_link(struct path_walk *walk, const char *name, const char *rest)
{
    char text[PATH_MAX];
    char joined[2 * PATH_MAX];
    if (++walk->links > WALK_LINKS) {
        errno = ELOOP;
        return -1;
    }
    ssize_t bytes = readlinkat(walk->dirs[walk->depth], name, text, sizeof(text) - 1);
    if (bytes < 0) {
        return -1;
    }
    text[bytes] = '\0';
    size_t rest_bytes = strlen(rest);
    if ((size_t)bytes + rest_bytes + 2 > sizeof(joined)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)snprintf(joined, sizeof(joined), rest_bytes == 0 ? "%s%s" : "%s/%s", text, rest);
    if (text[0] == '/') {
        walk_cut(walk, 0);
    }
    memcpy(walk->left, joined, sizeof(joined));
    return 0;
}

static bool is_link(int dir, const char *name)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* Enter a directory. 0 done, 1 it was a link that is now in front of `left`, -1 failed. */
static int walk_enter(struct path_walk *walk, const char *name, const char *rest)
{
    if (strcmp(name, ".") == 0) {
        return 0;
    }
    if (strcmp(name, "..") == 0) {
        walk_cut(walk, walk->depth > 0 ? walk->depth - 1 : 0);
        return 0;
    }
    if (walk->depth + 1 == WALK_DEPTH) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int dir = walk->dirs[walk->depth];
    int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        int error = errno;
        if ((error == ENOTDIR || error == ELOOP) && is_link(dir, name)) {
            return walk_link(walk, name, rest) == 0 ? 1 : -1;
        }
        errno = error;
        return -1;
    }
    walk->dirs[++walk->depth] = fd;
    return 0;
}

/* Open the last component. Returns a descriptor, -1, or -2: it was a link, go on. */
static int walk_last(struct path_walk *walk, const char *name, int flags, mode_t mode)
{
    int dir = walk->dirs[walk->depth];
    bool follow = (flags & O_NOFOLLOW) == 0 && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        if (name[1] == '.') {
            walk_cut(walk, walk->depth > 0 ? walk->depth - 1 : 0);
        }
        /* house: allow beneath: the directory itself */
        return openat(walk->dirs[walk->depth], ".", flags, mode);
    }
    if (follow && is_link(dir, name)) {
        return walk_link(walk, name, "") == 0 ? -2 : -1;
    }
    return openat(dir, name, flags | O_NOFOLLOW, mode);
}

static int walk_run(struct path_walk *walk, int flags, mode_t mode)
{
    char name[NAME_MAX + 1];
    for (;;) {
        const char *start = walk->left + strspn(walk->left, "/");
        size_t bytes = strcspn(start, "/");
        const char *rest = start + bytes + strspn(start + bytes, "/");
        if (bytes > NAME_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        (void)snprintf(name, sizeof(name), "%.*s", bytes == 0 ? 1 : (int)bytes,
                       bytes == 0 ? "." : start);
        if (*rest == '\0') {
            bool is_directory = start[bytes] == '/';
            int fd = walk_last(walk, name, flags | (is_directory ? O_DIRECTORY : 0), mode);
            if (fd != -2) {
                return fd;
            }
            continue;
        }
        int entered = walk_enter(walk, name, rest);
        if (entered < 0) {
            return -1;
        }
        if (entered == 0) {
            memmove(walk->left, rest, strlen(rest) + 1);
        }
    }
}

int rp_root_walk(const struct rp_root *root, const char *path, int flags, mode_t mode)
{
    struct path_walk walk;
    size_t bytes = strlen(path);
    if (bytes == 0 || bytes >= PATH_MAX) {
        errno = bytes == 0 ? ENOENT : ENAMETOOLONG;
        return -1;
    }
    walk.dirs[0] = root->fd;
    walk.depth = 0;
    walk.links = 0;
    memcpy(walk.left, path, bytes + 1);
    int fd = walk_run(&walk, clean_flags(flags), mode & 07777);
    int error = errno;
    walk_cut(&walk, 0);
    errno = error;
    return fd;
}

int rp_root_openat(const struct rp_root *root, const char *path, int flags, mode_t mode)
{
    if (path[0] == '\0') {
        errno = ENOENT;
        return -1;
    }
    if (root->has_openat2) {
        return kernel_open(root->fd, relative(path), clean_flags(flags), mode);
    }
    return rp_root_walk(root, path, flags, mode);
}

int rp_root_parent(const struct rp_root *root, const char *path, char *name_out)
{
    char dir[PATH_MAX];
    size_t end = strlen(path);
    if (end == 0) {
        errno = ENOENT;
        return -1;
    }
    while (end > 0 && path[end - 1] == '/') {
        end--;
    }
    size_t start = end;
    while (start > 0 && path[start - 1] != '/') {
        start--;
    }
    size_t bytes = end - start;
    if (end >= sizeof(dir) || bytes > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (bytes == 0 || strncmp(path + start, "..", bytes) == 0) { /* "", ".", "..": the directory */
        memcpy(name_out, ".", 2);
        start = end;
    } else {
        memcpy(name_out, path + start, bytes);
        name_out[bytes] = '\0';
    }
    memcpy(dir, path, start);
    dir[start] = '\0';
    return rp_root_openat(root, start == 0 ? "/" : dir, O_PATH | O_DIRECTORY, 0);
}

static bool is_whole_system(int fd)
{
    struct stat here;
    struct stat top;
    return fstat(fd, &here) == 0 && stat("/", &top) == 0 && here.st_dev == top.st_dev &&
           here.st_ino == top.st_ino;
}

enum wio_status rp_root_open(const char *path, struct rp_root *root_out, struct wio_error *err)
{
    int fd WIO_CLEANUP(wio_fd_cleanup) = -1;
    /* house: allow beneath: the target, as the user names it */
    if (mkdir(path, 0777) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) {
        return wio_error_sys(err, path, "cannot make the target directory");
    }
    /* house: allow beneath: the same */
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return wio_error_sys(err, path, "cannot open the target directory");
    }
    if (is_whole_system(fd)) {
        return wio_error_set(err, WIO_ERR_USAGE, path, WIO_ERROR_NO_OFFSET,
                             "the target must be a directory of its own, not '/'");
    }
    int probe = kernel_open(fd, ".", O_PATH | O_CLOEXEC, 0);
    root_out->has_openat2 = probe >= 0;
    if (probe >= 0) {
        (void)close(probe);
    }
    root_out->path = path;
    root_out->fd = fd;
    fd = -1;
    return WIO_OK;
}

void rp_root_close(struct rp_root *root)
{
    wio_fd_cleanup(&root->fd);
}
