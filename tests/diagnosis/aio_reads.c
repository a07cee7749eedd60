/* SPDX-License-Identifier: Apache-2.0 */
/* A file that the program has written is read by small asynchronous requests, each of which is
 * waited for; mended: by one. */
#include <aio.h>

#include "diagnosis.h"

#define BYTES (2 << 20)
#define PART 8192

static void read_part(int fd, off_t offset, size_t bytes)
{
    struct aiocb request = {
        .aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = bytes, .aio_offset = offset};
    const struct aiocb *list[] = {&request};
    if (aio_read(&request) != 0) { /* CAUSE */
        fail("aio_read");
    }
    while (aio_error(&request) == EINPROGRESS) {
        (void)aio_suspend(list, 1, NULL);
    }
    if (aio_return(&request) != (ssize_t)bytes) {
        fail("aio_return");
    }
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_to_write("records");
    if (write(fd, buffer, BYTES) != BYTES) {
        fail("write");
    }
    size_t bytes = is_bad ? PART : BYTES;
    for (off_t i = 0; i < BYTES; i += (off_t)bytes) {
        read_part(fd, i, bytes);
    }
    compute_ms(100);
    return close(fd);
}
