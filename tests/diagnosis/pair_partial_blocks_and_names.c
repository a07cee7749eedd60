/* SPDX-License-Identifier: Apache-2.0 */
/* Two causes: records that cut blocks of an old file, a temporary file for each. Mended: both. */
#include "diagnosis.h"

#define RECORDS 200
#define RECORD 5000
#define APART 40960
#define FILES 60

static void make_and_remove(int number)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "scratch.%d", number);
    if (mkdir(name, 0755) != 0 || rmdir(name) != 0) { /* CAUSE */
        fail(name);
    }
}

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
    for (int i = 0; is_bad && i < FILES; i++) {
        make_and_remove(i);
    }
    compute_ms(100);
    return close(fd);
}
