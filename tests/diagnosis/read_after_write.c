/* SPDX-License-Identifier: Apache-2.0 */
/* Each block is read back after it has been written; mended: it is kept. */
#include "diagnosis.h"

#define BLOCKS 100
#define BLOCK 65536
#define CHUNK 25

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_to_write("blocks");
    for (int i = 0; i < BLOCKS; i += is_bad ? CHUNK : BLOCKS) {
        if (pwrite(fd, buffer, (is_bad ? CHUNK : BLOCKS) * BLOCK, (off_t)i * BLOCK) < 0) {
            fail("pwrite");
        }
        for (int k = i; is_bad && k < i + CHUNK; k++) {
            if (pread(fd, buffer, BLOCK, (off_t)k * BLOCK) != BLOCK) { /* CAUSE */
                fail("pread");
            }
        }
    }
    compute_ms(100);
    return close(fd);
}
