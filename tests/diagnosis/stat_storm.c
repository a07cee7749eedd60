/* SPDX-License-Identifier: Apache-2.0 */
/* A file is looked at before each step; mended: once. */
#include "diagnosis.h"

#define LOOKS 300

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    struct stat st;
    int fd = open_to_write("settings");
    for (int i = 0; i < (is_bad ? LOOKS : 1); i++) {
        if (stat("settings", &st) != 0) { /* CAUSE */
            fail("stat");
        }
    }
    compute_ms(100);
    return close(fd);
}
