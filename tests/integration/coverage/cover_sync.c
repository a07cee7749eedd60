/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, conditions, barriers, semaphores. What is recorded of a lock is between its lock and its
 * unlock; tests/integration/behave/sync_test.py has the waits for others. */
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "cover.h"
#include "cover_stdio.h" /* is_there */

static const struct timespec past = {.tv_sec = 1};
static const struct timespec future = {.tv_sec = 1L << 40};

/* R-SYNC-2: with something recorded in between, both ends are there. */
static void something(void)
{
    CALL(INT, "access", P("/"), F_OK);
    EXPECT("path=/ a0=0");
}

static void lock_free(const char *lock, void *object, long second, long third, int is_reader)
{
    CALL(INT, lock, P(object), second, third);
    EXPECT("a0=%ld a1=%d", P(object), is_reader);
    something();
}

static void unlock(const char *symbol, void *object, int is_reader)
{
    CALL(INT, symbol, P(object));
    EXPECT("a0=%ld a1=%d", P(object), is_reader);
}

static void quiet(const char *lock, const char *unlock_symbol, void *object)
{
    CALL(INT, lock, P(object));
    CALL(INT, unlock_symbol, P(object));
}

static void mutexes(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    quiet("pthread_mutex_lock", "pthread_mutex_unlock", &mutex);
    lock_free("pthread_mutex_lock", &mutex, 0, 0, 0);
    unlock("pthread_mutex_unlock", &mutex, 0);
    lock_free("pthread_mutex_trylock", &mutex, 0, 0, 0);
    CALL(INT, "pthread_mutex_trylock", P(&mutex)); /* fails: no event */
    unlock("pthread_mutex_unlock", &mutex, 0);
    lock_free("pthread_mutex_timedlock", &mutex, P(&past), 0, 0);
    unlock("pthread_mutex_unlock", &mutex, 0);
    lock_free("pthread_mutex_clocklock", &mutex, CLOCK_MONOTONIC, P(&past), 0);
    cover_last.error = (int)CALL(INT, "pthread_mutex_timedlock", P(&mutex), P(&past));
    cover_last.error_is_result = true;
    EXPECT("a0=%ld a1=0", P(&mutex));
    unlock("pthread_mutex_unlock", &mutex, 0);
}

static void old_names(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    static const char *const mutex_names[] = {"__pthread_mutex_lock", "__pthread_mutex_trylock"};
    static const char *const readers[] = {"__pthread_rwlock_rdlock", "__pthread_rwlock_tryrdlock"};
    static const char *const writers[] = {"__pthread_rwlock_wrlock", "__pthread_rwlock_trywrlock"};
    if (dlsym(RTLD_DEFAULT, "__pthread_mutex_lock") == NULL) { /* without capture */
        const char *const unlocks[] = {"__pthread_mutex_unlock", "__pthread_rwlock_unlock"};
        for (size_t i = 0; i < 2; i++) {
            RECORD(mutex_names[i], 0, 0, "absent=1");
            RECORD(readers[i], 0, 0, "absent=1");
            RECORD(writers[i], 0, 0, "absent=1");
            RECORD(unlocks[i], 0, 0, "absent=1");
        }
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        lock_free(mutex_names[i], &mutex, 0, 0, 0);
        unlock("__pthread_mutex_unlock", &mutex, 0);
        lock_free(readers[i], &lock, 0, 0, 1);
        unlock("__pthread_rwlock_unlock", &lock, 1);
        lock_free(writers[i], &lock, 0, 0, 0);
        unlock("__pthread_rwlock_unlock", &lock, 0);
    }
}

/* R-SYNC-3 */
static void special_mutexes(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    (void)pthread_mutex_init(&mutex, &attributes);
    lock_free("pthread_mutex_lock", &mutex, 0, 0, 0);
    cover_last.error = (int)CALL(INT, "pthread_mutex_lock", P(&mutex));
    cover_last.error_is_result = true;
    EXPECT("a0=%ld a1=0", P(&mutex));
    unlock("pthread_mutex_unlock", &mutex, 0);
    CALL(INT, "pthread_mutex_unlock", P(&mutex)); /* EPERM: no event */
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    CALL(INT, "pthread_mutex_init", P(&mutex), P(&attributes));
    EXPECT("a0=%ld", P(&mutex));
    lock_free("pthread_mutex_lock", &mutex, 0, 0, 0);
    quiet("pthread_mutex_lock", "pthread_mutex_unlock", &mutex);
    unlock("pthread_mutex_unlock", &mutex, 0);
}

static void rwlocks(void)
{
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    static const struct {
        const char *symbol;
        long clock;
        int is_reader;
    } forms[] = {{"pthread_rwlock_rdlock", 0, 1},      {"pthread_rwlock_tryrdlock", 0, 1},
                 {"pthread_rwlock_timedrdlock", 0, 1}, {"pthread_rwlock_clockrdlock", 1, 1},
                 {"pthread_rwlock_wrlock", 0, 0},      {"pthread_rwlock_trywrlock", 0, 0},
                 {"pthread_rwlock_timedwrlock", 0, 0}, {"pthread_rwlock_clockwrlock", 1, 0}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        bool has_clock = forms[i].clock != 0;
        lock_free(forms[i].symbol, &lock, has_clock ? CLOCK_MONOTONIC : P(&future),
                  has_clock ? P(&future) : 0, forms[i].is_reader);
        unlock("pthread_rwlock_unlock", &lock, forms[i].is_reader);
    }
    quiet("pthread_rwlock_wrlock", "pthread_rwlock_unlock", &lock);
}

static void spin_locks(void)
{
    static pthread_spinlock_t lock;
    (void)pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    quiet("pthread_spin_lock", "pthread_spin_unlock", (void *)(uintptr_t)&lock);
    lock_free("pthread_spin_lock", (void *)(uintptr_t)&lock, 0, 0, 0);
    unlock("pthread_spin_unlock", (void *)(uintptr_t)&lock, 0);
    lock_free("pthread_spin_trylock", (void *)(uintptr_t)&lock, 0, 0, 0);
    unlock("pthread_spin_unlock", (void *)(uintptr_t)&lock, 0);
}

static void c11_mutexes(void)
{
    static mtx_t mutex;
    (void)mtx_init(&mutex, mtx_timed);
    quiet("mtx_lock", "mtx_unlock", &mutex);
    lock_free("mtx_lock", &mutex, 0, 0, 0);
    CALL(INT, "mtx_timedlock", P(&mutex), P(&past));
    cover_last = (struct cover_last){"mtx_timedlock", ETIMEDOUT, ETIMEDOUT, true};
    EXPECT("a0=%ld a1=0", P(&mutex));
    unlock("mtx_unlock", &mutex, 0);
    lock_free("mtx_trylock", &mutex, 0, 0, 0);
    unlock("mtx_unlock", &mutex, 0);
    lock_free("mtx_timedlock", &mutex, P(&past), 0, 0);
    unlock("mtx_unlock", &mutex, 0);
}

/* R-SYNC-12: of locks that have events */
static void begins(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_spinlock_t spin;
    static mtx_t c11;
    pthread_barrierattr_t shared;
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CALL(INT, "pthread_mutex_init", P(&mutex), 0); /* no other thread knows it: no event */
    lock_free("pthread_mutex_lock", &mutex, 0, 0, 0);
    unlock("pthread_mutex_unlock", &mutex, 0);
    CALL(INT, "pthread_mutex_destroy", P(&mutex));
    EXPECT("a0=%ld", P(&mutex));
    CALL(INT, "pthread_mutex_init", P(&mutex), 0);
    EXPECT("a0=%ld", P(&mutex));
    lock_free("pthread_rwlock_rdlock", &lock, 0, 0, 1);
    unlock("pthread_rwlock_unlock", &lock, 1);
    CALL(INT, "pthread_rwlock_destroy", P(&lock));
    EXPECT("a0=%ld", P(&lock));
    CALL(INT, "pthread_rwlock_init", P(&lock), 0);
    EXPECT("a0=%ld", P(&lock));
    (void)pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    lock_free("pthread_spin_lock", (void *)(uintptr_t)&spin, 0, 0, 0);
    unlock("pthread_spin_unlock", (void *)(uintptr_t)&spin, 0);
    CALL(INT, "pthread_spin_init", P(&spin), PTHREAD_PROCESS_PRIVATE);
    EXPECT("a0=%ld", P(&spin));
    (void)mtx_init(&c11, mtx_plain);
    lock_free("mtx_lock", &c11, 0, 0, 0);
    unlock("mtx_unlock", &c11, 0);
    CALL(NOTHING, "mtx_destroy", P(&c11));
    EXPECT("a0=%ld", P(&c11));
    CALL(INT, "mtx_init", P(&c11), mtx_plain);
    EXPECT("a0=%ld", P(&c11));
    (void)pthread_barrierattr_init(&shared);
    (void)pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    CALL(INT, "pthread_barrier_init", P(memory), P(&shared), 2);
    EXPECT("a0=*");
}

/* ---- conditions --------------------------------------------------------------------------------
 */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile bool is_over;

/* Wakes the waiting thread, again and again, unseen: libc's own function. */
static void *wake(void *unused)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *found = dlsym(libc, "pthread_cond_broadcast");
    int (*broadcast)(pthread_cond_t *);
    const struct timespec pause = {.tv_nsec = 500000};
    memcpy(&broadcast, &found, sizeof(broadcast));
    while (!is_over) {
        (void)wio_rawcall3(SYS_nanosleep, P(&pause), 0, 0);
        (void)broadcast(&cond);
    }
    return unused;
}

/* R-SYNC-4 */
static void wait_for(const char *symbol, pthread_mutex_t *mutex, long third, long fourth, int error)
{
    long result = CALL(INT, symbol, P(&cond), P(mutex), third, fourth);
    cover_last.error = (int)result;
    if (error != 0 && result != 0) {
        cover_last = (struct cover_last){.symbol = symbol, .result = result, .error = error};
    }
    cover_last.error_is_result = true;
    EXPECT("a0=%ld a1=%ld", P(&cond), P(mutex));
}

static void conditions(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    CALL(INT, "pthread_create", P(&thread), 0, P(wake), 0);
    EXPECT("a0=%ld", (long)thread);
    lock_free("pthread_mutex_lock", &mutex, 0, 0, 0);
    wait_for("pthread_cond_wait", &mutex, 0, 0, 0);
    wait_for("pthread_cond_timedwait", &mutex, P(&past), 0, 0);
    wait_for("pthread_cond_clockwait", &mutex, CLOCK_MONOTONIC, P(&past), 0);
    wait_for("cnd_wait", &mutex, 0, 0, 0);
    wait_for("cnd_timedwait", &mutex, P(&past), 0, ETIMEDOUT);
    unlock("pthread_mutex_unlock", &mutex, 0);
    is_over = true;
    CALL(INT, "pthread_join", (long)thread, 0);
    EXPECT("a0=%ld", (long)thread);
}

/* Of a condition between processes the waiters are unknown: each signal is there. */
static void signals(void)
{
    static const char *const symbols[] = {"pthread_cond_signal", "pthread_cond_broadcast",
                                          "cnd_signal", "cnd_broadcast"};
    static pthread_cond_t lonely = PTHREAD_COND_INITIALIZER;
    static pthread_cond_t shared;
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    (void)pthread_cond_init(&shared, &attributes);
    for (size_t i = 0; i < 4; i++) {
        CALL(INT, symbols[i], P(&lonely)); /* wakes no thread: no event */
        CALL(INT, symbols[i], P(&shared));
        EXPECT("a0=%ld a1=%zu", P(&shared), i % 2);
    }
}

/* ---- barriers and semaphores -------------------------------------------------------------------
 */

/* R-SYNC-5 */
static void barriers(void)
{
    static pthread_barrier_t barrier;
    (void)pthread_barrier_init(&barrier, NULL, 1);
    for (int round = 0; round < 3; round++) {
        CALL(INT, "pthread_barrier_wait", P(&barrier));
        EXPECT("a0=%ld a1=%d a2=1 a3=3", P(&barrier), round);
    }
}

/* R-SYNC-6 */
static void semaphores(void)
{
    static sem_t semaphore;
    CALL(INT, "sem_init", P(&semaphore), 0, 7U);
    EXPECT("a0=%ld a1=7", P(&semaphore));
    CALL(INT, "sem_init", P(&semaphore), 0, 0U);
    EXPECT("a0=%ld a1=0", P(&semaphore));
    CALL(INT, "sem_trywait", P(&semaphore)); /* fails: no event */
    for (int i = 0; i < 4; i++) {
        CALL(INT, "sem_post", P(&semaphore));
        EXPECT("a0=%ld", P(&semaphore));
    }
    CALL(INT, "sem_wait", P(&semaphore));
    EXPECT("a0=%ld", P(&semaphore));
    CALL(INT, "sem_trywait", P(&semaphore));
    EXPECT("a0=%ld", P(&semaphore));
    CALL(INT, "sem_timedwait", P(&semaphore), P(&future));
    EXPECT("a0=%ld", P(&semaphore));
    CALL(INT, "sem_clockwait", P(&semaphore), CLOCK_MONOTONIC, P(&future));
    EXPECT("a0=%ld", P(&semaphore));
    CALL(INT, "sem_timedwait", P(&semaphore), P(&past));
    EXPECT("a0=%ld", P(&semaphore));
}

static void named_semaphores(void)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "/cover-%d", (int)getpid());
    (void)sem_unlink(name); /* of a run that was killed, of a process with the same number */
    CALL(POINTER, "sem_open", P(name), O_CREAT | O_EXCL, 0600, 3U);
    EXPECT("a0=* a1=3 a2=1");
    CALL(POINTER, "sem_open", P(name), 0);
    EXPECT("a0=* a1=3 a2=1");
    (void)sem_unlink(name);
}

/* R-SYNC-6, of System V. Ids are hashes: any. */
static void queue_semaphores(void)
{
    struct sembuf give[] = {{.sem_num = 0, .sem_op = 3}, {.sem_num = 1, .sem_op = 1}};
    struct sembuf take[] = {{.sem_num = 0, .sem_op = -2}, {.sem_num = 1, .sem_op = -1}};
    struct sembuf zero = {.sem_num = 1, .sem_op = 0};
    struct sembuf try = {.sem_num = 1, .sem_op = -1, .sem_flg = IPC_NOWAIT};
    int id = semget(IPC_PRIVATE, 2, 0600);
    CALL(INT, "semctl", id, 0, SETVAL, 5L);
    EXPECT("a1=5");
    unsigned short values[2] = {5, 0};
    CALL(INT, "semctl", id, 0, SETALL, P(values));
    EXPECT("a1=5");
    EXPECT("a1=0");
    CALL(INT, "semctl", id, 0, GETVAL); /* only looks: no event */
    CALL(INT, "semop", id, P(give), 2);
    cover_last.symbol = "semop_post";
    EXPECT("a1=2");
    EXPECT("a1=0");
    CALL(INT, "semop", id, P(take), 2);
    EXPECT("a1=1");
    EXPECT("a1=0");
    CALL(INT, "semtimedop", id, P(&zero), 1, 0);
    cover_last.symbol = "semop_zero";
    EXPECT0();
    CALL(INT, "semtimedop", id, P(&try), 1, 0); /* fails: no event */
    CALL(INT, "semtimedop", id, P(take), 1, 0);
    EXPECT("a1=1");
    (void)semctl(id, 0, IPC_RMID);
}

/* R-SYNC-10 */
static void system_messages(void)
{
    struct {
        long type;
        char text[8];
    } message = {.type = 7};
    int id = msgget(IPC_PRIVATE, 0600);
    CALL(INT, "msgsnd", id, P(&message), 8, 0);
    EXPECT("a1=0");
    CALL(LONG, "msgrcv", id, P(&message), 8, 0, 0);
    EXPECT0();
    CALL(LONG, "msgrcv", id, P(&message), 8, 0, IPC_NOWAIT); /* fails: no event */
    (void)msgctl(id, IPC_RMID, NULL);
}

static void posix_messages(void)
{
    char name[32];
    char text[8] = "";
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 8};
    (void)snprintf(name, sizeof(name), "/whyio-cover-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, &attributes);
    (void)mq_unlink(name);
    if (queue < 0) { /* not in this kernel */
        static const char *const symbols[] = {"mq_send", "mq_timedsend", "mq_receive",
                                              "mq_timedreceive"};
        for (size_t i = 0; i < 4; i++) {
            RECORD(symbols[i], 0, 0, "absent=1");
        }
        return;
    }
    CALL(INT, "mq_send", queue, P(text), 8, 3);
    EXPECT("a1=0");
    CALL(INT, "mq_timedsend", queue, P(text), 8, 4, P(&future));
    EXPECT("a1=0");
    CALL(INT, "mq_timedsend", queue, P(text), 8, 4, P(&past)); /* full: no event */
    CALL(LONG, "mq_receive", queue, P(text), 8, 0);
    EXPECT0();
    CALL(LONG, "mq_timedreceive", queue, P(text), 8, 0, P(&future));
    EXPECT0();
    (void)mq_close(queue);
}

/* R-SYNC-11 */
static void do_nothing(void)
{
}

static volatile bool is_initialising;

static void initialise(void)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    is_initialising = true;
    (void)wio_rawcall3(SYS_nanosleep, P(&pause), 0, 0);
}

static void *initialise_once(void *control)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *found = dlsym(libc, "pthread_once");
    int (*once)(pthread_once_t *, void (*)(void));
    memcpy(&once, &found, sizeof(once));
    (void)once(control, initialise);
    return control;
}

static void initialised(const char *symbol, void *control)
{
    static pthread_once_t mine;
    pthread_t thread;
    mine = PTHREAD_ONCE_INIT;
    is_initialising = false;
    CALL(INT, "pthread_create", P(&thread), 0, P(initialise_once), P(control));
    EXPECT("a0=%ld", (long)thread);
    while (!is_initialising) {
        (void)wio_rawcall3(SYS_sched_yield, 0, 0, 0);
    }
    CALL(INT, symbol, P(control), P(do_nothing));
    cover_last.result = 0; /* call_once has none */
    EXPECT("a0=%ld", P(control));
    CALL(INT, symbol, P(control), P(do_nothing)); /* done: no event */
    CALL(INT, "pthread_join", (long)thread, 0);
    EXPECT("a0=%ld", (long)thread);
    CALL(INT, symbol, P(&mine), P(do_nothing));
    cover_last = (struct cover_last){"once_done", INT_MAX, 0, false};
    EXPECT("a0=%ld", P(&mine));
}

static void once(void)
{
    static pthread_once_t one = PTHREAD_ONCE_INIT;
    static once_flag two = ONCE_FLAG_INIT;
    initialised("pthread_once", &one);
    initialised("call_once", &two);
}

COVER_MAIN(mutexes, old_names, special_mutexes, rwlocks, spin_locks, c11_mutexes, begins,
           conditions, signals, barriers, semaphores, named_semaphores, queue_semaphores,
           system_messages, posix_messages, once)
