/* SPDX-License-Identifier: Apache-2.0 */
/* A data set of files of 2 KiB each; mended: one file. */
#include "diagnosis.h"

#define FILES 150
#define BYTES 2048

static void write_file(int i)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "sample.%d", i);
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644); /* CAUSE */
    if (fd < 0 || write(fd, buffer, BYTES) != BYTES) {         /* CAUSE */
        fail(name);
    }
    (void)close(fd); /* CAUSE */
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    for (int i = 0; is_bad && i < FILES; i++) {
        write_file(i);
    }
    if (!is_bad) {
        int fd = open_to_write("samples");
        if (write(fd, buffer, FILES * BYTES) < 0) {
            fail("samples");
        }
        (void)close(fd);
    }
    compute_ms(100);
    return 0;
}
