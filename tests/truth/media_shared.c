/* SPDX-License-Identifier: Apache-2.0 */
/* Channels in memory that all actors share: a semaphore, a condition, or nothing but a flag. */
#include "medium.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { SLOTS = 256 }; /* notes under way in one channel, at most */

struct channel {
    sem_t semaphore;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    atomic_uint put;
    unsigned taken;
    struct note notes[SLOTS];
};

static struct channel *channels[MAX_ACTORS][MAX_ACTORS];
static pthread_barrier_t *barrier;
static pthread_mutex_t *mutex;

void *shared_memory(unsigned long bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED, "mmap");
    return memory;
}

static void make_mutex(pthread_mutex_t *made)
{
    pthread_mutexattr_t attributes;
    check(pthread_mutexattr_init(&attributes) == 0, "pthread_mutexattr_init");
    check(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0, "shared mutex");
    check(pthread_mutex_init(made, &attributes) == 0, "pthread_mutex_init");
    (void)pthread_mutexattr_destroy(&attributes);
}

static void connect_shared(int from, int to)
{
    pthread_condattr_t attributes;
    struct channel *channel = shared_memory(sizeof(*channel));
    make_mutex(&channel->mutex);
    check(pthread_condattr_init(&attributes) == 0, "pthread_condattr_init");
    check(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0,
          "shared condition");
    check(pthread_cond_init(&channel->condition, &attributes) == 0, "pthread_cond_init");
    (void)pthread_condattr_destroy(&attributes);
    check(sem_init(&channel->semaphore, 1, 0) == 0, "sem_init");
    channels[from][to] = channel;
}

static void store(struct channel *channel, struct note note)
{
    unsigned put = atomic_load(&channel->put);
    channel->notes[put % SLOTS] = note;
    atomic_store(&channel->put, put + 1);
}

static struct note load(struct channel *channel)
{
    return channel->notes[channel->taken++ % SLOTS];
}

static void post(int from, int to, struct note note)
{
    store(channels[from][to], note);
    check(sem_post(&channels[from][to]->semaphore) == 0, "sem_post");
}

static struct note wait_for_post(int from, int to)
{
    check(sem_wait(&channels[from][to]->semaphore) == 0, "sem_wait");
    return load(channels[from][to]);
}

static void signal_condition(int from, int to, struct note note)
{
    struct channel *channel = channels[from][to];
    check(pthread_mutex_lock(&channel->mutex) == 0, "pthread_mutex_lock");
    store(channel, note);
    check(pthread_cond_signal(&channel->condition) == 0, "pthread_cond_signal");
    check(pthread_mutex_unlock(&channel->mutex) == 0, "pthread_mutex_unlock");
}

static struct note wait_for_condition(int from, int to)
{
    struct channel *channel = channels[from][to];
    check(pthread_mutex_lock(&channel->mutex) == 0, "pthread_mutex_lock");
    bool is_early = atomic_load(&channel->put) != channel->taken;
    while (atomic_load(&channel->put) == channel->taken) {
        check(pthread_cond_wait(&channel->condition, &channel->mutex) == 0, "pthread_cond_wait");
    }
    struct note note = load(channel);
    note.is_early = is_early;
    check(pthread_mutex_unlock(&channel->mutex) == 0, "pthread_mutex_unlock");
    return note;
}

static void set_flag(int from, int to, struct note note)
{
    store(channels[from][to], note);
}

static struct note spin(int from, int to)
{
    while (atomic_load(&channels[from][to]->put) == channels[from][to]->taken) {
        (void)sched_yield();
    }
    return load(channels[from][to]);
}

static void make_barrier(int all)
{
    pthread_barrierattr_t attributes;
    barrier = shared_memory(sizeof(*barrier));
    check(pthread_barrierattr_init(&attributes) == 0, "pthread_barrierattr_init");
    check(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0,
          "shared barrier");
    check(pthread_barrier_init(barrier, &attributes, (unsigned)all) == 0, "pthread_barrier_init");
    (void)pthread_barrierattr_destroy(&attributes);
}

static void meet(void)
{
    int result = pthread_barrier_wait(barrier);
    check(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD, "pthread_barrier_wait");
}

static void prepare_mutex(int all)
{
    (void)all;
    mutex = shared_memory(sizeof(*mutex));
    make_mutex(mutex);
}

static void lock(void)
{
    check(pthread_mutex_lock(mutex) == 0, "pthread_mutex_lock");
}

static void unlock(void)
{
    check(pthread_mutex_unlock(mutex) == 0, "pthread_mutex_unlock");
}

const struct medium media_semaphore = {
    .name = "semaphore", .connect = connect_shared, .send = post, .recv = wait_for_post};
const struct medium media_condition = {.name = "condition",
                                       .connect = connect_shared,
                                       .send = signal_condition,
                                       .recv = wait_for_condition,
                                       .has_naps = true};
const struct medium media_shared = {
    .name = "shared", .connect = connect_shared, .send = set_flag, .recv = spin, .has_naps = true};
const struct medium media_barrier = {.name = "barrier", .prepare = make_barrier, .meet = meet};
const struct medium media_mutex = {
    .name = "mutex", .prepare = prepare_mutex, .lock = lock, .unlock = unlock};
