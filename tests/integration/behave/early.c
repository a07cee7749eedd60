/* SPDX-License-Identifier: Apache-2.0 */
/* A library that reads a file through stdio in its constructor, before capture's own has run. */
#include <stdio.h>

static int letters;

__attribute__((constructor)) static void read_early(void)
{
    FILE *stream = fopen("/proc/self/comm", "r");
    while (stream != NULL && fgetc(stream) != EOF) {
        letters++;
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
}

int early_letters(void);
int early_letters(void)
{
    return letters;
}
