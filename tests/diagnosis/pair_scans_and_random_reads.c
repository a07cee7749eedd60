/* SPDX-License-Identifier: Apache-2.0 */
/* Two causes: directories read again and again, an input read here and there. Mended: both. */
#include "diagnosis.h"

#include <dirent.h>

#define SCANS 100
#define READS 100
#define REQUEST 65536
#define BLOCKS 128

static void scan(void)
{
    DIR *dir = opendir("."); /* CAUSE */
    if (dir == NULL) {
        fail("opendir");
    }
    while (readdir(dir) != NULL) { /* CAUSE */
    }
    (void)closedir(dir); /* CAUSE */
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_zeros("input", (off_t)BLOCKS * REQUEST);
    for (int i = 0; i < (is_bad ? SCANS : 1); i++) {
        scan();
    }
    for (int i = 0; is_bad && i < READS; i++) {
        off_t at = (off_t)(i * 37 % BLOCKS) * REQUEST;
        if (pread(fd, buffer, REQUEST, at) != REQUEST) { /* CAUSE */
            fail("pread");
        }
    }
    if (!is_bad && read(fd, buffer, sizeof(buffer)) < 0) {
        fail("read");
    }
    compute_ms(100);
    return close(fd);
}
