/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong: threads compute, and read a large file in order. */
#include "diagnosis.h"

#include <pthread.h>

static void *work(void *arg)
{
    int fd = *(int *)arg;
    for (int i = 0; i < 4; i++) {
        if (pread(fd, buffer, 1 << 20, (off_t)i << 20) < 0) {
            fail("pread");
        }
        compute_ms(100);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int fds[2] = {open_zeros("left", 4 << 20), open_zeros("right", 4 << 20)};
    (void)is_slow(argc, argv);
    for (int i = 0; i < 2; i++) {
        (void)pthread_create(&threads[i], NULL, work, &fds[i]);
    }
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return 0;
}
