/* SPDX-License-Identifier: Apache-2.0 */
/* traced WHAT [ARGUMENT..]: a static program that does what a tracer could disturb. It says on its
 * standard output what it finds, so that a run by itself and a recorded one can be compared. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(is_right)                                                                            \
    do {                                                                                           \
        if (!(is_right)) {                                                                         \
            printf("line %d: %s (%s)\n", __LINE__, #is_right, strerror(errno));                    \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)

static void pause_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {
    }
}

/* Until the process sleeps in a call. */
static void await_sleep(pid_t pid)
{
    char name[64];
    char text[256] = "";
    snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
    do {
        pause_ms(20);
        const int fd = open(name, O_RDONLY);
        const ssize_t got = read(fd, text, sizeof(text) - 1);
        text[got > 0 ? got : 0] = '\0';
        (void)close(fd);
    } while (strstr(text, ") S") == NULL);
}

/* One call of each kind that is recorded by a rule of its own. */
static int do_files(char **argument)
{
    char text[16] = "0123456789";
    struct stat st;
    struct iovec parts[2] = {{text, 4}, {text + 4, 6}};
    (void)argument;
    int fd = open("data", O_CREAT | O_RDWR | O_TRUNC, 0640);
    CHECK(fd >= 0 && write(fd, text, 10) == 10 && writev(fd, parts, 2) == 10);
    CHECK(pwrite(fd, "x", 1, 3) == 1 && lseek(fd, 2, SEEK_SET) == 2 && read(fd, text, 5) == 5);
    CHECK(pread(fd, text, 4, 8) == 4 && fsync(fd) == 0 && ftruncate(fd, 15) == 0);
    int copy = dup(fd);
    CHECK(copy >= 0 && read(copy, text, 3) == 3 && read(fd, text, 2) == 2);
    CHECK(fstat(fd, &st) == 0 && st.st_size == 15 && fcntl(fd, F_GETFL) >= 0);
    char *map = mmap(NULL, 15, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED && map[3] == 'x' && munmap(map, 15) == 0);
    CHECK(close(copy) == 0 && close(fd) == 0 && close(fd) == -1 && errno == EBADF);
    CHECK(mkdir("dir", 0755) == 0 && rename("data", "dir/moved") == 0 && chdir("dir") == 0);
    CHECK(access("moved", R_OK) == 0 && symlink("moved", "link") == 0);
    CHECK(readlink("link", text, sizeof(text)) == 5 && unlink("link") == 0);
    CHECK(open("none", O_RDONLY) == -1 && errno == ENOENT);
    puts("files done");
    return 5;
}

static void *write_lines(void *name)
{
    int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    for (int i = 0; i < 50 && fd >= 0; i++) {
        CHECK(write(fd, "line\n", 5) == 5);
    }
    (void)close(fd);
    return name;
}

static int do_threads(char **argument)
{
    static char names[8][8];
    pthread_t threads[8];
    (void)argument;
    for (int i = 0; i < 8; i++) {
        snprintf(names[i], sizeof(names[i]), "t%d", i);
        CHECK(pthread_create(&threads[i], NULL, write_lines, names[i]) == 0);
    }
    for (int i = 0; i < 8; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    puts("threads done");
    return 0;
}

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

/* A read that a signal interrupts: fails without SA_RESTART, goes on with it. */
static int do_signals(char **argument)
{
    int ends[2];
    char byte = 0;
    struct sigaction action = {.sa_handler = on_signal};
    (void)argument;
    CHECK(pipe(ends) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        await_sleep(parent);
        (void)kill(parent, SIGUSR1);
        await_sleep(parent);
        (void)kill(parent, SIGUSR2);
        await_sleep(parent);
        _exit(write(ends[1], "a", 1) == 1 ? 0 : 1);
    }
    ssize_t got = read(ends[0], &byte, 1);
    printf("interrupted: %zd %d, signals %d\n", got, got < 0 ? errno == EINTR : 0, (int)signals);
    got = read(ends[0], &byte, 1);
    printf("restarted: %zd %c, signals %d\n", got, byte, (int)signals);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    printf("child: %d\n", status);
    return 0;
}

static int do_killed(char **argument)
{
    puts("about to die");
    fflush(stdout);
    (void)raise(atoi(argument[0]));
    return 1;
}

/* Job control: a child that stops, is seen to have stopped, and goes on. */
static int do_stopped(char **argument)
{
    int status = 0;
    int ends[2];
    char byte;
    (void)argument;
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[1]);
        (void)raise(SIGSTOP);
        _exit(read(ends[0], &byte, 1) == 0 ? 4 : 5); /* when the other end is closed */
    }
    CHECK(waitpid(child, &status, WUNTRACED) == child);
    printf("stopped: %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
    fflush(stdout);
    pause_ms(100);
    CHECK(waitpid(child, &status, WNOHANG) == 0); /* it stays stopped */
    CHECK(kill(child, SIGCONT) == 0 && waitpid(child, &status, WCONTINUED) == child);
    printf("continued: %d\n", WIFCONTINUED(status));
    CHECK(close(ends[1]) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    printf("ended: %d\n", WEXITSTATUS(status));
    return 0;
}

static void *become(void *arguments)
{
    char **list = arguments;
    (void)execv(list[0], list);
    printf("cannot execute %s: %s\n", list[0], strerror(errno));
    exit(98);
}

/* A thread that is not the first executes a program, while others wait. */
static int do_thread_exec(char **argument)
{
    pthread_t thread;
    pthread_t idle;
    static char name[] = "before";
    CHECK(pthread_create(&idle, NULL, write_lines, name) == 0 && pthread_join(idle, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, become, argument) == 0);
    (void)pthread_join(thread, NULL);
    return 97;
}

static int do_exec(char **argument)
{
    fflush(stdout);
    become(argument);
    return 97;
}

static char **of_handler;

static void become_in_handler(int number)
{
    (void)number;
    become(of_handler);
}

/* The handler of a signal that interrupts a read executes a program. */
static int do_handler_exec(char **argument)
{
    int ends[2];
    char byte;
    const struct sigaction action = {.sa_handler = become_in_handler,
                                     .sa_flags = SA_RESTART | SA_NODEFER};
    of_handler = argument;
    CHECK(pipe2(ends, O_CLOEXEC) == 0 && sigaction(SIGUSR2, &action, NULL) == 0);
    const pid_t parent = getpid();
    if (fork() == 0) {
        await_sleep(parent);
        _exit(kill(parent, SIGUSR2));
    }
    (void)read(ends[0], &byte, 1);
    return 97;
}

/* A process that is not dumpable: its memory can be read with further rights only. */
static int do_hidden_exec(char **argument)
{
    CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
    return do_exec(argument);
}

/* The status of a program that a child of vfork executes. */
static int do_vfork(char **argument)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = vfork();
    if (child == 0) {
        (void)execv(argument[0], argument);
        _exit(98);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    printf("vfork: %d\n", WEXITSTATUS(status));
    return 0;
}

/* Appends a line at a time to "lines", until there is a file "stop": then "ended" is made. */
static void write_until_told(void)
{
    int fd = open("lines", O_CREAT | O_WRONLY | O_APPEND, 0644);
    while (access("stop", F_OK) != 0) {
        CHECK(write(fd, "line\n", 5) == 5);
        pause_ms(5);
    }
    CHECK(close(fd) == 0 && close(open("ended", O_CREAT | O_WRONLY, 0644)) == 0);
}

static int do_until_told(char **argument)
{
    (void)argument;
    write_until_told();
    return 6;
}

static int do_daemon(char **argument)
{
    (void)argument;
    if (fork() == 0) {
        (void)setsid();
        write_until_told();
        _exit(0);
    }
    while (access("lines", F_OK) != 0) {
        pause_ms(5);
    }
    puts("daemon left");
    return 3;
}

/* Who the program is: what a set-user-id program changes. */
static int do_identity(char **argument)
{
    (void)argument;
    printf("effective user %d\n", (int)geteuid());
    return 0;
}

static int do_calls(char **argument)
{
    char byte = 0;
    int fd = open("/dev/zero", O_RDONLY);
    for (long i = atol(argument[0]); i > 0; i--) {
        CHECK(pread(fd, &byte, 1, 0) == 1);
    }
    return 0;
}

static const struct {
    const char *name;
    int (*run)(char **argument);
} actions[] = {
    {"files", do_files},
    {"threads", do_threads},
    {"signals", do_signals},
    {"killed", do_killed},
    {"stopped", do_stopped},
    {"thread-exec", do_thread_exec},
    {"exec", do_exec},
    {"vfork", do_vfork},
    {"until-told", do_until_told},
    {"daemon", do_daemon},
    {"identity", do_identity},
    {"calls", do_calls},
    {"handler-exec", do_handler_exec},
    {"hidden-exec", do_hidden_exec},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(argv[1], actions[i].name) == 0) {
            return actions[i].run(argv + 2);
        }
    }
    return 2;
}
