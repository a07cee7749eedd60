/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, closing, duplicating. */
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cover.h"

#define TEMP_FLAGS (O_RDWR | O_CREAT | O_EXCL)

static void open_one(const char *symbol, bool has_mode)
{
    const char *path = in_dir("open.dat");
    int flags = has_mode ? O_RDWR | O_CREAT : O_RDONLY;
    long fd = CALL(INT, symbol, P(path), flags, 0640);
    EXPECT("path=%s a0=%d a1=%d", path, flags, has_mode ? 0640 : 0);
    cover_close(fd, path);
}

static void opens(void)
{
    open_one("open", true);
    open_one("open64", true);
    open_one("__open", true);
    open_one("__open64", true);
    open_one("__open_2", false);
    open_one("__open64_2", false);
    CALL(INT, "open", P(in_dir("no/such")), O_RDONLY);
    EXPECT("path=%s a0=0 a1=0", in_dir("no/such"));
    CALL(INT, "open", P("here.dat"), O_WRONLY | O_CREAT, 0600);
    EXPECT("path=%s a0=%d a1=%d", in_dir("here.dat"), O_WRONLY | O_CREAT, 0600);
    cover_close(cover_last.result, in_dir("here.dat"));
    CALL(INT, "open", 0, O_RDONLY);
    EXPECT("a0=0 a1=0");
    CALL(INT, "open", 8, O_RDONLY);
    EXPECT("a0=0 a1=0");
}

static void open_at_one(const char *symbol, int dir, bool has_mode)
{
    int flags = has_mode ? O_RDWR | O_CREAT : O_RDONLY;
    long fd = CALL(INT, symbol, dir, P("at.dat"), flags, 0640);
    EXPECT("path=%s a0=%d a1=%d", in_dir("at.dat"), flags, has_mode ? 0640 : 0);
    cover_close(fd, in_dir("at.dat"));
}

static void opens_at(void)
{
    int dir = raw_open(in_dir("."), O_RDONLY | O_DIRECTORY);
    open_at_one("openat", dir, true);
    open_at_one("openat64", dir, true);
    open_at_one("__openat_2", AT_FDCWD, false);
    open_at_one("__openat64_2", dir, false);
    raw_close(dir);
}

static void creates(void)
{
    static const char *const symbols[] = {"creat", "creat64"};
    for (size_t i = 0; i < 2; i++) {
        long fd = CALL(INT, symbols[i], P(in_dir("creat.dat")), 0600);
        EXPECT("path=%s a0=%d a1=%d", in_dir("creat.dat"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
        cover_close(fd, in_dir("creat.dat"));
    }
}

static void make_temp(const char *symbol, const char *suffix, long second, long third, int flags)
{
    char path[1200];
    (void)snprintf(path, sizeof(path), "%s%s", in_dir("tmpXXXXXX"), suffix);
    long fd = CALL(INT, symbol, P(path), second, third);
    EXPECT("path=%s a0=%d a1=%d", path, TEMP_FLAGS | flags, 0600);
    cover_close(fd, path);
    raw_remove(path);
}

static void temps(void)
{
    make_temp("mkstemp", "", 0, 0, 0);
    make_temp("mkstemp64", "", 0, 0, 0);
    make_temp("mkostemp", "", O_CLOEXEC, 0, O_CLOEXEC);
    make_temp("mkostemp64", "", O_APPEND, 0, O_APPEND);
    make_temp("mkstemps", ".c", 2, 0, 0);
    make_temp("mkstemps64", ".c", 2, 0, 0);
    make_temp("mkostemps", ".c", 2, O_CLOEXEC, O_CLOEXEC);
    make_temp("mkostemps64", ".c", 2, O_CLOEXEC, O_CLOEXEC);
    long fd = CALL(INT, "memfd_create", P("cover"), 0);
    EXPECT("path=* a0=0 a1=0");
    cover_close(fd, "*");
}

static void closes(void)
{
    int fd = raw_open(in_dir("open.dat"), O_RDONLY);
    CALL(INT, "close", fd);
    EXPECT("fd=%d path=%s", fd, in_dir("open.dat"));
    CALL(INT, "close", fd);
    EXPECT("fd=%d", fd);
    fd = raw_open(in_dir("open.dat"), O_RDONLY);
    CALL(INT, "__close", fd);
    EXPECT("fd=%d path=%s", fd, in_dir("open.dat"));
    (void)wio_rawcall3(SYS_dup3, 0, 60, 0);
    CALL(INT, "close_range", 60, 70, 0);
    EXPECT("a0=60 a1=70 a2=0");
    CALL(NOTHING, "closefrom", 50);
    EXPECT("a0=50");
    CALL(INT, "close_range", 9, 8, 0);
    EXPECT("a0=9 a1=8 a2=0");
}

static void dups(void)
{
    const char *path = in_dir("open.dat");
    int fd = raw_open(path, O_RDONLY);
    long copy = CALL(INT, "dup", fd);
    EXPECT("fd=%d path=%s a0=-1", fd, path);
    cover_close(copy, path);
    CALL(INT, "dup2", fd, 40);
    EXPECT("fd=%d path=%s a0=40", fd, path);
    CALL(INT, "__dup2", fd, 41);
    EXPECT("fd=%d path=%s a0=41", fd, path);
    CALL(INT, "dup3", fd, 42, O_CLOEXEC);
    EXPECT("fd=%d path=%s a0=42 a1=%d", fd, path, O_CLOEXEC);
    CALL(INT, "dup2", 77, 43);
    EXPECT("fd=77 a0=43");
    static char byte;
    CALL(LONG, "read", 42, P(&byte), 0);
    EXPECT("fd=42 path=%s offset=0 size=0", path);
    for (int i = 40; i <= 42; i++) {
        cover_close(i, path);
    }
    cover_close(fd, path);
}

static void controls(void)
{
    static const char *const symbols[] = {"fcntl", "fcntl64", "__fcntl"};
    const char *path = in_dir("open.dat");
    int fd = raw_open(path, O_RDWR);
    for (size_t i = 0; i < 3; i++) {
        CALL(INT, symbols[i], fd, F_GETFL, 0);
        EXPECT("fd=%d path=%s a0=%d", fd, path, F_GETFL);
    }
    long copy = CALL(INT, "fcntl", fd, F_DUPFD, 30);
    EXPECT("fd=%d path=%s a0=%d a1=30", fd, path, F_DUPFD);
    cover_close(copy, path);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 20};
    CALL(INT, "fcntl", fd, F_SETLK, P(&lock));
    EXPECT("fd=%d path=%s offset=10 size=20 a0=%d a2=%d a3=%d", fd, path, F_SETLK, F_WRLCK,
           SEEK_SET);
    CALL(INT, "flock", fd, LOCK_EX | LOCK_NB);
    EXPECT("fd=%d path=%s a0=%d", fd, path, LOCK_EX | LOCK_NB);
    CALL(INT, "lockf", fd, F_TEST, 5);
    EXPECT("fd=%d path=%s size=5 a0=%d", fd, path, F_TEST);
    CALL(INT, "lockf64", fd, F_TEST, 5);
    EXPECT("fd=%d path=%s size=5 a0=%d", fd, path, F_TEST);
    int ready = 0;
    CALL(INT, "ioctl", fd, FIONREAD, P(&ready));
    EXPECT("fd=%d path=%s a0=%ld", fd, path, (long)FIONREAD);
    CALL(INT, "ioctl", fd, (long)FICLONE, fd);
    EXPECT("fd=%d path=%s fd2=%d path2=%s a0=%ld", fd, path, fd, path, (long)FICLONE);
    cover_close(fd, path);
}

COVER_MAIN(opens, opens_at, creates, temps, closes, dups, controls)
