/* SPDX-License-Identifier: Apache-2.0 */
/* A mapped file is read page by page; mended: it is read in large requests. */
#include "diagnosis.h"

#include <sys/mman.h>

#define PAGES 400
#define PAGE 4096
#define BYTES ((size_t)PAGES * PAGE)

static long add_pages(const char *pages)
{
    long sum = 0;
    for (size_t i = 0; i < BYTES; i += PAGE) {
        sum += pages[i];
    }
    return sum;
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    int fd = open_zeros("input", BYTES);
    char *pages = buffer;
    if (is_bad) {
        pages = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
        if (pages == MAP_FAILED || madvise(pages, BYTES, MADV_RANDOM) != 0) {
            fail("mmap");
        }
    } else if (read(fd, buffer, BYTES) != (ssize_t)BYTES) {
        fail("read");
    }
    long sum = add_pages(pages);
    (void)lseek(fd, 0, SEEK_SET);
    compute_ms(100);
    (void)close(fd);
    return sum != 0;
}
