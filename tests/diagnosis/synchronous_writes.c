/* SPDX-License-Identifier: Apache-2.0 */
/* A file is opened with O_SYNC; mended: without, and flushed once. */
#include "diagnosis.h"

#define BLOCKS 200
#define BLOCK 65536

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open("journal", O_WRONLY | O_CREAT | O_CLOEXEC | (is_bad ? O_SYNC : 0), 0644);
    for (int i = 0; is_bad && i < BLOCKS; i++) {
        if (write(fd, buffer, BLOCK) != BLOCK) { /* CAUSE */
            fail("write");
        }
    }
    for (int i = 0; !is_bad && i < 2; i++) {
        if (write(fd, buffer, sizeof(buffer)) < 0) {
            fail("write");
        }
    }
    (void)fsync(fd);
    compute_ms(200);
    return close(fd);
}
