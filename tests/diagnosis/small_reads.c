/* SPDX-License-Identifier: Apache-2.0 */
/* A file is read in parts of 1 KiB; mended: at once. */
#include "diagnosis.h"

#define PARTS 400
#define PART 1024

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_zeros("input", PARTS * PART);
    for (int i = 0; is_bad && i < PARTS; i++) {
        if (read(fd, buffer, PART) != PART) { /* CAUSE */
            fail("read");
        }
    }
    if (!is_bad && pread(fd, buffer, PARTS * PART, 0) < 0) {
        fail("read");
    }
    compute_ms(100);
    return close(fd);
}
