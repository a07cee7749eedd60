/* SPDX-License-Identifier: Apache-2.0 */
/* All records are written where they belong, one by one; mended: in order, in large parts. */
#include "diagnosis.h"

#define RECORDS 256
#define RECORD 16384
#define PART (1 << 20)

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_zeros("table", (off_t)RECORDS * RECORD);
    int at = 7;
    for (int i = 0; is_bad && i < RECORDS; i++) {
        at = (at * 141 + 3) % RECORDS;                            /* each once */
        if (pwrite(fd, buffer, RECORD, (off_t)at * RECORD) < 0) { /* CAUSE */
            fail("pwrite");
        }
    }
    for (off_t i = 0; !is_bad && i < (off_t)RECORDS * RECORD; i += PART) {
        if (pwrite(fd, buffer, PART, i) < 0) {
            fail("pwrite");
        }
    }
    compute_ms(200);
    return close(fd);
}
