/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong: a log of a few lines is flushed now and then. */
#include "diagnosis.h"

int main(int argc, char **argv)
{
    (void)is_slow(argc, argv);
    FILE *file = fopen("log", "we");
    if (file == NULL) {
        fail("log");
    }
    for (int i = 0; i < 5; i++) {
        compute_ms(60);
        (void)fprintf(file, "step %d is done\n", i);
        (void)fflush(file);
    }
    return fclose(file);
}
