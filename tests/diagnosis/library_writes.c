/* SPDX-License-Identifier: Apache-2.0 */
/* A library is told to write small pieces; mended: one. The line is the program's, not its own. */
#include "diagnosis.h"

#define BYTES (400 * 1024)

int store_in_pieces(int fd, const char *bytes, size_t size, size_t piece);

int main(int argc, char **argv)
{
    size_t piece = is_slow(argc, argv) ? 1024 : BYTES;
    int fd = open_to_write("output");
    if (store_in_pieces(fd, buffer, BYTES, piece) != 0) { /* CAUSE */
        fail("store");
    }
    compute_ms(100);
    return close(fd);
}
