/* SPDX-License-Identifier: Apache-2.0 */
/* A log is opened for each line; mended: once. */
#include "diagnosis.h"

#define LINES 150
#define LINE 64

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    for (int i = 0; is_bad && i < LINES; i++) {
        int fd = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644); /* CAUSE */
        if (fd < 0 || (i % 10 == 0 && write(fd, buffer, LINE) != LINE)) {
            fail("log");
        }
        (void)close(fd); /* CAUSE */
    }
    if (!is_bad) {
        int fd = open_to_write("log");
        if (write(fd, buffer, LINES * LINE) < 0) {
            fail("log");
        }
        (void)close(fd);
    }
    compute_ms(100);
    return 0;
}
