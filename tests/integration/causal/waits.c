/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs whose waits are known: `waits SCENE`. See scene.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"

static void write_late(int fd)
{
    nap();
    mark("written");
    put(fd, 10);
    mark("child goes on");
}

static void pipe_bytes(void)
{
    int ends[2];
    check(pipe(ends) == 0, "pipe");
    pid_t pid = child(write_late, ends[1]);
    mark("before");
    get(ends[0], 10);
    mark("read");
    wait_for(pid);
}

static void close_late(int fd)
{
    nap();
    mark("closing");
    close(fd);
    mark("child goes on");
}

static void pipe_end(void)
{
    int ends[2];
    char byte;
    check(pipe(ends) == 0, "pipe");
    pid_t pid = child(close_late, ends[1]);
    close(ends[1]);
    check(read(ends[0], &byte, 1) == 0, "read");
    mark("at end");
    wait_for(pid);
}

/* ---- FIFOs: each side waits for the other one to open it ---------------------------------------
 */

static void open_late(int flags)
{
    nap();
    mark("opening");
    int fd = open("fifo", flags | O_CLOEXEC);
    check(fd >= 0, "open");
    mark("child goes on");
    close(fd);
}

static void fifo_reader(void)
{
    check(mkfifo("fifo", 0600) == 0, "mkfifo");
    pid_t pid = child(open_late, O_WRONLY);
    mark("before");
    int fd = open("fifo", O_RDONLY | O_CLOEXEC);
    check(fd >= 0, "open");
    mark("opened");
    wait_for(pid);
    close(fd);
}

/* It is gone when the run ends, and was opened before by a process that had both sides. */
static void fifo_writer(void)
{
    check(mknod("fifo", S_IFIFO | 0600, 0) == 0, "mknod");
    int both = open("fifo", O_RDWR | O_CLOEXEC);
    check(both >= 0, "open");
    close(both);
    pid_t pid = child(open_late, O_RDONLY);
    mark("before");
    FILE *stream = fopen("fifo", "w");
    check(stream != NULL, "fopen");
    mark("opened");
    wait_for(pid);
    (void)fclose(stream);
    check(unlink("fifo") == 0, "unlink");
}

static void read_late(int fd)
{
    nap();
    mark("makes room");
    get(fd, 200000);
}

static void pipe_full(void)
{
    int ends[2];
    check(pipe(ends) == 0, "pipe");
    pid_t pid = child(read_late, ends[0]);
    put(ends[1], 60000);
    mark("fits");
    put(ends[1], 140000);
    mark("written");
    wait_for(pid);
}

static void socket_pair(void)
{
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    pid_t pid = child(write_late, ends[1]);
    mark("before");
    get(ends[0], 10);
    mark("read");
    wait_for(pid);
}

static void connect_late(int fd)
{
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    check(getsockname(fd, (struct sockaddr *)&address, &size) == 0, "getsockname");
    int peer = socket(AF_INET, SOCK_STREAM, 0);
    nap();
    mark("connecting");
    check(connect(peer, (struct sockaddr *)&address, size) == 0, "connect");
    nap();
    mark("sent");
    put(peer, 10);
    get(peer, 20);
    mark("answered");
}

static void tcp(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    check(listen(listener, 1) == 0, "listen");
    pid_t pid = child(connect_late, listener);
    int peer = accept(listener, NULL, NULL);
    check(peer >= 0, "accept");
    mark("accepted");
    get(peer, 10);
    mark("received");
    put(peer, 20);
    wait_for(pid);
}

static void add_late(int fd)
{
    uint64_t one = 1;
    nap();
    mark("written");
    check(write(fd, &one, sizeof(one)) == sizeof(one), "write");
    mark("child goes on");
}

static void event_fd(void)
{
    uint64_t count;
    int fd = eventfd(0, 0);
    pid_t pid = child(add_late, fd);
    mark("before");
    check(read(fd, &count, sizeof(count)) == sizeof(count), "read");
    mark("read");
    wait_for(pid);
}

static void make_late(int fd)
{
    (void)fd;
    await_secret(1);
    nap();
    mark("making");
    int made = open("flag.tmp", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    close(made);
    check(rename("flag.tmp", "flag") == 0, "rename");
    mark("child goes on");
}

static void look(void)
{
    struct stat st;
    pid_t pid = child(make_late, -1);
    while (stat("flag", &st) != 0) {
        tell_secret();
        (void)usleep(1000);
    }
    mark("found");
    wait_for(pid);
}

static void count_locked(int ready)
{
    for (unsigned i = 0; i < 3; i++) {
        int fd = open("counter", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        check(flock(fd, LOCK_EX) == 0, "flock");
        put(fd, 1);
        (void)usleep(5000);
        close(fd);
    }
    (void)ready;
}

static void file_lock(void)
{
    pid_t pid = child(count_locked, -1);
    count_locked(-1);
    wait_for(pid);
}

static void lock_range(int half)
{
    int fd = open("ranges", O_RDWR | O_CREAT, 0600);
    struct flock lock = {.l_type = F_WRLCK, .l_start = half * 100, .l_len = 100};
    for (unsigned i = 0; i < 3; i++) {
        lock.l_type = F_WRLCK;
        check(fcntl(fd, F_SETLKW, &lock) == 0, "lock");
        (void)usleep(2000);
        lock.l_type = F_UNLCK;
        check(fcntl(fd, F_SETLKW, &lock) == 0, "unlock");
    }
}

/* Two halves, then the same one: only those of one half wait for each other. */
static void ranges(void)
{
    pid_t pid = child(lock_range, 1);
    lock_range(0);
    wait_for(pid);
}

static void same_range(void)
{
    pid_t pid = child(lock_range, 0);
    lock_range(0);
    wait_for(pid);
}

static void mark_child(int fd)
{
    (void)fd;
    nap();
    mark("child");
}

static void processes(void)
{
    mark("before");
    pid_t pid = child(mark_child, -1);
    mark("meanwhile");
    wait_for(pid);
    mark("after");
}

static sigset_t usr1(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    return set;
}

static void send_late(int fd)
{
    (void)fd;
    nap();
    mark("sending");
    check(kill(getppid(), SIGUSR1) == 0, "kill");
    mark("child goes on");
}

static void signals(void)
{
    sigset_t set = usr1();
    int number;
    check(sigprocmask(SIG_BLOCK, &set, NULL) == 0, "sigprocmask");
    pid_t pid = child(send_late, -1);
    check(sigwait(&set, &number) == 0, "sigwait");
    mark("came");
    wait_for(pid);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static bool is_waiting;
static bool is_ready;

static void *run_thread(void *arg)
{
    (void)arg;
    nap();
    mark("thread");
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    mark("before");
    check(pthread_create(&thread, NULL, run_thread, NULL) == 0, "pthread_create");
    mark("meanwhile");
    check(pthread_join(thread, NULL) == 0, "pthread_join");
    mark("after");
}

/* Signals only once the other one waits: it has let go of the mutex. */
static void *signal_thread(void *arg)
{
    (void)arg;
    for (bool waits = false; !waits;) {
        (void)usleep(1000);
        (void)pthread_mutex_lock(&mutex);
        waits = is_waiting;
        (void)pthread_mutex_unlock(&mutex);
    }
    mark("ready");
    (void)pthread_mutex_lock(&mutex);
    is_ready = true;
    (void)pthread_cond_signal(&condition);
    (void)pthread_mutex_unlock(&mutex);
    mark("thread goes on");
    return NULL;
}

static void conditions(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, signal_thread, NULL) == 0, "pthread_create");
    (void)pthread_mutex_lock(&mutex);
    mark("before");
    is_waiting = true;
    while (!is_ready) {
        (void)pthread_cond_wait(&condition, &mutex);
    }
    (void)pthread_mutex_unlock(&mutex);
    mark("woken");
    check(pthread_join(thread, NULL) == 0, "pthread_join");
}

static void *barrier_thread(void *arg)
{
    (void)arg;
    nap();
    mark("thread comes");
    (void)pthread_barrier_wait(&barrier);
    mark("thread goes");
    return NULL;
}

static void barriers(void)
{
    pthread_t thread;
    check(pthread_barrier_init(&barrier, NULL, 2) == 0, "pthread_barrier_init");
    check(pthread_create(&thread, NULL, barrier_thread, NULL) == 0, "pthread_create");
    mark("main comes");
    (void)pthread_barrier_wait(&barrier);
    mark("main goes");
    check(pthread_join(thread, NULL) == 0, "pthread_join");
}

static void *post_thread(void *arg)
{
    (void)arg;
    nap();
    mark("posting");
    (void)sem_post(&semaphore);
    mark("thread goes on");
    return NULL;
}

static void semaphores(void)
{
    pthread_t thread;
    check(sem_init(&semaphore, 0, 0) == 0, "sem_init");
    check(pthread_create(&thread, NULL, post_thread, NULL) == 0, "pthread_create");
    check(sem_wait(&semaphore) == 0, "sem_wait");
    mark("taken");
    check(pthread_join(thread, NULL) == 0, "pthread_join");
}

static void *lock_thread(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 5; i++) {
        (void)pthread_mutex_lock(&mutex);
        mark("locked");
        (void)usleep(2000);
        (void)pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void mutexes(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, lock_thread, NULL) == 0, "pthread_create");
    (void)lock_thread(NULL);
    check(pthread_join(thread, NULL) == 0, "pthread_join");
}

static void send_second(int signal)
{
    nap();
    mark("sending");
    check(kill(getppid(), signal) == 0, "kill");
    mark("child goes on");
}

/* Of two signals: the mask is another one when it is read. */
static void signal_descriptor(void)
{
    struct signalfd_siginfo info[2];
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    (void)sigaddset(&set, SIGUSR2);
    check(sigprocmask(SIG_BLOCK, &set, NULL) == 0, "sigprocmask");
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    (void)sigdelset(&set, SIGUSR1);
    check(fd >= 0 && signalfd(fd, &set, 0) == fd, "signalfd");
    check(raise(SIGUSR1) == 0, "raise");
    pid_t pid = child(send_second, SIGUSR2);
    mark("before");
    check(read(fd, info, sizeof(info)) == sizeof(info[0]), "read");
    mark("came");
    wait_for(pid);
    close(fd);
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        {"pipe", pipe_bytes},
        {"end", pipe_end},
        {"full", pipe_full},
        {"socketpair", socket_pair},
        {"fifo-reader", fifo_reader},
        {"fifo-writer", fifo_writer},
        {"tcp", tcp},
        {"eventfd", event_fd},
        {"look", look},
        {"flock", file_lock},
        {"ranges", ranges},
        {"range", same_range},
        {"process", processes},
        {"signal", signals},
        {"signalfd", signal_descriptor},
        {"thread", threads},
        {"condition", conditions},
        {"barrier", barriers},
        {"semaphore", semaphores},
        {"mutex", mutexes},
    };
    return run_scene(scenes, sizeof(scenes) / sizeof(scenes[0]), argc, argv);
}
