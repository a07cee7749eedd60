/* SPDX-License-Identifier: Apache-2.0 */
/* A library with the name of an I/O library: it writes what it is given, in pieces. */
#include <stddef.h>
#include <unistd.h>

int store_in_pieces(int fd, const char *bytes, size_t size, size_t piece);

int store_in_pieces(int fd, const char *bytes, size_t size, size_t piece)
{
    for (size_t at = 0; at < size; at += piece) {
        size_t left = size - at < piece ? size - at : piece;
        if (write(fd, bytes + at, left) != (ssize_t)left) {
            return -1;
        }
    }
    return 0;
}
