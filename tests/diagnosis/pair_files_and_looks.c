/* SPDX-License-Identifier: Apache-2.0 */
/* Two causes: many small files, looks at one file. Mended: both. */
#include "diagnosis.h"

#define FILES 100
#define LOOKS 140

static void make_files(int files)
{
    for (int i = 0; i < files; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "item.%d", i);
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644); /* CAUSE */
        if (fd < 0 || write(fd, buffer, 100) != 100) {             /* CAUSE */
            fail(name);
        }
        (void)close(fd); /* CAUSE */
    }
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    struct stat st;
    make_files(is_bad ? FILES : 1);
    for (int i = 0; i < (is_bad ? LOOKS : 1); i++) {
        if (stat("item.0", &st) != 0) { /* CAUSE */
            fail("stat");
        }
    }
    compute_ms(100);
    return 0;
}
