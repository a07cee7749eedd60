/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong: a file is copied in large parts. */
#include "diagnosis.h"

int main(int argc, char **argv)
{
    (void)is_slow(argc, argv);
    int in = open_zeros("in", 64 << 20);
    int out = open_to_write("out");
    for (int i = 0; i < 8; i++) {
        if (read(in, buffer, sizeof(buffer)) < 0 || write(out, buffer, sizeof(buffer)) < 0) {
            fail("copy");
        }
        compute_ms(20);
    }
    (void)close(in);
    return close(out);
}
