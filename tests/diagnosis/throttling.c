/* SPDX-License-Identifier: Apache-2.0 */
/* More is written at once than the cache has room for; mended: as much as it has. */
#include "diagnosis.h"

#define REQUEST (1 << 18)

int main(int argc, char **argv)
{
    int requests = is_slow(argc, argv) ? 400 : 30;
    int fd = open_to_write("output");
    for (int i = 0; i < requests; i++) {
        if (write(fd, buffer, REQUEST) != REQUEST) { /* CAUSE */
            fail("write");
        }
    }
    compute_ms(200);
    return close(fd);
}
