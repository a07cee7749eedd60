/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, writing, copying, position, flushing, space. */
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cover.h"

static char buffer[8192];
static const char *path;
static int fd;

static void begin(void)
{
    path = in_dir("data.dat");
    fd = raw_open(path, O_RDWR | O_CREAT | O_TRUNC);
}

/* The descriptor was opened behind capture's back: shared, so each position is asked for. */
static void sequential(void)
{
    static const char *const writes[] = {"write", "__write"};
    static const char *const reads[] = {"read", "__read"};
    long at = 0;
    for (size_t i = 0; i < 2; i++, at += 100) {
        CALL(LONG, writes[i], fd, P(buffer), 100);
        EXPECT("fd=%d path=%s offset=%ld size=100", fd, path, at);
    }
    (void)wio_rawcall3(SYS_lseek, fd, 0, SEEK_SET);
    CALL(LONG, reads[0], fd, P(buffer), 70);
    EXPECT("fd=%d path=%s offset=0 size=70", fd, path);
    CALL(LONG, reads[1], fd, P(buffer), 70);
    EXPECT("fd=%d path=%s offset=70 size=70", fd, path);
    CALL(LONG, "__read_chk", fd, P(buffer), 100, sizeof(buffer));
    EXPECT("fd=%d path=%s offset=140 size=100", fd, path);
    CALL(LONG, "read", fd, P(buffer), 100);
    EXPECT("fd=%d path=%s offset=200 size=100", fd, path);
    CALL(LONG, "read", fd, 8, 0);
    EXPECT("fd=%d path=%s offset=200 size=0", fd, path);
    CALL(LONG, "write", 99, P(buffer), 5);
    EXPECT("fd=99 size=5");
}

/* One that capture saw being opened: positions come from the table. */
static void tracked(void)
{
    int own = (int)CALL(INT, "open", P(path), O_RDWR);
    EXPECT("path=%s a0=%d a1=0", path, O_RDWR);
    CALL(LONG, "read", own, P(buffer), 30);
    EXPECT("fd=%d path=%s offset=0 size=30", own, path);
    CALL(LONG, "pread", own, P(buffer), 30, 100);
    EXPECT("fd=%d path=%s offset=100 size=30", own, path);
    CALL(LONG, "read", own, P(buffer), 30);
    EXPECT("fd=%d path=%s offset=30 size=30", own, path);
    CALL(LONG, "lseek", own, -10, SEEK_END);
    EXPECT("fd=%d path=%s offset=-10 a0=%d", own, path, SEEK_END);
    CALL(LONG, "write", own, P(buffer), 30);
    EXPECT("fd=%d path=%s offset=190 size=30", own, path);
    cover_close(own, path);
    own = (int)CALL(INT, "open", P(path), O_WRONLY | O_APPEND);
    EXPECT("path=%s a0=%d a1=0", path, O_WRONLY | O_APPEND);
    CALL(LONG, "write", own, P(buffer), 30);
    EXPECT("fd=%d path=%s offset=220 size=30", own, path);
    cover_close(own, path);
    own = (int)CALL(INT, "open", P("/dev/zero"), O_RDONLY);
    EXPECT("path=/dev/zero a0=0 a1=0");
    CALL(LONG, "read", own, P(buffer), 30);
    EXPECT("fd=%d path=/dev/zero size=30", own);
    cover_close(own, "/dev/zero");
}

static void positioned(void)
{
    static const char *const writes[] = {"pwrite", "pwrite64", "__pwrite64"};
    static const char *const reads[] = {"pread", "pread64", "__pread64"};
    for (size_t i = 0; i < 3; i++) {
        CALL(LONG, writes[i], fd, P(buffer), 512, (long)i * 512);
        EXPECT("fd=%d path=%s offset=%ld size=512", fd, path, (long)i * 512);
        CALL(LONG, reads[i], fd, P(buffer), 600, (long)i * 512);
        EXPECT("fd=%d path=%s offset=%ld size=600", fd, path, (long)i * 512);
    }
    CALL(LONG, "__pread_chk", fd, P(buffer), 10, 20, sizeof(buffer));
    EXPECT("fd=%d path=%s offset=20 size=10", fd, path);
    CALL(LONG, "__pread64_chk", fd, P(buffer), 10, 20, sizeof(buffer));
    EXPECT("fd=%d path=%s offset=20 size=10", fd, path);
    CALL(LONG, "pread", fd, P(buffer), 10, -5);
    EXPECT("fd=%d path=%s offset=-5 size=10", fd, path);
}

static void vectors(void)
{
    struct iovec two[2] = {{buffer, 10}, {buffer + 100, 20}};
    static const char *const positioned[] = {"preadv", "preadv64", "pwritev", "pwritev64"};
    static const char *const flagged[] = {"preadv2", "preadv64v2", "pwritev2", "pwritev64v2"};
    (void)wio_rawcall3(SYS_lseek, fd, 40, SEEK_SET);
    CALL(LONG, "writev", fd, P(two), 2);
    EXPECT("fd=%d path=%s offset=40 size=30 a1=2", fd, path);
    CALL(LONG, "readv", fd, P(two), 2);
    EXPECT("fd=%d path=%s offset=70 size=30 a1=2", fd, path);
    for (size_t i = 0; i < 4; i++) {
        CALL(LONG, positioned[i], fd, P(two), 2, 8);
        EXPECT("fd=%d path=%s offset=8 size=30 a1=2", fd, path);
        CALL(LONG, flagged[i], fd, P(two), 2, 16, 0);
        EXPECT("fd=%d path=%s offset=16 size=30 a0=0 a1=2", fd, path);
    }
    CALL(LONG, "preadv2", fd, P(two), 2, -1, 0);
    EXPECT("fd=%d path=%s offset=100 size=30 a0=0 a1=2", fd, path);
    CALL(LONG, "writev", 99, 8, 2);
    EXPECT("fd=99 a1=2");
    CALL(LONG, "readv", fd, P(two), -1);
    EXPECT("fd=%d path=%s offset=130 a1=-1", fd, path);
}

static void copies(void)
{
    static const char *const sends[] = {"sendfile", "sendfile64"};
    const char *path2 = in_dir("copy.dat");
    int fd2 = raw_open(path2, O_RDWR | O_CREAT | O_TRUNC);
    for (size_t i = 0; i < 2; i++) {
        long from = 100;
        CALL(LONG, sends[i], fd2, fd, P(&from), 50);
        EXPECT("fd=%d path=%s offset=%ld fd2=%d path2=%s offset2=100 size=50", fd2, path2,
               (long)i * 50, fd, path);
    }
    long in = 10;
    long out = 300;
    CALL(LONG, "copy_file_range", fd, P(&in), fd2, P(&out), 60, 0);
    EXPECT("fd=%d path=%s offset=300 fd2=%d path2=%s offset2=10 size=60 a0=0", fd2, path2, fd,
           path);
    int ends[2] = {-1, -1};
    (void)wio_rawcall3(SYS_pipe2, P(ends), 0, 0);
    in = 20;
    CALL(LONG, "splice", fd, P(&in), ends[1], 0, 40, 0);
    EXPECT("fd=%d path=* fd2=%d path2=%s offset2=20 size=40 a0=0", ends[1], fd, path);
    int more[2] = {-1, -1};
    (void)wio_rawcall3(SYS_pipe2, P(more), 0, 0);
    CALL(LONG, "tee", ends[0], more[1], 30, 0);
    EXPECT("fd=%d path=* fd2=%d path2=* size=30 a0=0", more[1], ends[0]);
    struct {
        void *base;
        size_t size;
    } piece = {buffer, 25};
    CALL(LONG, "vmsplice", ends[1], P(&piece), 1, 0);
    EXPECT("fd=%d path=* size=25 a0=0 a1=1", ends[1]);
    for (int i = 0; i < 2; i++) {
        cover_close(ends[i], "*");
        cover_close(more[i], "*");
    }
    cover_close(fd2, path2);
}

static void sockets(void)
{
    int ends[2] = {-1, -1};
    struct iovec one = {buffer, 12};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    (void)wio_rawcall4(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, P(ends));
    CALL(LONG, "send", ends[0], P(buffer), 10, 0);
    EXPECT("fd=%d path=* size=10 a0=0", ends[0]);
    CALL(LONG, "__send", ends[0], P(buffer), 10, MSG_NOSIGNAL);
    EXPECT("fd=%d path=* size=10 a0=%d", ends[0], MSG_NOSIGNAL);
    CALL(LONG, "sendto", ends[0], P(buffer), 11, 0, 0, 0);
    EXPECT("fd=%d path=* size=11 a0=0", ends[0]);
    CALL(LONG, "sendmsg", ends[0], P(&message), 0);
    EXPECT("fd=%d path=* size=12 a0=0", ends[0]);
    CALL(LONG, "recv", ends[1], P(buffer), 10, 0);
    EXPECT("fd=%d path=* size=10 a0=0", ends[1]);
    CALL(LONG, "__recv_chk", ends[1], P(buffer), 10, sizeof(buffer), 0);
    EXPECT("fd=%d path=* size=10 a0=0", ends[1]);
    CALL(LONG, "recvfrom", ends[1], P(buffer), 5, 0, 0, 0);
    EXPECT("fd=%d path=* size=5 a0=0", ends[1]);
    CALL(LONG, "__recvfrom_chk", ends[1], P(buffer), 6, sizeof(buffer), 0, 0);
    EXPECT("fd=%d path=* size=6 a0=0", ends[1]);
    CALL(LONG, "recvmsg", ends[1], P(&message), 0);
    EXPECT("fd=%d path=* size=12 a0=0", ends[1]);
    struct mmsghdr messages[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
    CALL(INT, "sendmmsg", ends[0], P(messages), 2, 0);
    cover_last.result = 24; /* bytes */
    EXPECT("fd=%d path=* size=24 a0=0 a1=2", ends[0]);
    CALL(INT, "recvmmsg", ends[1], P(messages), 2, 0, 0);
    cover_last.result = 24;
    EXPECT("fd=%d path=* size=24 a0=0 a1=2", ends[1]);
    cover_close(ends[0], "*");
    cover_close(ends[1], "*");
}

static void positions(void)
{
    static const char *const seeks[] = {"lseek", "lseek64", "__lseek"};
    for (size_t i = 0; i < 3; i++) {
        CALL(LONG, seeks[i], fd, 33, SEEK_SET);
        EXPECT("fd=%d path=%s offset=33 a0=%d", fd, path, SEEK_SET);
    }
    CALL(LONG, "lseek", fd, -1, SEEK_SET);
    EXPECT("fd=%d path=%s offset=-1 a0=%d", fd, path, SEEK_SET);
}

static void flushes(void)
{
    static const char *const symbols[] = {"fsync", "fdatasync", "syncfs"};
    for (size_t i = 0; i < 3; i++) {
        CALL(INT, symbols[i], fd);
        EXPECT("fd=%d path=%s", fd, path);
    }
    CALL(INT, "sync_file_range", fd, 0, 512, SYNC_FILE_RANGE_WRITE);
    EXPECT("fd=%d path=%s offset=0 size=512 a0=%d", fd, path, SYNC_FILE_RANGE_WRITE);
    CALL0(NOTHING, "sync");
    EXPECT("%s", "");
    CALL(INT, "fsync", 99);
    EXPECT("fd=99");
}

static void spaces(void)
{
    static const char *const by_path[] = {"truncate", "truncate64"};
    static const char *const by_fd[] = {"ftruncate", "ftruncate64"};
    static const char *const allocate[] = {"fallocate", "fallocate64"};
    static const char *const posix[] = {"posix_fallocate", "posix_fallocate64"};
    static const char *const advise[] = {"posix_fadvise", "posix_fadvise64"};
    for (size_t i = 0; i < 2; i++) {
        CALL(INT, by_path[i], P(path), 3000);
        EXPECT("path=%s size=3000", path);
        CALL(INT, by_fd[i], fd, 2000);
        EXPECT("fd=%d path=%s size=2000", fd, path);
        CALL(INT, allocate[i], fd, 0, 100, 4000);
        EXPECT("fd=%d path=%s offset=100 size=4000 a0=0", fd, path);
        CALL(INT, posix[i], fd, 200, 4000);
        EXPECT("fd=%d path=%s offset=200 size=4000", fd, path);
        CALL(INT, advise[i], fd, 0, 1000, POSIX_FADV_WILLNEED);
        EXPECT("fd=%d path=%s offset=0 size=1000 a0=%d", fd, path, POSIX_FADV_WILLNEED);
    }
    CALL(LONG, "readahead", fd, 0, 4096);
    EXPECT("fd=%d path=%s offset=0 size=4096", fd, path);
    CALL(INT, "truncate", P(in_dir("no/such")), 1);
    EXPECT("path=%s size=1", in_dir("no/such"));
    cover_last.error = (int)CALL(INT, "posix_fallocate", 99, 0, 10);
    cover_last.error_is_result = true;
    EXPECT("fd=99 offset=0 size=10");
    CALL(INT, "getdents64", fd, P(buffer), sizeof(buffer));
    EXPECT("fd=%d path=%s size=%zu", fd, path, sizeof(buffer));
}

COVER_MAIN(begin, sequential, tracked, positioned, vectors, copies, sockets, positions, flushes,
           spaces)
