/* SPDX-License-Identifier: Apache-2.0 */
/* A log is flushed after each line; mended: when the program ends. */
#include "diagnosis.h"

#define LINES 300

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    FILE *file = fopen("log", "we");
    if (file == NULL) {
        fail("log");
    }
    for (int i = 0; i < LINES; i++) {
        (void)fprintf(file, "line %d of the log\n", i);
        if (is_bad) {
            (void)fflush(file); /* CAUSE */
        }
    }
    compute_ms(100);
    return fclose(file);
}
