/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at files: stat and its relatives, access, links, file systems, extended attributes. */
#include <limits.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cover.h"

static const char *path;
static const char *missing;
static int fd;
static char buffer[8192];

static void begin(void)
{
    path = in_dir("look.dat");
    missing = in_dir("no/such");
    raw_write_file(path, "hello");
    fd = raw_open(path, O_RDWR);
    (void)wio_rawcall3(SYS_symlinkat, P("look.dat"), AT_FDCWD, P(in_dir("look.link")));
}

static void by_path(const char *symbol, bool has_version)
{
    if (has_version) {
        CALL(INT, symbol, 1, P(path), P(buffer));
    } else {
        CALL(INT, symbol, P(path), P(buffer));
    }
    EXPECT("path=%s a0=0 a1=%d a2=5 a3=1", path, S_IFREG | 0600);
    if (has_version) {
        CALL(INT, symbol, 1, P(missing), P(buffer));
    } else {
        CALL(INT, symbol, P(missing), P(buffer));
    }
    EXPECT("path=%s a0=0 a1=0 a2=0 a3=0", missing);
}

static void stats(void)
{
    static const char *const plain[] = {"stat", "stat64", "lstat", "lstat64"};
    static const char *const old[] = {"__xstat", "__xstat64", "__lxstat", "__lxstat64"};
    for (size_t i = 0; i < 4; i++) {
        by_path(plain[i], false);
        by_path(old[i], true);
    }
    CALL(INT, "lstat", P(in_dir("look.link")), P(buffer));
    EXPECT("path=%s a1=%d a2=8 a3=1", in_dir("look.link"), S_IFLNK | 0777);
}

static void stats_by_fd(void)
{
    static const char *const plain[] = {"fstat", "fstat64"};
    static const char *const old[] = {"__fxstat", "__fxstat64"};
    for (size_t i = 0; i < 2; i++) {
        CALL(INT, plain[i], fd, P(buffer));
        EXPECT("fd=%d path=%s a1=%d a2=5 a3=1", fd, path, S_IFREG | 0600);
        CALL(INT, old[i], 1, fd, P(buffer));
        EXPECT("fd=%d path=%s a1=%d a2=5 a3=1", fd, path, S_IFREG | 0600);
    }
    CALL(INT, "fstat", 99, P(buffer));
    EXPECT("fd=99 a1=0 a2=0 a3=0");
}

static void stats_at(void)
{
    static const char *const plain[] = {"fstatat", "fstatat64"};
    static const char *const old[] = {"__fxstatat", "__fxstatat64"};
    for (size_t i = 0; i < 2; i++) {
        CALL(INT, plain[i], AT_FDCWD, P("look.link"), P(buffer), AT_SYMLINK_NOFOLLOW);
        EXPECT("path=%s a0=%d a1=%d a2=8 a3=1", in_dir("look.link"), AT_SYMLINK_NOFOLLOW,
               S_IFLNK | 0777);
        CALL(INT, old[i], 1, fd, P(""), P(buffer), AT_EMPTY_PATH);
        EXPECT("path=%s a0=%d a1=%d a2=5 a3=1", path, AT_EMPTY_PATH, S_IFREG | 0600);
    }
    CALL(INT, "statx", AT_FDCWD, P(path), 0, STATX_BASIC_STATS, P(buffer));
    EXPECT("path=%s a0=0 a1=%d a2=5 a3=1", path, S_IFREG | 0600);
    CALL(INT, "statx", AT_FDCWD, P(missing), 0, STATX_BASIC_STATS, P(buffer));
    EXPECT("path=%s a0=0 a1=0 a2=0 a3=0", missing);
}

static void accesses(void)
{
    static const char *const symbols[] = {"access", "euidaccess", "eaccess"};
    for (size_t i = 0; i < 3; i++) {
        CALL(INT, symbols[i], P(path), R_OK);
        EXPECT("path=%s a0=%d", path, R_OK);
        CALL(INT, symbols[i], P(missing), F_OK);
        EXPECT("path=%s a0=%d", missing, F_OK);
    }
    CALL(INT, "access", 8, 0777);
    EXPECT("a0=%d", 0777);
    CALL(INT, "faccessat", AT_FDCWD, P("look.dat"), W_OK, AT_EACCESS);
    EXPECT("path=%s a0=%d a1=%d", path, W_OK, AT_EACCESS);
}

static void links(void)
{
    const char *link = in_dir("look.link");
    CALL(LONG, "readlink", P(link), P(buffer), 100);
    EXPECT("path=%s path2=look.dat size=100", link);
    CALL(LONG, "__readlink_chk", P(link), P(buffer), 4, sizeof(buffer));
    EXPECT("path=%s path2=look size=4", link);
    CALL(LONG, "readlinkat", AT_FDCWD, P("look.link"), P(buffer), 100);
    EXPECT("path=%s path2=look.dat size=100", link);
    CALL(LONG, "__readlinkat_chk", AT_FDCWD, P(link), P(buffer), 100, sizeof(buffer));
    EXPECT("path=%s path2=look.dat size=100", link);
    CALL(LONG, "readlink", P(path), P(buffer), 100);
    EXPECT("path=%s size=100", path);
    CALL(POINTER, "realpath", P(link), P(buffer));
    EXPECT("path=%s path2=%s", link, path);
    CALL(POINTER, "__realpath_chk", P(link), P(buffer), PATH_MAX);
    EXPECT("path=%s path2=%s", link, path);
    CALL(POINTER, "canonicalize_file_name", P(link));
    EXPECT("path=%s path2=%s", link, path);
    free((void *)(uintptr_t)cover_last.result);
}

static void file_systems(void)
{
    static const char *const named[] = {"statfs", "statfs64", "__statfs", "statvfs", "statvfs64"};
    static const char *const opened[] = {"fstatfs", "fstatfs64", "fstatvfs", "fstatvfs64"};
    for (size_t i = 0; i < 5; i++) {
        CALL(INT, named[i], P(path), P(buffer));
        EXPECT("path=%s", path);
    }
    for (size_t i = 0; i < 4; i++) {
        CALL(INT, opened[i], fd, P(buffer));
        EXPECT("fd=%d path=%s", fd, path);
    }
}

static void attributes_by_path(const char *set, const char *get, const char *list,
                               const char *remove)
{
    CALL(INT, set, P(path), P("user.cover"), P("abc"), 3, XATTR_CREATE);
    EXPECT("path=%s path2=user.cover size=3 a0=%d", path, XATTR_CREATE);
    CALL(LONG, get, P(path), P("user.cover"), P(buffer), 100);
    EXPECT("path=%s path2=user.cover size=100", path);
    CALL(LONG, list, P(path), P(buffer), 200);
    EXPECT("path=%s size=200", path);
    CALL(INT, remove, P(path), P("user.cover"));
    EXPECT("path=%s path2=user.cover", path);
}

static void attributes(void)
{
    attributes_by_path("setxattr", "getxattr", "listxattr", "removexattr");
    attributes_by_path("lsetxattr", "lgetxattr", "llistxattr", "lremovexattr");
    CALL(INT, "fsetxattr", fd, P("user.cover"), P("abc"), 3, 0);
    EXPECT("fd=%d path=%s path2=user.cover size=3 a0=0", fd, path);
    CALL(LONG, "fgetxattr", fd, P("user.cover"), P(buffer), 100);
    EXPECT("fd=%d path=%s path2=user.cover size=100", fd, path);
    CALL(LONG, "flistxattr", fd, P(buffer), 200);
    EXPECT("fd=%d path=%s size=200", fd, path);
    CALL(INT, "fremovexattr", fd, P("user.cover"));
    EXPECT("fd=%d path=%s path2=user.cover", fd, path);
}

COVER_MAIN(begin, stats, stats_by_fd, stats_at, accesses, links, file_systems, attributes)
