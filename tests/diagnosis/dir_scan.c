/* SPDX-License-Identifier: Apache-2.0 */
/* A directory is read in each step; mended: once. */
#include "diagnosis.h"

#include <dirent.h>

#define SCANS 120
#define FILES 4

static int count(void)
{
    int found = 0;
    DIR *dir = opendir("."); /* CAUSE */
    if (dir == NULL) {
        fail("opendir");
    }
    while (readdir(dir) != NULL) { /* CAUSE */
        found++;
    }
    (void)closedir(dir); /* CAUSE */
    return found;
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int found = 0;
    compute_ms(200);
    for (int i = 0; i < FILES; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "part.%d", i);
        (void)close(open_to_write(name));
    }
    for (int i = 0; i < (is_bad ? SCANS : 1); i++) {
        found += count();
    }
    return found > 0 ? 0 : 1;
}
