/* SPDX-License-Identifier: Apache-2.0 */
/* Two causes: small reads of an input, flushes of each record. Mended: both. */
#include "diagnosis.h"

#define RECORDS 180
#define READS 450
#define RECORD 1024

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int in = open_zeros("input", READS * RECORD);
    int out = open_to_write("output");
    for (int i = 0; is_bad && i < READS; i++) {
        if (read(in, buffer, RECORD) != RECORD) { /* CAUSE */
            fail("read");
        }
    }
    for (int i = 0; is_bad && i < RECORDS; i++) {
        if (i % 10 == 0 && write(out, buffer, 10 * RECORD) < 0) {
            fail("write");
        }
        (void)fsync(out); /* CAUSE */
    }
    if (!is_bad &&
        (read(in, buffer, READS * RECORD) < 0 || write(out, buffer, RECORDS * RECORD) < 0)) {
        fail("copy");
    }
    compute_ms(100);
    (void)close(in);
    return close(out);
}
