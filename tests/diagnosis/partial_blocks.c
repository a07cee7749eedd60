/* SPDX-License-Identifier: Apache-2.0 */
/* Records that cut blocks are changed in an old file; mended: whole blocks, at once. */
#include "diagnosis.h"

#define RECORDS 200
#define RECORD 5000
#define APART 40960

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_to_write("old");
    if (pwrite(fd, buffer, sizeof(buffer), 0) < 0) {
        fail("old");
    }
    for (int i = 0; is_bad && i < RECORDS; i++) {
        if (pwrite(fd, buffer, RECORD, (off_t)i * APART + 100) != RECORD) { /* CAUSE */
            fail("pwrite");
        }
    }
    if (!is_bad && pwrite(fd, buffer, sizeof(buffer), 0) < 0) {
        fail("pwrite");
    }
    compute_ms(200);
    return close(fd);
}
