/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What really happens to descriptors: `oracle SEED ACTIONS TRUTH`. Does random things to a few
 * descriptors, alone and with children, and asks the kernel which file and which position each read
 * and write had, by system calls that are not recorded. Appends to the file TRUTH one line per read
 * and write: operation, descriptor, path, offset, result. oracle_test.py compares with the rings.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rawcall.h"

#define FIRST_FD 3
#define FDS 16
#define LAST_FD (FIRST_FD + FDS - 1)
#define TRUTH_BYTES (1 << 20)

static char truth[TRUTH_BYTES];
static size_t truth_used;
static const char *truth_name;
static unsigned state;

/* A number below `limit`, the same in every run of this seed. */
static unsigned pick(unsigned limit)
{
    state = state * 1103515245u + 12345u;
    return (state >> 16) % limit;
}

static int pick_fd(void)
{
    return FIRST_FD + (int)pick(FDS);
}

/* ---- the kernel's word ----------------------------------------------------------------------- */

static long position(int fd)
{
    return wio_rawcall3(SYS_lseek, fd, 0, SEEK_CUR);
}

static void find_path(int fd, char path[PATH_MAX])
{
    char link[32];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    long length = wio_rawcall4(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
}

static void note(const char *what, int fd, long offset, ssize_t result)
{
    char path[PATH_MAX];
    find_path(fd, path);
    int bytes = snprintf(truth + truth_used, TRUTH_BYTES - truth_used, "%s %d %s %ld %zd\n", what,
                         fd, path, offset, result);
    truth_used += (size_t)bytes;
    if (truth_used >= TRUTH_BYTES) {
        abort();
    }
}

static void write_truth(void)
{
    long fd =
        wio_rawcall4(SYS_openat, AT_FDCWD, (long)truth_name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    long done = wio_rawcall3(SYS_write, fd, (long)truth, (long)truth_used);
    if (done != (long)truth_used || wio_rawcall3(SYS_close, fd, 0, 0) != 0) {
        abort();
    }
    truth_used = 0;
}

/* ---- what is done ---------------------------------------------------------------------------- */

/* A number above those that the actions use would be a descriptor for ever. */
static void drop_if_high(int fd)
{
    if (fd > LAST_FD) {
        (void)close(fd);
    }
}

static void open_one(void)
{
    char name[16];
    (void)snprintf(name, sizeof(name), "file%u", pick(5));
    int flags = O_RDWR | O_CREAT | (pick(4) == 0 ? O_APPEND : 0) | (pick(3) == 0 ? O_CLOEXEC : 0);
    drop_if_high(open(name, flags, 0600));
}

/* An append begins where it ended, less what it wrote. */
static void note_moving(const char *what, int fd, long before, ssize_t result)
{
    note(what, fd, result > 0 ? position(fd) - result : before, result);
}

static void transfer(int fd)
{
    char data[64] = "";
    struct iovec parts[2] = {{data, 1 + pick(30)}, {data, 1 + pick(30)}};
    size_t size = 1 + pick(40);
    long before = position(fd);
    if (before < 0) {
        return;
    }
    switch (pick(6)) {
    case 0:
        note_moving("read", fd, before, read(fd, data, size));
        break;
    case 1:
        note_moving("write", fd, before, write(fd, data, size));
        break;
    case 2:
        note("pread", fd, (long)size, pread(fd, data, size, (off_t)size));
        break;
    case 3:
        note_moving("readv", fd, before, readv(fd, parts, 2));
        break;
    case 4:
        note_moving("pwritev2", fd, before, pwritev2(fd, parts, 2, -1, 0));
        break;
    default:
        (void)lseek(fd, (off_t)pick(200), pick(2) == 0 ? SEEK_SET : SEEK_CUR);
    }
}

static void duplicate(int fd)
{
    switch (pick(4)) {
    case 0:
        drop_if_high(dup(fd));
        break;
    case 1:
        (void)dup2(fd, pick_fd());
        break;
    case 2:
        (void)dup3(fd, pick_fd(), pick(2) == 0 ? O_CLOEXEC : 0);
        break;
    default:
        drop_if_high(fcntl(fd, pick(2) == 0 ? F_DUPFD : F_DUPFD_CLOEXEC, (long)pick_fd()));
    }
}

static void change(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    switch (pick(5)) {
    case 0:
        (void)fcntl(fd, F_SETFD, pick(2));
        break;
    case 1:
        (void)ioctl(fd, pick(2) == 0 ? FIOCLEX : FIONCLEX);
        break;
    case 2:
        (void)close_range((unsigned)fd, (unsigned)fd + pick(2),
                          pick(2) == 0 ? (int)CLOSE_RANGE_CLOEXEC : 0);
        break;
    default:
        if (flags >= 0) {
            (void)fcntl(fd, F_SETFL, pick(2) == 0 ? flags | O_APPEND : flags & ~O_APPEND);
        }
    }
}

static void act_alone(void)
{
    int fd = pick_fd();
    switch (pick(10)) {
    case 0:
    case 1:
        open_one();
        break;
    case 2:
        (void)close(fd);
        break;
    case 3:
        duplicate(fd);
        break;
    case 4:
        change(fd);
        break;
    default:
        transfer(fd);
    }
}

static void fork_one(void)
{
    pid_t child = fork();
    if (child == 0) {
        truth_used = 0;
        for (int i = 0; i < 12; i++) {
            act_alone();
        }
        write_truth();
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

/* What a child of vfork does stays the parent's, where it concerns positions. */
static void vfork_one(int fd, int other, unsigned what)
{
    char data[8];
    pid_t child = vfork();
    if (child == 0) {
        if (what == 0) {
            (void)dup2(fd, other);
            (void)!pread(other, data, 3, 0);
            (void)lseek(other, 17, SEEK_SET);
        } else if (what == 1) {
            (void)lseek(fd, 23, SEEK_SET);
        } else {
            (void)close(fd);
        }
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

/* Another program has it as its standard input. */
static void lend_to_shell(int fd)
{
    char command[64];
    (void)snprintf(command, sizeof(command), "test -e /dev/fd/%d && head -c 3 <&%d", fd, fd);
    FILE *stream = fd < 10 ? popen(command, "r") : NULL; /* more digits are for bash alone */
    if (stream != NULL) {
        while (fgetc(stream) != EOF) {
        }
        (void)pclose(stream);
    }
}

static void act(void)
{
    switch (pick(40)) {
    case 0:
    case 1:
        fork_one();
        break;
    case 2:
    case 3:
        vfork_one(pick_fd(), pick_fd(), pick(3));
        break;
    case 4:
        lend_to_shell(pick_fd());
        break;
    default:
        act_alone();
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    state = (unsigned)atoi(argv[1]);
    truth_name = argv[3];
    for (int i = atoi(argv[2]); i > 0; i--) {
        act();
    }
    write_truth();
    return 0;
}
