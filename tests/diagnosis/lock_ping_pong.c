/* SPDX-License-Identifier: Apache-2.0 */
/* A lock on the file for each record; mended: one for all of them. */
#include "diagnosis.h"

#include <sys/file.h>

#define RECORDS 120
#define RECORD 65536

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_to_write("shared");
    for (int i = 0; i < RECORDS; i++) {
        if ((is_bad || i == 0) && flock(fd, LOCK_EX) != 0) { /* CAUSE */
            fail("flock");
        }
        if (write(fd, buffer, RECORD) != RECORD) {
            fail("write");
        }
        if ((is_bad || i == RECORDS - 1) && flock(fd, LOCK_UN) != 0) { /* CAUSE */
            fail("flock");
        }
    }
    compute_ms(100);
    return close(fd);
}
