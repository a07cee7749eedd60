/* SPDX-License-Identifier: Apache-2.0 */
/* Each step is computed, and then written while nothing is computed; mended: a second thread writes
 * beside the computing of the next step. */
#include "diagnosis.h"

#include <pthread.h>
#include <semaphore.h>

#define STEPS 24
#define BYTES (1 << 20)

static sem_t full;
static sem_t empty;
static int fd;

static void write_step(void)
{
    if (write(fd, buffer, BYTES) != BYTES) { /* CAUSE */
        fail("write");
    }
}

static void *write_steps(void *arg)
{
    for (int i = 0; i < STEPS; i++) {
        (void)sem_wait(&full);
        write_step();
        (void)sem_post(&empty);
    }
    return arg;
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    pthread_t writer;
    fd = open_to_write("steps");
    (void)sem_init(&full, 0, 0);
    (void)sem_init(&empty, 0, 2);
    if (!is_bad && pthread_create(&writer, NULL, write_steps, NULL) != 0) {
        fail("pthread_create");
    }
    for (int i = 0; i < STEPS; i++) {
        compute_ms(40);
        if (is_bad) {
            write_step();
        } else {
            (void)sem_wait(&empty);
            (void)sem_post(&full);
        }
    }
    if (!is_bad) {
        (void)pthread_join(writer, NULL);
    }
    return close(fd);
}
