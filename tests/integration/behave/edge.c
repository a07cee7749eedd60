/* SPDX-License-Identifier: Apache-2.0 */
/* Legal things at the edge of what calls allow: `edge MODE`. edge_test.py knows what must be
 * recorded. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void must(int good, const char *what)
{
    if (!good) {
        (void)printf("%s: %s\n", what, strerror(errno));
        exit(1);
    }
}

/* ---- exec from the smallest stack that a thread may have ------------------------------------- */

static void *be_echo(void *argument)
{
    execl("/bin/echo", "echo", "from a small stack", NULL);
    return argument;
}

static void small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
    must(pthread_create(&thread, &attributes, be_echo, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
}

/* ---- a thread that frees the variable in which its maker wants its name ---------------------- */

#define FREED 200

struct page {
    char bytes[2048];
    pthread_t thread;
};

static void *free_name(void *page)
{
    must(munmap(page, sizeof(struct page)) == 0, "munmap");
    return NULL;
}

/* One processor, and threads that go before their maker where that is allowed: then each has ended
 * when pthread_create returns. */
static void make_urgent(pthread_attr_t *attributes)
{
    const struct sched_param first = {.sched_priority = 1};
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET((unsigned)sched_getcpu(), &here);
    (void)sched_setaffinity(0, sizeof(here), &here);
    pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(attributes, SCHED_FIFO);
    pthread_attr_setschedparam(attributes, &first);
}

static void freed_name(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    make_urgent(&attributes);
    for (int i = 0; i < FREED; i++) {
        struct page *page =
            mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        must(page != MAP_FAILED, "mmap");
        int result = pthread_create(&page->thread, &attributes, free_name, page);
        if (result == EPERM) {
            pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
            result = pthread_create(&page->thread, &attributes, free_name, page);
        }
        must(result == 0, "pthread_create");
        usleep(1000);
    }
    pthread_exit(NULL);
}

/* ---- a signal handler on a stack of its own with room for 3 KiB ------------------------------ */

#define HANDLER_BYTES 3072
#define HANDLED 1500 /* more than a chunk holds */

static void handle(int number)
{
    char byte = 'x';
    (void)number;
    for (int i = 0; i < HANDLED; i++) {
        int timer =
            timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK); /* not wrapped: to be asked for */
        bool is_empty = chdir(".") == 0 && read(timer, &byte, 1) < 0 && close(timer) == 0;
        int fd = open("handled", O_WRONLY | O_CREAT, 0600);
        if (!is_empty || write(fd, &byte, 1) != 1 || close(fd) != 0) {
            _exit(3);
        }
    }
    execl("/bin/true", "true", NULL);
}

static void small_handler(void)
{
    size_t bytes = getauxval(AT_MINSIGSTKSZ) + HANDLER_BYTES;
    char *room = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(room != MAP_FAILED && mprotect(room + (1 << 15), 1 << 15, PROT_READ | PROT_WRITE) == 0,
         "memory");
    stack_t stack = {.ss_sp = room + (1 << 15), .ss_size = bytes};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    must(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0, "handler");
    must(raise(SIGUSR1) == 0, "raise");
}

/* ---- more arguments than a call takes ------------------------------------------------------- */

#define TEN(x) x, x, x, x, x, x, x, x, x, x
#define THOUSAND(x) TEN(TEN(TEN(x)))

static void many_arguments(void)
{
    execlp("sh", "sh", "-c", "echo $# $1 $5000", "sh", THOUSAND("a"), THOUSAND("b"), THOUSAND("c"),
           THOUSAND("d"), THOUSAND("e"), NULL);
}

/* ---- nothing to close ------------------------------------------------------------------------ */

static void close_nothing(void)
{
    DIR *volatile none = NULL;
    int result = closedir(none);
    (void)printf("%d %d\n", result, errno);
}

/* ---- duplicates of what is not open, to every number ----------------------------------------- */

static void bad_duplicates(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        must(dup2(-1, fd) < 0 && errno == EBADF, "dup2");
        must(dup3(0, fd, O_APPEND) < 0 && errno == EINVAL, "dup3");
    }
    for (int fd = 3; fd < 1024; fd++) {
        must(fcntl(fd, F_GETFD) < 0, "fcntl");
    }
}

/* ---- a descriptor given to another process, which reads -------------------------------------- */

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static void give(int channel, int fd, bool in_many)
{
    char byte = 'x';
    union control control;
    memset(&control, 0, sizeof(control));
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    control.header =
        (struct cmsghdr){CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    if (in_many) {
        struct mmsghdr many = {.msg_hdr = message};
        must(sendmmsg(channel, &many, 1, 0) == 1, "sendmmsg");
        return;
    }
    must(sendmsg(channel, &message, 0) == 1, "sendmsg");
}

static int take(int channel)
{
    char byte;
    int fd;
    union control control;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    must(recvmsg(channel, &message, 0) == 1, "recvmsg");
    memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
    return fd;
}

static void give_away(bool in_many)
{
    int ends[2];
    char data[100] = "";
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    pid_t child = fork();
    if (child == 0) {
        must(read(take(ends[1]), data, 100) == 100, "read");
        _exit(0);
    }
    int fd = open("given", O_RDWR | O_CREAT, 0600);
    must(ftruncate(fd, 1000) == 0 && read(fd, data, 10) == 10, "read");
    give(ends[0], fd, in_many);
    must(waitpid(child, NULL, 0) == child, "waitpid");
    must(read(fd, data, 7) == 7, "read");
}

static void given_away(void)
{
    give_away(false);
}

static void given_in_many(void)
{
    give_away(true);
}

/* ---- a file of ours alone becomes a child's standard output ---------------------------------- */

static int begin_log(void)
{
    int fd = open("log", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    must(write(fd, "ours\n", 5) == 5, "write");
    return fd;
}

static void end_log(int fd, pid_t child)
{
    must(waitpid(child, NULL, 0) == child, "waitpid");
    must(write(fd, "again\n", 6) == 6, "write");
}

static void spawned_log(void)
{
    int fd = begin_log();
    pid_t child;
    char *const arguments[] = {(char *)"echo", (char *)"theirs", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    must(posix_spawn(&child, "/bin/echo", &actions, NULL, arguments, environ) == 0, "posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    end_log(fd, child);
}

static pid_t vfork_echo(int fd)
{
    pid_t child = vfork();
    if (child == 0) {
        dup2(fd, 1);
        execl("/bin/echo", "echo", "theirs", NULL);
        _exit(1);
    }
    return child;
}

static void vforked_log(void)
{
    int fd = begin_log();
    end_log(fd, vfork_echo(fd));
}

static pid_t vfork_write(int fd)
{
    pid_t child = vfork();
    if (child == 0) {
        must(write(fd, "theirs\n", 7) == 7, "write");
        _exit(0);
    }
    return child;
}

static void borrowed_log(void)
{
    int fd = begin_log();
    end_log(fd, vfork_write(fd));
}

/* ---- a child of vfork goes to another directory, its parent stays ---------------------------- */

static void make_file(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || close(fd) != 0) {
        _exit(3);
    }
}

static void vforked_directory(void)
{
    make_file("before");
    must(mkdir("elsewhere", 0700) == 0, "mkdir");
    pid_t child = vfork();
    if (child == 0) {
        if (chdir("elsewhere") == 0) {
            make_file("within");
        }
        _exit(0);
    }
    must(waitpid(child, NULL, 0) == child, "waitpid");
    make_file("after");
}

/* Steps through relative directories, with nothing between that asks where one is. */
static void relative_steps(void)
{
    must(mkdir("d", 0700) == 0 && mkdir("d/e", 0700) == 0, "mkdir");
    must(chdir("d") == 0 && chdir("e") == 0 && chdir("..") == 0, "chdir");
    must(syscall(SYS_chdir, "e") == 0 && syscall(SYS_chdir, "../..") == 0, "chdir by number");
    must(chdir("nowhere") < 0, "nowhere");
    pid_t child = vfork();
    if (child == 0) {
        _exit(chdir("d") == 0 && chdir("e") == 0 ? 0 : 1);
    }
    must(waitpid(child, NULL, 0) == child, "waitpid");
    make_file("after");
}

/* ---- names of hundreds of characters --------------------------------------------------------- */

static void long_names(void)
{
    char name[101];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (int i = 0; i < 5; i++) {
        must(mkdir(name, 0700) == 0 && chdir(name) == 0, name);
    }
    borrowed_log();
}

/* ---- files without any permission --------------------------------------------------------------
 */

static void no_permissions(void)
{
    umask(0777);
    pid_t child = fork();
    if (child == 0) {
        must(close(open("/dev/null", O_RDONLY)) == 0, "open");
        _exit(0);
    }
    must(waitpid(child, NULL, 0) == child, "waitpid");
}

/* ---- libc starts a shell, after the program has cleaned its environment ---------------------- */

static void clean_environment(void)
{
    char line[80];
    unsetenv("LD_PRELOAD");
    setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    must(system("exec head -c 3 /dev/zero >made") == 0, "system");
    FILE *stream = popen("exec tail -c 2 made", "r");
    must(stream != NULL && fread(line, 1, sizeof(line), stream) == 2, "popen");
    must(pclose(stream) == 0, "pclose");
    (void)printf("%s %d\n", getenv("LD_LIBRARY_PATH"), getenv("LD_PRELOAD") != NULL);
}

/* ---- many children by vfork, each with an environment of its own ----------------------------- */

static int mappings(void)
{
    static char text[1 << 16];
    int lines = 0;
    int fd = open("/proc/self/maps", O_RDONLY);
    ssize_t got;
    while ((got = read(fd, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            lines += text[i] == '\n';
        }
    }
    (void)close(fd);
    return lines;
}

static long pages(void)
{
    long size = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    must(stream != NULL && fscanf(stream, "%ld", &size) == 1, "statm");
    (void)fclose(stream);
    return size;
}

static void run_true(void)
{
    char *const arguments[] = {(char *)"true", NULL};
    char *const environment[] = {(char *)"A=1", NULL};
    pid_t child = vfork();
    if (child == 0) {
        execve("/bin/true", arguments, environment);
        _exit(1);
    }
    must(waitpid(child, NULL, 0) == child, "waitpid");
}

static void own_environments(void)
{
    int lines = 0;
    long size = 0;
    for (int i = 0; i < 60; i++) {
        if (i == 10) { /* what is made once is there */
            lines = mappings();
            size = pages();
        }
        run_true();
    }
    must(mappings() <= lines + 5, "mappings");
    must(pages() <= size + 20, "pages");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"small_stack", small_stack},
        {"freed_name", freed_name},
        {"small_handler", small_handler},
        {"many_arguments", many_arguments},
        {"close_nothing", close_nothing},
        {"bad_duplicates", bad_duplicates},
        {"given_away", given_away},
        {"given_in_many", given_in_many},
        {"spawned_log", spawned_log},
        {"vforked_log", vforked_log},
        {"borrowed_log", borrowed_log},
        {"vforked_directory", vforked_directory},
        {"relative_steps", relative_steps},
        {"long_names", long_names},
        {"no_permissions", no_permissions},
        {"clean_environment", clean_environment},
        {"own_environments", own_environments},
    };
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    }
    return 2;
}
