/* SPDX-License-Identifier: Apache-2.0 */
/* Threads write their files inside of one lock; mended: without it. */
#include "diagnosis.h"

#include <pthread.h>

#define THREADS 4
#define WRITES 40
#define BYTES (128 << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_bad;

static void *work(void *arg)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "thread.%d", (int)(long)arg);
    int fd = open_to_write(name);
    for (int i = 0; i < WRITES; i++) {
        if (is_bad) {
            (void)pthread_mutex_lock(&lock); /* CAUSE */
        }
        if (write(fd, buffer, BYTES) != BYTES) {
            fail("write");
        }
        if (is_bad) {
            (void)pthread_mutex_unlock(&lock);
        }
        compute_ms(1);
    }
    (void)close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    is_bad = is_slow(argc, argv);
    for (long i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) {
            fail("pthread_create");
        }
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return 0;
}
