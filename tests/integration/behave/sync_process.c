/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that wait for each other: `sync_process MODE`. sync_process_test.py knows what must be
 * recorded. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 3

static void must(bool good, const char *what)
{
    if (!good) {
        (void)printf("%s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static pid_t begin_child(void (*run)(void *), void *argument)
{
    (void)fflush(stdout);
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
        run(argument);
        (void)fflush(stdout);
        _exit(0);
    }
    return pid;
}

static void end_child(pid_t pid)
{
    int status = 0;
    must(waitpid(pid, &status, 0) == pid && status == 0, "child");
}

/* ---- shared: each at another address in the child ----------------------------------------------
 */

struct shared {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_cond_t cond;
    pthread_barrier_t barrier;
    pthread_spinlock_t spin;
    sem_t semaphore;
    int count;
};

static int memory = -1;

static struct shared *map_shared(size_t before)
{
    /* The same pages elsewhere: the file from its beginning, at an address that moves. */
    if (before > 0) {
        must(mmap(NULL, before, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED,
             "gap");
    }
    void *map = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    must(map != MAP_FAILED, "mmap");
    return map;
}

static void make_shared(struct shared *s)
{
    pthread_mutexattr_t mutex;
    pthread_rwlockattr_t rwlock;
    pthread_condattr_t cond;
    pthread_barrierattr_t barrier;
    (void)pthread_mutexattr_init(&mutex);
    (void)pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    (void)pthread_mutex_init(&s->mutex, &mutex);
    (void)pthread_rwlockattr_init(&rwlock);
    (void)pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
    (void)pthread_rwlock_init(&s->rwlock, &rwlock);
    (void)pthread_condattr_init(&cond);
    (void)pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
    (void)pthread_cond_init(&s->cond, &cond);
    (void)pthread_barrierattr_init(&barrier);
    (void)pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    (void)pthread_barrier_init(&s->barrier, &barrier, 2);
    (void)pthread_spin_init(&s->spin, PTHREAD_PROCESS_SHARED);
    (void)sem_init(&s->semaphore, 1, 0);
}

/* Each takes all locks around something that is recorded, in turn. */
static void take_part(struct shared *s, int number)
{
    for (int round = 0; round < ROUNDS; round++) {
        (void)pthread_barrier_wait(&s->barrier);
        (void)pthread_mutex_lock(&s->mutex);
        while (s->count % 2 != number) {
            (void)pthread_cond_wait(&s->cond, &s->mutex);
        }
        s->count++;
        (void)pthread_cond_signal(&s->cond);
        (void)pthread_mutex_unlock(&s->mutex);
        (void)pthread_rwlock_wrlock(&s->rwlock);
        (void)access("/", F_OK);
        (void)pthread_rwlock_unlock(&s->rwlock);
        (void)pthread_spin_lock(&s->spin);
        (void)access("/", F_OK);
        (void)pthread_spin_unlock(&s->spin);
        if (number == 0) {
            (void)sem_post(&s->semaphore);
        } else {
            (void)sem_wait(&s->semaphore);
        }
    }
}

static void other_part(void *unused)
{
    (void)unused;
    take_part(map_shared(5 << 20), 1);
}

/* Each thread that records has a piece of the ring mapped: shared memory that is not meant. */
static void *record_and_stay(void *unused)
{
    (void)access("/", F_OK);
    for (;;) {
        (void)pause();
    }
    return unused;
}

static void begin_crowd(void)
{
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, record_and_stay, NULL) == 0, "pthread_create");
        must(pthread_detach(thread) == 0, "pthread_detach");
    }
}

static void shared(void)
{
    begin_crowd();
    memory = memfd_create("shared", MFD_CLOEXEC);
    must(memory >= 0 && ftruncate(memory, sizeof(struct shared)) == 0, "memfd_create");
    struct shared *s = map_shared(0);
    make_shared(s);
    pid_t pid = begin_child(other_part, NULL);
    take_part(s, 0);
    end_child(pid);
    (void)printf("%d turns\n", s->count);
}

/* ---- named: a semaphore that a program of its own opens ----------------------------------------
 */

static void named(void)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "/sync-test-%d", (int)getpid());
    (void)sem_unlink(name); /* of a run that was killed, of a process with the same number */
    sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    must(semaphore != SEM_FAILED, "sem_open");
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl("/proc/self/exe", "sync_process", "post", name, NULL);
        _exit(1);
    }
    must(sem_wait(semaphore) == 0, "sem_wait");
    end_child(pid);
    (void)sem_unlink(name);
}

static void post(const char *name)
{
    sem_t *semaphore = sem_open(name, 0);
    must(semaphore != SEM_FAILED && sem_post(semaphore) == 0, "sem_post");
}

/* ---- connections: two unrelated ends, of each kind ---------------------------------------------
 */

struct connection {
    struct sockaddr_storage address;
    socklen_t length;
    int listener;
};

static void send_text(int fd, const char *text)
{
    must(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "write");
}

static void connect_and_talk(void *argument)
{
    const struct connection *c = argument;
    char text[16] = "";
    (void)close(c->listener);
    for (int i = 0; i < 2; i++) {
        int fd = socket(c->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        must(connect(fd, (const struct sockaddr *)&c->address, c->length) == 0, "connect");
        send_text(fd, i == 0 ? "one" : "two");
        must(read(fd, text, sizeof(text)) == 2, "read");
        (void)close(fd);
    }
}

static void serve(struct connection *c)
{
    char text[16] = "";
    c->listener = socket(c->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(bind(c->listener, (struct sockaddr *)&c->address, c->length) == 0, "bind");
    must(listen(c->listener, 5) == 0, "listen");
    c->length = sizeof(c->address);
    must(getsockname(c->listener, (struct sockaddr *)&c->address, &c->length) == 0, "getsockname");
    pid_t pid = begin_child(connect_and_talk, c);
    for (int i = 0; i < 2; i++) {
        int fd = accept(c->listener, NULL, NULL);
        must(fd >= 0 && read(fd, text, sizeof(text)) == 3, "accept");
        send_text(fd, "ok");
        (void)close(fd);
    }
    end_child(pid);
    (void)close(c->listener);
}

static void serve_inet(void)
{
    struct connection c = {.length = sizeof(struct sockaddr_in)};
    struct sockaddr_in *in = (struct sockaddr_in *)&c.address;
    *in = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    serve(&c);
}

static void serve_inet6(void)
{
    struct connection c = {.length = sizeof(struct sockaddr_in6)};
    struct sockaddr_in6 *in = (struct sockaddr_in6 *)&c.address;
    *in = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_there = fd >= 0 && bind(fd, (struct sockaddr *)in, sizeof(*in)) == 0;
    (void)close(fd);
    if (is_there) {
        serve(&c);
    }
}

static void serve_unix(bool is_abstract)
{
    struct connection c = {0};
    struct sockaddr_un *un = (struct sockaddr_un *)&c.address;
    un->sun_family = AF_UNIX;
    int bytes = snprintf(un->sun_path, sizeof(un->sun_path), "%sa socket %d",
                         is_abstract ? "@" : "", (int)getpid());
    c.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)bytes + !is_abstract);
    if (is_abstract) {
        un->sun_path[0] = '\0';
    }
    serve(&c);
}

static void connections(void)
{
    serve_inet();
    serve_inet6();
    serve_unix(false);
    serve_unix(true);
}

/* ---- datagrams, pairs, eventfds, descriptors that travel ---------------------------------------
 */

static void add_to(void *argument)
{
    const uint64_t one = 1;
    must(write(*(int *)argument, &one, sizeof(one)) == sizeof(one), "eventfd");
}

static void eventfds(void)
{
    int fds[2] = {eventfd(0, EFD_CLOEXEC), eventfd(2, EFD_CLOEXEC | EFD_SEMAPHORE)};
    uint64_t value = 0;
    pid_t pid = begin_child(add_to, &fds[0]);
    must(read(fds[0], &value, sizeof(value)) == sizeof(value), "read");
    must(read(fds[1], &value, sizeof(value)) == sizeof(value), "read");
    end_child(pid);
}

static void give(int channel, int fd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char byte = 'f';
    struct iovec one = {&byte, 1};
    struct msghdr message = {.msg_iov = &one,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    if (part == NULL) {
        return;
    }
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &fd, sizeof(fd));
    must(sendmsg(channel, &message, 0) == 1, "sendmsg");
}

static void take_and_write(void *argument)
{
    char control[CMSG_SPACE(sizeof(int))];
    char byte;
    struct iovec one = {&byte, 1};
    struct msghdr message = {.msg_iov = &one,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    must(recvmsg(*(int *)argument, &message, MSG_CMSG_CLOEXEC) == 1, "recvmsg");
    const struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    int fd = -1;
    if (part != NULL) {
        memcpy(&fd, CMSG_DATA(part), sizeof(fd));
    }
    send_text(fd, "from afar");
}

static void travelling(void)
{
    int ends[2];
    int pipe_ends[2];
    char text[16];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    pid_t pid = begin_child(take_and_write, &ends[1]);
    must(pipe(pipe_ends) == 0, "pipe");
    give(ends[0], pipe_ends[1]);
    must(read(pipe_ends[0], text, sizeof(text)) == 9, "read");
    end_child(pid);
}

static void datagrams(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    char text[16];
    int receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    must(bind(receiver, (struct sockaddr *)&address, length) == 0, "bind");
    must(getsockname(receiver, (struct sockaddr *)&address, &length) == 0, "getsockname");
    must(sendto(sender, "free", 4, 0, (struct sockaddr *)&address, length) == 4, "sendto");
    must(connect(sender, (struct sockaddr *)&address, length) == 0, "connect");
    send_text(sender, "tied");
    for (int i = 0; i < 2; i++) {
        must(recvfrom(receiver, text, sizeof(text), 0, NULL, NULL) == 4, "recvfrom");
    }
    must(shutdown(sender, SHUT_WR) == 0, "shutdown");
}

static void channels(void)
{
    eventfds();
    travelling();
    datagrams();
}

/* ---- signals -----------------------------------------------------------------------------------
 */

static void send_back(void *argument)
{
    (void)argument;
    must(kill(getppid(), SIGUSR1) == 0, "kill");
}

static void signals(void)
{
    sigset_t set;
    int signal = 0;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    pid_t pid = begin_child(send_back, NULL);
    must(sigwait(&set, &signal) == 0 && signal == SIGUSR1, "sigwait");
    end_child(pid);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"shared", shared},
                 {"named", named},
                 {"connections", connections},
                 {"channels", channels},
                 {"signals", signals}};
    if (argc == 3) {
        post(argv[2]);
        return 0;
    }
    for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(modes[i].name, argv[1]) == 0) {
            modes[i].run();
            return 0;
        }
    }
    return 2;
}
