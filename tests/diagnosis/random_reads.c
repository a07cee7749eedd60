/* SPDX-License-Identifier: Apache-2.0 */
/* Records are read in a random order; mended: the file is read once, in order. */
#include "diagnosis.h"

#define RECORDS 300
#define RECORD 16384
#define BLOCKS 4096

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_zeros("table", (off_t)BLOCKS * RECORD);
    unsigned at = 12345;
    for (int i = 0; is_bad && i < RECORDS; i++) {
        at = at * 1103515245u + 12345u;
        if (pread(fd, buffer, RECORD, (off_t)(at / 65536 % BLOCKS) * RECORD) < 0) { /* CAUSE */
            fail("pread");
        }
    }
    for (int i = 0; !is_bad && i < 8; i++) {
        if (pread(fd, buffer, sizeof(buffer), (off_t)i * (off_t)sizeof(buffer)) < 0) {
            fail("pread");
        }
    }
    compute_ms(300);
    return close(fd);
}
