/* SPDX-License-Identifier: Apache-2.0 */
/* The results of each step are written at its end, more than the cache has room for; mended: a part
 * of them after each part of the step. */
#include "diagnosis.h"

#define STEPS 3
#define PARTS 24
#define PART (256 << 10)
#define STEP_MS 1008

static void write_part(int fd)
{
    if (write(fd, buffer, PART) != PART) { /* CAUSE */
        fail("write");
    }
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_to_write("output");
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < PARTS; k++) {
            compute_ms(STEP_MS / PARTS);
            if (!is_bad) {
                write_part(fd);
            }
        }
        for (int k = 0; is_bad && k < PARTS; k++) {
            write_part(fd);
        }
    }
    return close(fd);
}
