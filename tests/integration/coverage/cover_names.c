/* SPDX-License-Identifier: Apache-2.0 */
/* Directories, names, attributes of files, where the process stands, channels. */
#include <dirent.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>
#include <utime.h>

#include "cover.h"

static const char *path;

static void begin(void)
{
    path = in_dir("names.dat");
    raw_write_file(path, "x");
    (void)wio_rawcall3(SYS_mkdirat, AT_FDCWD, P(in_dir("sub")), 0700);
    raw_write_file(in_dir("sub/one"), "1");
}

static long walk(DIR *dir, int fd, const char *symbol)
{
    for (;;) {
        long entry = CALL(POINTER, symbol, P(dir));
        cover_last.result = entry != 0;
        if (entry == 0) {
            EXPECT("fd=%d path=%s", fd, in_dir("sub"));
            return 0;
        }
        const struct dirent *found = (const struct dirent *)(uintptr_t)entry;
        EXPECT("fd=%d path=%s path2=%s a0=%d", fd, in_dir("sub"), found->d_name, found->d_type);
    }
}

static void directories(void)
{
    DIR *dir = (DIR *)(uintptr_t)CALL(POINTER, "opendir", P(in_dir("sub")));
    int fd = dirfd(dir);
    cover_last.result = fd;
    EXPECT("path=%s a0=%d a1=0", in_dir("sub"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    walk(dir, fd, "readdir");
    CALL(NOTHING, "rewinddir", P(dir));
    EXPECT("fd=%d path=%s", fd, in_dir("sub"));
    walk(dir, fd, "readdir64");
    CALL(NOTHING, "seekdir", P(dir), 0);
    EXPECT("fd=%d path=%s offset=0", fd, in_dir("sub"));
    static const char *const reentrant[] = {"readdir_r", "readdir64_r"};
    for (size_t i = 0; i < 2; i++) {
        struct dirent room;
        struct dirent *found;
        CALL(INT, reentrant[i], P(dir), P(&room), P(&found));
        cover_last.result = 1;
        EXPECT("fd=%d path=%s path2=%s a0=%d", fd, in_dir("sub"), found->d_name, found->d_type);
    }
    CALL(INT, "closedir", P(dir));
    EXPECT("fd=%d path=%s", fd, in_dir("sub"));
    fd = raw_open(in_dir("sub"), O_RDONLY | O_DIRECTORY);
    dir = (DIR *)(uintptr_t)CALL(POINTER, "fdopendir", fd);
    cover_last.result = fd;
    EXPECT("fd=%d path=%s", fd, in_dir("sub"));
    CALL(INT, "closedir", P(dir));
    EXPECT("fd=%d path=%s", fd, in_dir("sub"));
    CALL(POINTER, "opendir", P(in_dir("no/such")));
    cover_last.result = -1;
    EXPECT("path=%s a0=%d a1=0", in_dir("no/such"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void scans(void)
{
    static const char *const plain[] = {"scandir", "scandir64"};
    static const char *const at[] = {"scandirat", "scandirat64"};
    struct dirent **names;
    for (size_t i = 0; i < 2; i++) {
        CALL(INT, plain[i], P(in_dir("sub")), P(&names), 0, 0);
        EXPECT("path=%s", in_dir("sub"));
        CALL(INT, at[i], AT_FDCWD, P("sub"), P(&names), 0, 0);
        EXPECT("path=%s", in_dir("sub"));
    }
}

static void make_directories(void)
{
    CALL(INT, "mkdir", P(in_dir("m1")), 0750);
    EXPECT("path=%s a0=%d", in_dir("m1"), 0750);
    CALL(INT, "mkdir", P(in_dir("m1")), 0750);
    EXPECT("path=%s a0=%d", in_dir("m1"), 0750);
    CALL(INT, "mkdirat", AT_FDCWD, P("m2"), 0700);
    EXPECT("path=%s a0=%d", in_dir("m2"), 0700);
    CALL(INT, "rmdir", P(in_dir("m1")));
    EXPECT("path=%s", in_dir("m1"));
    CALL(INT, "unlinkat", AT_FDCWD, P("m2"), AT_REMOVEDIR);
    EXPECT("path=%s a0=%d", in_dir("m2"), AT_REMOVEDIR);
    char name[1200];
    (void)snprintf(name, sizeof(name), "%s", in_dir("dirXXXXXX"));
    CALL(POINTER, "mkdtemp", P(name));
    EXPECT("path=%s a0=%d", name, 0700);
    CALL(INT, "remove", P(name));
    EXPECT("path=%s", name);
}

static void names(void)
{
    CALL(INT, "rename", P(path), P(in_dir("n1")));
    EXPECT("path=%s path2=%s", path, in_dir("n1"));
    CALL(INT, "renameat", AT_FDCWD, P("n1"), AT_FDCWD, P("n2"));
    EXPECT("path=%s path2=%s", in_dir("n1"), in_dir("n2"));
    CALL(INT, "renameat2", AT_FDCWD, P("n2"), AT_FDCWD, P("n3"), 1);
    EXPECT("path=%s path2=%s a0=1", in_dir("n2"), in_dir("n3"));
    CALL(INT, "link", P(in_dir("n3")), P(in_dir("n4")));
    EXPECT("path=%s path2=%s", in_dir("n3"), in_dir("n4"));
    CALL(INT, "linkat", AT_FDCWD, P("n3"), AT_FDCWD, P("n5"), 0);
    EXPECT("path=%s path2=%s a0=0", in_dir("n3"), in_dir("n5"));
    CALL(INT, "symlink", P("../odd//text"), P(in_dir("n6")));
    EXPECT("path=%s path2=../odd//text", in_dir("n6"));
    CALL(INT, "symlinkat", P("n3"), AT_FDCWD, P("n7"));
    EXPECT("path=%s path2=n3", in_dir("n7"));
    CALL(INT, "unlink", P(in_dir("n4")));
    EXPECT("path=%s", in_dir("n4"));
    CALL(INT, "unlink", P(in_dir("n4")));
    EXPECT("path=%s", in_dir("n4"));
    CALL(INT, "unlinkat", AT_FDCWD, P("n5"), 0);
    EXPECT("path=%s a0=0", in_dir("n5"));
    CALL(INT, "rename", P(in_dir("n3")), P(path));
    EXPECT("path=%s path2=%s", in_dir("n3"), path);
}

static void nodes(void)
{
    long device = 0;
    CALL(INT, "mkfifo", P(in_dir("f1")), 0600);
    EXPECT("path=%s a0=%d", in_dir("f1"), 0600);
    CALL(INT, "mkfifoat", AT_FDCWD, P("f2"), 0600);
    EXPECT("path=%s a0=%d", in_dir("f2"), 0600);
    CALL(INT, "mknod", P(in_dir("f3")), S_IFIFO | 0600, 0);
    EXPECT("path=%s a0=%d a1=0", in_dir("f3"), S_IFIFO | 0600);
    CALL(INT, "mknodat", AT_FDCWD, P("f4"), S_IFREG | 0600, 0);
    EXPECT("path=%s a0=%d a1=0", in_dir("f4"), S_IFREG | 0600);
    CALL(INT, "__xmknod", 0, P(in_dir("f5")), S_IFREG | 0600, P(&device));
    EXPECT("path=%s a0=%d a1=0", in_dir("f5"), S_IFREG | 0600);
    CALL(INT, "__xmknodat", 0, AT_FDCWD, P("f6"), S_IFREG | 0600, P(&device));
    EXPECT("path=%s a0=%d a1=0", in_dir("f6"), S_IFREG | 0600);
}

static void modes(void)
{
    int fd = raw_open(path, O_RDWR);
    CALL(INT, "chmod", P(path), 0640);
    EXPECT("path=%s a0=%d", path, 0640);
    CALL(INT, "lchmod", P(path), 0640);
    EXPECT("path=%s a0=%d", path, 0640);
    CALL(INT, "fchmod", fd, 0600);
    EXPECT("fd=%d path=%s a0=%d", fd, path, 0600);
    CALL(INT, "fchmodat", AT_FDCWD, P("names.dat"), 0644, 0);
    EXPECT("path=%s a0=%d a1=0", path, 0644);
    CALL(INT, "chown", P(path), -1, -1);
    EXPECT("path=%s a0=-1 a1=-1", path);
    CALL(INT, "lchown", P(path), -1, -1);
    EXPECT("path=%s a0=-1 a1=-1", path);
    CALL(INT, "fchown", fd, -1, -1);
    EXPECT("fd=%d path=%s a0=-1 a1=-1", fd, path);
    CALL(INT, "fchownat", AT_FDCWD, P("names.dat"), -1, -1, AT_SYMLINK_NOFOLLOW);
    EXPECT("path=%s a0=-1 a1=-1 a2=%d", path, AT_SYMLINK_NOFOLLOW);
    CALL(UNSIGNED, "umask", 022);
    EXPECT("a0=%d", 022);
    cover_close(fd, path);
}

static void times(void)
{
    int fd = raw_open(path, O_RDWR);
    struct utimbuf seconds = {1000, 2000};
    struct timeval micros[2] = {{1001, 5}, {2001, 6}};
    struct timespec nanos[2] = {{1002, 7}, {2002, 8}};
    CALL(INT, "utime", P(path), P(&seconds));
    EXPECT("path=%s a0=1000 a1=0 a2=2000 a3=0", path);
    CALL(INT, "utime", P(path), 0);
    EXPECT("path=%s a0=0 a1=%ld a2=0 a3=%ld", path, (long)UTIME_NOW, (long)UTIME_NOW);
    CALL(INT, "utimes", P(path), P(micros));
    EXPECT("path=%s a0=1001 a1=5000 a2=2001 a3=6000", path);
    CALL(INT, "lutimes", P(path), P(micros));
    EXPECT("path=%s a0=1001 a1=5000 a2=2001 a3=6000", path);
    CALL(INT, "futimes", fd, P(micros));
    EXPECT("fd=%d path=%s a0=1001 a1=5000 a2=2001 a3=6000", fd, path);
    CALL(INT, "futimesat", AT_FDCWD, P("names.dat"), P(micros));
    EXPECT("path=%s a0=1001 a1=5000 a2=2001 a3=6000", path);
    CALL(INT, "utimensat", AT_FDCWD, P("names.dat"), P(nanos), 0);
    EXPECT("path=%s size=0 a0=1002 a1=7 a2=2002 a3=8", path);
    CALL(INT, "utimensat", AT_FDCWD, P("names.dat"), P(nanos), AT_SYMLINK_NOFOLLOW);
    EXPECT("path=%s size=%d a0=1002 a1=7 a2=2002 a3=8", path, AT_SYMLINK_NOFOLLOW);
    CALL(INT, "futimens", fd, P(nanos));
    EXPECT("fd=%d path=%s a0=1002 a1=7 a2=2002 a3=8", fd, path);
    cover_close(fd, path);
}

static void places(void)
{
    int fd = raw_open(in_dir("."), O_RDONLY | O_DIRECTORY);
    CALL(INT, "chdir", P("sub"));
    EXPECT("path=%s", in_dir("sub"));
    CALL(INT, "access", P("one"), F_OK);
    EXPECT("path=%s a0=0", in_dir("sub/one"));
    CALL(INT, "access", P("../names.dat"), F_OK);
    EXPECT("path=%s a0=0", path);
    CALL(INT, "fchdir", fd);
    EXPECT("fd=%d path=%s", fd, in_dir(""));
    CALL(INT, "access", P("./sub/./one"), F_OK);
    EXPECT("path=%s a0=0", in_dir("sub/one"));
    CALL(INT, "chroot", P(in_dir("no/such")));
    EXPECT("path=%s", in_dir("no/such"));
    CALL(INT, "chdir", P("no/such"));
    EXPECT("path=%s", in_dir("no/such"));
    cover_close(fd, in_dir(""));
}

static void pair(const char *symbol, int ends[2], const char *more)
{
    cover_last.symbol = symbol;
    EXPECT("path=* path2=* a0=%d a1=%d %s", ends[0], ends[1], more);
    cover_close(ends[0], "*");
    cover_close(ends[1], "*");
}

static void channels(void)
{
    int ends[2];
    CALL(INT, "pipe", P(ends));
    pair("pipe", ends, "");
    CALL(INT, "__pipe", P(ends));
    pair("__pipe", ends, "");
    CALL(INT, "pipe2", P(ends), O_CLOEXEC);
    char flags[32];
    (void)snprintf(flags, sizeof(flags), "a2=%d", O_CLOEXEC);
    pair("pipe2", ends, flags);
    CALL(INT, "socketpair", AF_UNIX, SOCK_STREAM, 0, P(ends));
    (void)snprintf(flags, sizeof(flags), "a2=%d", SOCK_STREAM);
    pair("socketpair", ends, flags);
    long fd = CALL(INT, "eventfd", 3, EFD_CLOEXEC);
    EXPECT("path=* a0=3 a1=%d", EFD_CLOEXEC);
    sigset_t signals; /* R-CHAN-6 */
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGUSR1);
    long signal_fd = CALL(INT, "signalfd", -1, P(&signals), SFD_CLOEXEC);
    EXPECT("fd=-1 path=* a0=%d a1=%d", 1 << (SIGUSR1 - 1), SFD_CLOEXEC);
    CALL(INT, "signalfd", signal_fd, P(&signals), 0);
    EXPECT("fd=%ld path=* a0=%d", signal_fd, 1 << (SIGUSR1 - 1));
    cover_close(signal_fd, "*");
    struct itimerspec time = {.it_value = {2, 3}}; /* R-CHAN-8 */
    long timer = CALL(INT, "timerfd_create", CLOCK_MONOTONIC, TFD_CLOEXEC);
    EXPECT("path=* a0=%d a1=%d", CLOCK_MONOTONIC, TFD_CLOEXEC);
    CALL(INT, "timerfd_settime", timer, 0, P(&time), 0);
    EXPECT("fd=%ld path=* a0=0 a1=2000000003", timer);
    CALL(INT, "timerfd_settime", timer, TFD_TIMER_ABSTIME, 8, 0);
    EXPECT("fd=%ld path=* a0=%d a1=0", timer, TFD_TIMER_ABSTIME);
    cover_close(timer, "*");
    eventfd_t count = 2;
    CALL(INT, "eventfd_write", fd, (long)count);
    cover_last.result = 8;
    EXPECT("fd=%ld path=* size=8", fd);
    CALL(INT, "eventfd_read", fd, P(&count));
    cover_last.result = 8;
    EXPECT("fd=%ld path=* size=8", fd);
    cover_close(fd, "*");
}

static void sockets(void)
{
    static const char *const connects[] = {"connect", "__connect"};
    static const char *const accepts[] = {"accept", "accept4"};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    (void)strcpy(name.sun_path, "cover.sock");
    long listener = CALL(INT, "socket", AF_UNIX, SOCK_STREAM, 0);
    EXPECT("path=* a0=%d a1=%d a2=0", AF_UNIX, SOCK_STREAM);
    CALL(INT, "bind", listener, P(&name), sizeof(name));
    EXPECT("fd=%ld path=*", listener);
    cover_last.symbol = "mknod"; /* R-CHAN-7 */
    EXPECT("path=%s a0=%d a1=0", in_dir("cover.sock"), S_IFSOCK | 0777);
    (void)wio_rawcall3(SYS_listen, listener, 5, 0);
    for (size_t i = 0; i < 2; i++) {
        long client = CALL(INT, "socket", AF_UNIX, SOCK_STREAM, 0);
        EXPECT("path=* a0=%d a1=%d a2=0", AF_UNIX, SOCK_STREAM);
        CALL(INT, connects[i], client, P(&name), sizeof(name));
        EXPECT("fd=%ld path=* path2=*", client);
        long server = CALL(INT, accepts[i], listener, 0, 0, 0);
        EXPECT("fd=%ld path=* path2=* fd2=%ld", listener, server);
        CALL(INT, "shutdown", client, SHUT_WR);
        EXPECT("fd=%ld path=* a0=%d", client, SHUT_WR);
        cover_close(client, "*");
        cover_close(server, "*");
    }
    cover_close(listener, "*");
}

COVER_MAIN(begin, directories, scans, make_directories, names, nodes, modes, times, places,
           channels, sockets)
