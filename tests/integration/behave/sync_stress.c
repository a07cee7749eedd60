/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads that wait for each other in every way at once. It prints what must come out of it;
 * sync_stress_test.py checks that the events obey the laws of what they are about. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 8
#define ITEMS 300 /* that each producer makes */
#define ROUNDS 40
#define ROOM 4
#define SEATS 3

static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static unsigned queue[ROOM];
static unsigned queue_count;

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_mutex_t recursive;
static pthread_barrier_t barrier;
static sem_t seats;
static long written;
static long spun;
static long nested;
static int seated;
static int most_seated;
static uint64_t taken;
static int fd;

static void put(unsigned item)
{
    (void)pthread_mutex_lock(&queue_mutex);
    while (queue_count == ROOM) {
        (void)pthread_cond_wait(&not_full, &queue_mutex);
    }
    queue[queue_count++] = item;
    (void)pthread_cond_signal(&not_empty);
    (void)pthread_mutex_unlock(&queue_mutex);
}

static unsigned take(void)
{
    (void)pthread_mutex_lock(&queue_mutex);
    while (queue_count == 0) {
        (void)pthread_cond_wait(&not_empty, &queue_mutex);
    }
    unsigned item = queue[--queue_count];
    (void)pthread_cond_signal(&not_full);
    (void)pthread_mutex_unlock(&queue_mutex);
    return item;
}

static void exchange(unsigned number)
{
    for (unsigned i = 1; i <= ITEMS; i++) {
        if (number % 2 == 0) {
            put(i);
        } else {
            (void)__atomic_fetch_add(&taken, take(), __ATOMIC_RELAXED);
        }
    }
}

static void sit(void)
{
    (void)sem_wait(&seats);
    int now = __atomic_add_fetch(&seated, 1, __ATOMIC_SEQ_CST);
    int most = __atomic_load_n(&most_seated, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(&most_seated, &most, now, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    (void)!write(fd, "s", 1);
    (void)__atomic_sub_fetch(&seated, 1, __ATOMIC_SEQ_CST);
    (void)sem_post(&seats);
}

static void nest(unsigned seed)
{
    (void)pthread_mutex_lock(&recursive);
    (void)pthread_mutex_lock(&recursive);
    if (seed % 4 == 0) {
        (void)!write(fd, "n", 1);
    }
    nested++;
    (void)pthread_mutex_unlock(&recursive);
    (void)pthread_spin_lock(&spin);
    spun++;
    (void)pthread_spin_unlock(&spin);
    (void)pthread_mutex_unlock(&recursive);
}

static void turn(unsigned number, unsigned round)
{
    if ((number + round) % 3 == 0) {
        (void)pthread_rwlock_wrlock(&rwlock);
        written++;
        (void)!write(fd, "w", 1);
        (void)pthread_rwlock_unlock(&rwlock);
    } else {
        (void)pthread_rwlock_rdlock(&rwlock);
        (void)!write(fd, "r", 1);
        (void)pthread_rwlock_unlock(&rwlock);
    }
    for (unsigned i = 0; i < 10; i++) {
        nest(number + round + i);
    }
    sit();
    (void)pthread_barrier_wait(&barrier);
}

static void *run(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    exchange(number);
    for (unsigned round = 0; round < ROUNDS; round++) {
        turn(number, round);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&recursive, &attributes);
    (void)pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    (void)sem_init(&seats, 0, SEATS);
    fd = open("stress.dat", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (int again = 0; again < 2; again++) { /* the second barrier lies where the first one was */
        (void)pthread_barrier_init(&barrier, NULL, THREADS);
        for (uintptr_t i = 0; i < THREADS; i++) {
            if (pthread_create(&threads[i], NULL, run, (void *)i) != 0) {
                return 2;
            }
        }
        for (unsigned i = 0; i < THREADS; i++) {
            (void)pthread_join(threads[i], NULL);
        }
        (void)pthread_barrier_destroy(&barrier);
    }
    (void)printf("taken %lu, written %ld, spun %ld, nested %ld, seats kept: %s\n",
                 (unsigned long)taken, written, spun, nested, most_seated <= SEATS ? "yes" : "no");
    return 0;
}
