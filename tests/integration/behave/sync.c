/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for each other: `sync MODE`. sync_test.py knows what must be recorded. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const struct timespec past = {.tv_sec = 1};

static void say(const char *what, int result)
{
    (void)printf("%s: %s\n", what, result == 0 ? "0" : strerrorname_np(result));
}

static pthread_t start(void *(*routine)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, routine, argument) != 0) {
        exit(2);
    }
    return thread;
}

static void nap_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

/* ---- a lock from before any constructor --------------------------------------------------------
 */

static pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER;

static void lock_early(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "errors") == 0) {
        (void)pthread_mutex_lock(&early);
    }
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int,
                                                                              char **) = lock_early;

/* ---- errors: kinds of locks say what they always say -------------------------------------------
 */

static void *die_with(void *lock)
{
    return (void *)(intptr_t)pthread_mutex_lock(lock);
}

static void make_mutex(pthread_mutex_t *mutex, int type, int robust, int protocol)
{
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, type);
    (void)pthread_mutexattr_setrobust(&attributes, robust);
    (void)pthread_mutexattr_setprotocol(&attributes, protocol);
    (void)pthread_mutex_init(mutex, &attributes);
}

static void mutex_errors(int protocol)
{
    pthread_mutex_t mutex;
    make_mutex(&mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, protocol);
    say("lock", pthread_mutex_lock(&mutex));
    say("lock again", pthread_mutex_lock(&mutex));
    say("try again", pthread_mutex_trylock(&mutex));
    say("unlock", pthread_mutex_unlock(&mutex));
    say("unlock again", pthread_mutex_unlock(&mutex));
    make_mutex(&mutex, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, protocol);
    for (int i = 0; i < 3; i++) {
        say("recursive", pthread_mutex_lock(&mutex));
    }
    for (int i = 0; i < 4; i++) {
        say("recursive unlock", pthread_mutex_unlock(&mutex));
    }
    make_mutex(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, protocol);
    (void)pthread_join(start(die_with, &mutex), NULL);
    say("busy", pthread_mutex_timedlock(&mutex, &past));
    say("consistent", pthread_mutex_consistent(&mutex));
    say("unlock", pthread_mutex_unlock(&mutex));
    (void)pthread_join(start(die_with, &mutex), NULL);
    say("dead", pthread_mutex_trylock(&mutex));
    say("unlock", pthread_mutex_unlock(&mutex));
    say("lost", pthread_mutex_lock(&mutex));
}

static void *hold_it(void *lock)
{
    say("other try", pthread_mutex_trylock(lock));
    say("other timed", pthread_mutex_timedlock(lock, &past));
    say("other clock", pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &past));
    return NULL;
}

static void errors(void)
{
    say("early", pthread_mutex_unlock(&early));
    mutex_errors(PTHREAD_PRIO_NONE);
    mutex_errors(PTHREAD_PRIO_INHERIT);
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    say("read", pthread_rwlock_rdlock(&lock));
    say("read", pthread_rwlock_tryrdlock(&lock));
    say("write", pthread_rwlock_trywrlock(&lock));
    say("write", pthread_rwlock_timedwrlock(&lock, &past));
    say("unlock", pthread_rwlock_unlock(&lock));
    say("unlock", pthread_rwlock_unlock(&lock));
    say("write", pthread_rwlock_wrlock(&lock));
    say("write", pthread_rwlock_wrlock(&lock));
    say("read", pthread_rwlock_rdlock(&lock));
    say("unlock", pthread_rwlock_unlock(&lock));
    (void)pthread_mutex_lock(&early);
    (void)pthread_join(start(hold_it, &early), NULL);
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    say("cond", pthread_cond_timedwait(&cond, &early, &past));
    say("unlock", pthread_mutex_unlock(&early));
    sem_t semaphore;
    (void)sem_init(&semaphore, 0, 0);
    say("semaphore", sem_timedwait(&semaphore, &past) < 0 ? errno : 0);
    say("semaphore", sem_trywait(&semaphore) < 0 ? errno : 0);
    (void)sem_init(&semaphore, 0, (unsigned)SEM_VALUE_MAX);
    say("overflow", sem_post(&semaphore) < 0 ? errno : 0);
}

/* ---- cancelled: clean-up handlers run, through our frames --------------------------------------
 */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ends[2];

static void clean(void *name)
{
    (void)printf("cleaned %s\n", (const char *)name);
}

static void clean_mutex(void *name)
{
    clean(name);
    say("its mutex", pthread_mutex_unlock(&mutex));
}

static void wait_cond(void)
{
    (void)pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean_mutex, (char *)"cond");
    for (;;) {
        (void)pthread_cond_wait(&cond, &mutex);
    }
    pthread_cleanup_pop(0);
}

static void wait_sem(void)
{
    (void)sem_wait(&semaphore);
}

static void wait_read(void)
{
    char byte;
    (void)!read(ends[0], &byte, 1);
}

static void wait_poll(void)
{
    struct pollfd one = {ends[0], POLLIN, 0};
    (void)poll(&one, 1, -1);
}

static void wait_epoll(void)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event;
    (void)epoll_wait(fd, &event, 1, -1);
}

static void wait_signal(void)
{
    sigset_t set;
    int signal;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR2);
    (void)sigwait(&set, &signal);
}

static void wait_long(void)
{
    (void)sleep(1000);
}

static const struct {
    const char *name;
    void (*wait)(void);
} waits[] = {{"cond", wait_cond}, {"semaphore", wait_sem}, {"read", wait_read},
             {"poll", wait_poll}, {"epoll", wait_epoll},   {"signal", wait_signal},
             {"sleep", wait_long}};

static void *be_cancelled(void *argument)
{
    size_t i = (size_t)(uintptr_t)argument;
    pthread_cleanup_push(clean, (void *)(uintptr_t)waits[i].name);
    waits[i].wait();
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancelled(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR2);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)sem_init(&semaphore, 0, 0);
    if (pipe(ends) != 0) {
        exit(2);
    }
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        void *value;
        pthread_t thread = start(be_cancelled, (void *)(uintptr_t)i);
        nap_ms(20);
        int result = pthread_cancel(thread);
        say("join", pthread_join(thread, &value));
        say("cancel", result); /* not before: the thread has something to say, too */
        (void)printf("%s\n", value == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    }
    say("free", pthread_mutex_trylock(&mutex));
}

/* ---- contended: the waiting thread is recorded, and the thread that it waits for
 * -----------------------------------
 */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t c11;
static volatile bool is_held;

#define LOCK_KIND(name, type, object, lock_it, unlock_it)                                          \
    static void name##_lock(void)                                                                  \
    {                                                                                              \
        (void)lock_it(&object);                                                                    \
    }                                                                                              \
    static void name##_unlock(void)                                                                \
    {                                                                                              \
        (void)unlock_it(&object);                                                                  \
    }

LOCK_KIND(mutex, pthread_mutex_t, mutex, pthread_mutex_lock, pthread_mutex_unlock)
LOCK_KIND(writer, pthread_rwlock_t, rwlock, pthread_rwlock_wrlock, pthread_rwlock_unlock)
LOCK_KIND(reader, pthread_rwlock_t, rwlock, pthread_rwlock_rdlock, pthread_rwlock_unlock)
LOCK_KIND(spin, pthread_spinlock_t, spin, pthread_spin_lock, pthread_spin_unlock)
LOCK_KIND(c11, mtx_t, c11, mtx_lock, mtx_unlock)

struct kind {
    void (*lock)(void);
    void (*unlock)(void);
    void (*other_lock)(void);
};

static const struct kind kinds[] = {
    {mutex_lock, mutex_unlock, mutex_lock},    {writer_lock, writer_unlock, writer_lock},
    {writer_lock, writer_unlock, reader_lock}, {reader_lock, reader_unlock, writer_lock},
    {spin_lock, spin_unlock, spin_lock},       {c11_lock, c11_unlock, c11_lock}};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void *wait_for_it(void *argument)
{
    const struct kind *kind = argument;
    while (!is_held) {
    }
    kind->other_lock();
    kind->unlock();
    return NULL;
}

static void prepare_locks(void)
{
    (void)pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    (void)mtx_init(&c11, mtx_plain);
}

static void contended(void)
{
    prepare_locks();
    for (size_t i = 0; i < KINDS; i++) {
        pthread_t thread = start(wait_for_it, (void *)(uintptr_t)&kinds[i]);
        kinds[i].lock();
        is_held = true;
        const struct timespec time = {.tv_nsec = 30000000};
        (void)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL); /* no event */
        kinds[i].unlock();
        (void)pthread_join(thread, NULL);
        is_held = false;
    }
}

/* No other thread comes, nothing is done: no event. */
static void *take_often(void *unused)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t no_waiter = PTHREAD_COND_INITIALIZER;
    for (int i = 0; i < 100000; i++) {
        (void)pthread_mutex_lock(&own);
        (void)pthread_cond_signal(&no_waiter);
        (void)pthread_mutex_unlock(&own);
    }
    return unused;
}

static void quiet(void)
{
    prepare_locks();
    pthread_t thread = start(take_often, NULL);
    for (int i = 0; i < 10000; i++) {
        for (size_t k = 0; k < KINDS; k++) {
            kinds[k].lock();
            kinds[k].unlock();
        }
        mutex_lock();
        writer_lock();
        c11_lock();
        mutex_unlock(); /* not in the order of a stack */
        writer_unlock();
        c11_unlock();
    }
    (void)pthread_join(thread, NULL);
}

/* ---- futex: a lock of its own ------------------------------------------------------------------
 */

static uint32_t word;

static long futex(int operation, uint32_t value)
{
    return syscall(SYS_futex, &word, operation, value, NULL, NULL, 0);
}

static void *wake_it(void *unused)
{
    nap_ms(20);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    while (futex(FUTEX_WAKE_PRIVATE, 1) == 0) {
        nap_ms(1);
    }
    return unused;
}

static void futexes(void)
{
    pthread_t thread = start(wake_it, NULL);
    long result = futex(FUTEX_WAIT_PRIVATE, 0);
    say("wait", result < 0 && errno != EAGAIN ? errno : 0);
    (void)pthread_join(thread, NULL);
    result = futex(FUTEX_WAIT_PRIVATE, 0);
    say("wait for another value", result < 0 ? errno : 0);
    result = syscall(SYS_futex, 8, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    say("wait nowhere", result < 0 ? errno : 0);
}

/* ---- handler: a semaphore is what a signal handler may post ------------------------------------
 */

static volatile sig_atomic_t posted;

static void post(int signal)
{
    (void)signal;
    if (posted < 200) {
        posted++;
        (void)sem_post(&semaphore);
    }
}

static void handler(void)
{
    const struct sigaction action = {.sa_handler = post, .sa_flags = SA_RESTART};
    const struct itimerval often = {{.tv_usec = 300}, {.tv_usec = 300}};
    int fd = open("handler.dat", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    (void)sem_init(&semaphore, 0, 0);
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &often, NULL);
    int taken = 0;
    while (taken < 200) {
        (void)pthread_mutex_lock(&mutex);
        (void)!write(fd, "x", 1);
        (void)pthread_mutex_unlock(&mutex);
        (void)pthread_mutex_lock(&mutex);
        (void)pthread_mutex_unlock(&mutex);
        taken += sem_trywait(&semaphore) == 0;
    }
    const struct itimerval never = {0};
    (void)setitimer(ITIMER_REAL, &never, NULL);
    (void)printf("posted %d, taken %d\n", (int)posted, taken);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"errors", errors}, {"cancelled", cancelled}, {"contended", contended},
                 {"quiet", quiet},   {"futexes", futexes},     {"handler", handler}};
    if (argc != 2) {
        return 2;
    }
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(modes[i].name, argv[1]) == 0) {
            modes[i].run();
            return 0;
        }
    }
    return 2;
}
