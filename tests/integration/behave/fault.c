/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls with pointers to nowhere: each is made in a child of its own and says what came of it, a
 * result or a signal. `fault`: its output must be the same under capture.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The compiler must not see that it is nowhere. */
static void *volatile bad;
static int file;
static const int closed = 99;

static void say(const char *what, bool has_failed)
{
    (void)printf("%s: %s\n", what, has_failed ? strerror(errno) : "good");
    (void)fflush(stdout);
    _exit(0);
}

static void await(const char *what, pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) == child && WIFSIGNALED(status)) {
        (void)printf("%s: signal %d\n", what, WTERMSIG(status));
    }
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        (void)fflush(stdout);                                                                      \
        pid_t child = fork();                                                                      \
        if (child == 0) {                                                                          \
            say(#call, (call) == -1);                                                              \
        }                                                                                          \
        await(#call, child);                                                                       \
    } while (0)

static void names(void)
{
    TRY(open(bad, O_RDWR | O_CREAT, 0600));
    TRY(openat(closed, bad, O_RDONLY));
    TRY(stat(bad, bad));
    TRY(stat("/", bad));
    TRY(fstatat(closed, "x", bad, 0));
    TRY(statx(AT_FDCWD, "/", 0, STATX_ALL, bad));
    TRY(access(bad, F_OK));
    TRY(readlink("/proc/self/exe", bad, 9));
    TRY(mkdir(bad, 0700));
    TRY(rename(bad, "a"));
    TRY(rename("nowhere", bad));
    TRY(renameat2(closed, bad, closed, bad, 0));
    TRY(link(bad, "a"));
    TRY(link("nowhere", bad));
    TRY(linkat(closed, "a", closed, bad, 0));
    TRY(symlink(bad, "a"));
    TRY(symlink("a", bad));
    TRY(chdir(bad));
    TRY(statfs("/nowhere", bad));
    TRY(utimensat(closed, "a", bad, 0));
    TRY(opendir(bad) == NULL ? -1 : 0);
}

static void attributes(void)
{
    TRY(getxattr("/nowhere", bad, bad, 9));
    TRY(setxattr("/nowhere", bad, bad, 9, 0));
    TRY(setxattr("/", bad, "a", 1, 77));
    TRY(fsetxattr(closed, bad, "a", 1, 0));
    TRY(listxattr("/", bad, 9));
    TRY(removexattr("/nowhere", bad));
}

static void data(void)
{
    struct iovec parts[2] = {{bad, 9}, {bad, 9}};
    TRY(read(file, bad, 9));
    TRY(pwrite(file, bad, 9, 0));
    TRY(readv(file, bad, 2));
    TRY(writev(closed, bad, 2));
    TRY(writev(file, parts, 2));
    TRY(preadv2(file, bad, 2, -1, 0));
    TRY(sendfile(file, file, bad, 9));
    TRY(sendfile(closed, closed, bad, 9));
    TRY(copy_file_range(closed, bad, closed, bad, 9, 0));
    TRY(splice(closed, bad, closed, bad, 9, 0));
    TRY(splice(file, bad, closed, NULL, 9, ~0u));
    TRY(fcntl(file, F_GETLK, bad));
    TRY(fcntl(closed, F_SETLK, bad));
    TRY(ioctl(file, FICLONERANGE, bad));
    TRY(ioctl(closed, FICLONERANGE, bad));
}

static void messages(void)
{
    int ends[2] = {-1, -1};
    struct iovec part = {(char *)"a", 1};
    struct msghdr no_parts = {.msg_iov = bad, .msg_iovlen = 2};
    struct msghdr no_control = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = bad, .msg_controllen = 64};
    (void)socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    TRY(sendmsg(ends[0], bad, 0));
    TRY(sendmsg(closed, bad, 0));
    TRY(sendmsg(ends[0], &no_parts, 0));
    TRY(sendmsg(ends[0], &no_control, 0));
    TRY(recvmsg(ends[0], bad, MSG_DONTWAIT));
    TRY(recvmsg(closed, bad, 0));
    TRY(sendmmsg(ends[0], bad, 2, 0));
    TRY(connect(ends[0], bad, 16));
    TRY(bind(closed, bad, 16));
    TRY(accept(ends[0], bad, bad));
    TRY(socketpair(77, 1, 0, bad));
    TRY(pipe(bad));
}

/* What it runs is nowhere in the usual sense. */
static int spawn_nothing(void)
{
    char *const arguments[] = {(char *)"true", NULL};
    const char *volatile nothing = NULL;
    posix_spawn_file_actions_t actions;
    pid_t started;
    (void)posix_spawn_file_actions_init(&actions);
    return posix_spawn(&started, nothing, &actions, NULL, arguments, environ) == 0 ? 0 : -1;
}

static void processes(void)
{
    char *const arguments[] = {(char *)"true", NULL};
    pid_t started;
    TRY(spawn_nothing());
    TRY(execve(bad, bad, bad));
    TRY(execve("/nowhere", bad, bad));
    TRY(execve("/bin/true", bad, bad));
    TRY(execve("/bin/true", arguments, bad));
    TRY(execveat(closed, bad, arguments, environ, 0));
    TRY(execveat(closed, "", arguments, environ, AT_EMPTY_PATH));
    TRY(posix_spawn(&started, bad, NULL, NULL, arguments, environ) == 0 ? 0 : -1);
    TRY(posix_spawn(&started, "/nowhere", NULL, NULL, arguments, bad) == 0 ? 0 : -1);
    TRY(posix_spawn(NULL, "/bin/true", NULL, NULL, arguments, environ));
    TRY(wait4(-1, bad, WNOHANG, bad));
    TRY(waitpid(-1, bad, WNOHANG));
    TRY(waitid(P_ALL, 0, bad, WEXITED | WNOHANG));
}

int main(void)
{
    file = open("file", O_RDWR | O_CREAT, 0600);
    if (file < 0 || pwrite(file, "some data", 9, 0) != 9) {
        return 1;
    }
    void *const guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *const places[] = {(void *)8, (void *)UINTPTR_MAX, guarded};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        bad = places[i];
        names();
        attributes();
        data();
        messages();
        processes();
    }
    return 0;
}
