/* SPDX-License-Identifier: Apache-2.0 */
/* Records at random places are read through a large buffer of stdio, which is filled anew for each;
 * mended: the table is read once, and records are taken from memory. */
#include "diagnosis.h"

#define TABLE (8 << 20)
#define RECORD 64
#define RECORDS 80

static char large[4 << 20];

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    (void)close(open_zeros("table", TABLE));
    FILE *file = fopen("table", "re");
    unsigned at = 12345;
    if (file == NULL) {
        fail("table");
    }
    (void)setvbuf(file, large, _IOFBF, sizeof(large));
    for (int i = 0; is_bad && i < RECORDS; i++) {
        at = at * 1103515245u + 12345u;
        long record = (long)(at / 65536 % 2 * (TABLE / 2) + (unsigned)i * RECORD);
        if (fseek(file, record, SEEK_SET) != 0 ||  /* CAUSE */
            fread(buffer, RECORD, 1, file) != 1) { /* CAUSE */
            fail("table");
        }
    }
    if (!is_bad && fread(buffer, TABLE, 1, file) != 1) {
        fail("table");
    }
    compute_ms(100);
    return fclose(file);
}
