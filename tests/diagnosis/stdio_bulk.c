/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk data by fwrite with the buffer that stdio has; mended: a buffer of 1 MiB. */
#include "diagnosis.h"

#define ITEMS 20000
#define ITEM 100

static char large[1 << 20];

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    FILE *file = fopen("items", "we");
    if (file == NULL) {
        fail("items");
    }
    if (!is_bad) {
        (void)setvbuf(file, large, _IOFBF, sizeof(large));
    }
    for (int i = 0; i < ITEMS; i++) {
        if (fwrite(buffer, ITEM, 1, file) != 1) { /* CAUSE */
            fail("fwrite");
        }
    }
    compute_ms(200);
    return fclose(file);
}
