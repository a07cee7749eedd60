/* SPDX-License-Identifier: Apache-2.0 */
/* Built with AddressSanitizer, which wraps the same calls; "bad" overruns a buffer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = open("sanitized.dat", O_RDWR | O_CREAT, 0600);
    volatile size_t size = argc > 1 && argv[1][0] == 'b' ? 20 : 10;
    char *block = calloc(1, 10);
    int good = write(fd, "0123456789abcdefghij", 20) == 20 && pread(fd, block, size, 0) == 10;
    free(block);
    printf("good %d\n", good);
    return good ? 0 : 1;
}
