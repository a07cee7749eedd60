/* SPDX-License-Identifier: Apache-2.0 */
/* The same table is read again in every step; mended: once. */
#include "diagnosis.h"

#define STEPS 200
#define TABLE 131072

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_zeros("table", TABLE);
    for (int i = 0; i < STEPS; i++) {
        if ((is_bad || i == 0) && pread(fd, buffer, TABLE, 0) != TABLE) { /* CAUSE */
            fail("pread");
        }
        compute_ms(1);
    }
    compute_ms(100);
    return close(fd);
}
