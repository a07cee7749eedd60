/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls by number. Their events bear the name of the call that they replace, so here each
 * case names that.
 */
#include <linux/openat2.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include "cover_async.h"

static char buffer[4096];
static const char *path;
static long fd;

/* Make a call that is recorded as `name`. */
static long call_as(const char *name, const long *words, size_t count)
{
    long result = cover_call(LONG, "syscall", words, count);
    cover_last.symbol = name;
    return result;
}

#define RAW(name, ...)                                                                             \
    call_as(name, (const long[]){__VA_ARGS__}, sizeof((const long[]){__VA_ARGS__}) / sizeof(long))

static void opening(void)
{
    struct open_how how = {.flags = O_RDONLY};
    const int flags = O_RDWR | O_CREAT;
    path = in_dir("raw.dat");
    fd = RAW("openat", SYS_openat, AT_FDCWD, P(path), flags, 0600);
    EXPECT("path=%s a0=%d a1=384", path, flags);
    long second = RAW("openat", SYS_openat2, AT_FDCWD, P(path), P(&how), sizeof(how));
    EXPECT("path=%s a0=0 a1=0", path);
    RAW("close", SYS_close, second);
    EXPECT("fd=%ld path=%s", second, path);
    RAW("openat", SYS_openat, AT_FDCWD, P("/nonexistent/x"), O_RDONLY);
    EXPECT("path=/nonexistent/x a0=0 a1=0");
    RAW("openat", SYS_openat, AT_FDCWD, 8, O_RDONLY);
    EXPECT("a0=0 a1=0");
    RAW("close", SYS_close, 99);
    EXPECT("fd=99");
}

static void channel(void)
{
    int ends[2];
    RAW("pipe2", SYS_pipe2, P(ends), O_CLOEXEC);
    EXPECT("path=* path2=* a0=%d a1=%d a2=%d", ends[0], ends[1], O_CLOEXEC);
    cover_close(ends[0], "*");
    cover_close(ends[1], "*");
}

static void data(void)
{
    struct iovec vector[2] = {{buffer, 100}, {buffer + 200, 50}};
    RAW("write", SYS_write, fd, P(buffer), 300);
    EXPECT("fd=%ld path=%s offset=0 size=300", fd, path);
    RAW("writev", SYS_writev, fd, P(vector), 2);
    EXPECT("fd=%ld path=%s offset=300 size=150 a1=2", fd, path);
    RAW("pwrite", SYS_pwrite64, fd, P(buffer), 10, 1000);
    EXPECT("fd=%ld path=%s offset=1000 size=10", fd, path);
    RAW("lseek", SYS_lseek, fd, 5, SEEK_SET);
    EXPECT("fd=%ld path=%s offset=5 a0=0", fd, path);
    RAW("read", SYS_read, fd, P(buffer), 20);
    EXPECT("fd=%ld path=%s offset=5 size=20", fd, path);
    RAW("pread", SYS_pread64, fd, P(buffer), 20, 100);
    EXPECT("fd=%ld path=%s offset=100 size=20", fd, path);
    RAW("preadv", SYS_preadv, fd, P(vector), 2, 10, 0);
    EXPECT("fd=%ld path=%s offset=10 size=150 a1=2", fd, path);
    RAW("preadv2", SYS_preadv2, fd, P(vector), 2, -1, -1, 0);
    EXPECT("fd=%ld path=%s offset=25 size=150 a0=0 a1=2", fd, path);
    RAW("fsync", SYS_fsync, fd);
    EXPECT("fd=%ld path=%s", fd, path);
    RAW("ftruncate", SYS_ftruncate, fd, 500);
    EXPECT("fd=%ld path=%s size=500", fd, path);
    RAW("fallocate", SYS_fallocate, fd, 0, 4096, 100);
    EXPECT("fd=%ld path=%s offset=4096 size=100 a0=0", fd, path);
}

static void looking(void)
{
    static struct stat st;
    static struct statx stx;
    RAW("fstat", SYS_fstat, fd, P(&st));
    EXPECT("fd=%ld path=%s a1=%d a2=4196 a3=1", fd, path, S_IFREG | 0600);
    RAW("fstatat", SYS_newfstatat, AT_FDCWD, P(path), P(&st), 0);
    EXPECT("path=%s a0=0 a2=4196", path);
    RAW("statx", SYS_statx, AT_FDCWD, P(path), 0, STATX_SIZE, P(&stx));
    EXPECT("path=%s a0=0 a2=4196", path);
    RAW("faccessat", SYS_faccessat, AT_FDCWD, P(path), R_OK);
    EXPECT("path=%s a0=%d a1=0", path, R_OK);
}

static void names(void)
{
    const char *other = in_dir("raw-other");
    const char *directory = in_dir("raw-dir");
    RAW("mkdirat", SYS_mkdirat, AT_FDCWD, P(directory), 0700);
    EXPECT("path=%s a0=448 a1=0", directory);
    RAW("linkat", SYS_linkat, AT_FDCWD, P(path), AT_FDCWD, P(other), 0);
    EXPECT("path=%s path2=%s a0=0", path, other);
    RAW("unlinkat", SYS_unlinkat, AT_FDCWD, P(other), 0);
    EXPECT("path=%s a0=0", other);
    RAW("symlinkat", SYS_symlinkat, P("where"), AT_FDCWD, P(other));
    EXPECT("path=%s path2=where", other);
    RAW("readlinkat", SYS_readlinkat, AT_FDCWD, P(other), P(buffer), 100);
    EXPECT("path=%s path2=where size=100", other);
    RAW("renameat2", SYS_renameat2, AT_FDCWD, P(other), AT_FDCWD, P(in_dir("raw-moved")), 0);
    EXPECT("path=%s path2=%s a0=0", other, in_dir("raw-moved"));
    RAW("fchmod", SYS_fchmod, fd, 0640);
    EXPECT("fd=%ld path=%s a0=416 a1=0", fd, path);
}

static void times(void)
{
    const struct timespec nanos[2] = {{1002, 7}, {2002, 8}};
    RAW("utimensat", SYS_utimensat, AT_FDCWD, P(path), P(nanos), AT_SYMLINK_NOFOLLOW);
    EXPECT("path=%s size=256 a0=1002 a1=7 a2=2002 a3=8", path);
#ifdef SYS_utime /* x86-64 still has the older ones */
    const struct timeval micros[2] = {{1001, 5}, {2001, 6}};
    const struct utimbuf seconds = {1000, 2000};
    RAW("utimes", SYS_utimes, P(path), P(micros));
    EXPECT("path=%s a0=1001 a1=5000 a2=2001 a3=6000", path);
    RAW("futimesat", SYS_futimesat, AT_FDCWD, P(path), P(micros));
    EXPECT("path=%s a0=1001 a1=5000 a2=2001 a3=6000", path);
    RAW("utime", SYS_utime, P(path), P(&seconds));
    EXPECT("path=%s a0=1000 a1=0 a2=2000 a3=0", path);
    RAW("getdents64", SYS_getdents, fd, P(buffer), 300);
    EXPECT("fd=%ld path=%s size=300", fd, path);
#endif
}

static void copying(void)
{
    long to = RAW("openat", SYS_openat, AT_FDCWD, P(in_dir("raw-copy")), O_RDWR | O_CREAT, 0600);
    int64_t from_offset = 10;
    EXPECT("path=%s a0=%d a1=384", in_dir("raw-copy"), O_RDWR | O_CREAT);
    RAW("copy_file_range", SYS_copy_file_range, fd, P(&from_offset), to, 0, 50, 0);
    EXPECT("fd=%ld path=%s offset=0 fd2=%ld path2=%s offset2=10 size=50 a0=0", to,
           in_dir("raw-copy"), fd, path);
    RAW("sendfile", SYS_sendfile, to, fd, 0, 5);
    EXPECT("fd=%ld path=%s offset=50 fd2=%ld path2=%s offset2=* size=5", to, in_dir("raw-copy"), fd,
           path);
    RAW("close", SYS_close, to);
    EXPECT("fd=%ld path=%s", to, in_dir("raw-copy"));
}

static void descriptors(void)
{
    long second = RAW("dup", SYS_dup, fd);
    EXPECT("fd=%ld path=%s a0=0 a1=0", fd, path);
    RAW("dup3", SYS_dup3, fd, 40, O_CLOEXEC);
    EXPECT("fd=%ld path=%s a0=40 a1=%d", fd, path, O_CLOEXEC);
    RAW("fcntl", SYS_fcntl, 40, F_GETFD);
    EXPECT("fd=40 path=%s a0=%d a1=*", path, F_GETFD);
    RAW("close_range", SYS_close_range, 40, 41, 0);
    EXPECT("a0=40 a1=41 a2=0");
    RAW("close", SYS_close, second);
    EXPECT("fd=%ld path=%s", second, path);
}

/* Without libaio, without liburing. */
static void asynchronous(void)
{
    long context = 0;
    RAW("io_setup", SYS_io_setup, 4, P(&context));
    EXPECT("size=4 a0=%ld", context);
    RAW("io_destroy", SYS_io_destroy, context);
    EXPECT("a0=%ld", context);
}

/* A child with memory of its own, made behind libc's back. */
static void forking(void)
{
    int status;
    long child = RAW("clone", SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);
    if (child == 0) {
        (void)wio_rawcall3(SYS_exit_group, 3, 0, 0);
    }
    EXPECT("a0=* a1=%ld", child);
    RAW("wait4", SYS_wait4, child, P(&status), 0, 0);
    EXPECT("a0=768 a1=0 a2=%ld", child);
}

/* What is not recorded works as ever. */
static void others(void)
{
    long id = cover_call(LONG, "syscall", (const long[]){SYS_getppid}, 1);
    if (id != getppid()) {
        RECORD("syscall", id, 0, "getppid by number failed");
    }
    if (cover_call(LONG, "syscall", (const long[]){SYS_tgkill, 0, 0, 0}, 4) != -1 ||
        cover_last.error != EINVAL) {
        RECORD("syscall", 0, 0, "no errno");
    }
}

COVER_MAIN(opening, data, channel, looking, names, times, copying, descriptors, asynchronous,
           forking, others)
