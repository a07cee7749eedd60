/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary file is made and removed in each step; mended: it is kept. */
#include "diagnosis.h"

#define STEPS 150

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    for (int i = 0; i < (is_bad ? STEPS : 1); i++) {
        if (mkdir("scratch", 0755) != 0) { /* CAUSE */
            fail("scratch");
        }
        if (rmdir("scratch") != 0) { /* CAUSE */
            fail("scratch");
        }
    }
    compute_ms(100);
    return 0;
}
