/* SPDX-License-Identifier: Apache-2.0 */
/* Six threads write at a time to storage that one write at a time suits best; mended: one does. */
#include "diagnosis.h"

#include <pthread.h>

#define THREADS 6
#define PARTS 12
#define BYTES (256 << 10)

static void write_parts(long number, int parts)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "output.%ld", number);
    int fd = open_to_write(name);
    for (int i = 0; i < parts; i++) {
        if (pwrite(fd, buffer, BYTES, (off_t)i * BYTES) != BYTES) { /* CAUSE */
            fail("pwrite");
        }
    }
    (void)close(fd);
}

static void *work(void *arg)
{
    write_parts((long)arg, PARTS);
    return NULL;
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    pthread_t threads[THREADS];
    write_parts(0, PARTS);
    for (long i = 0; is_bad && i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)) != 0) {
            fail("pthread_create");
        }
    }
    for (int i = 0; is_bad && i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    if (!is_bad) {
        write_parts(1, THREADS * PARTS);
    }
    compute_ms(100);
    return 0;
}
