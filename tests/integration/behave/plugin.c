/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

/* Does I/O from a library that comes and goes. */
int plugin_work(const char *path);
int plugin_work(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    int done = (int)pwrite(fd, path, 4, 0);
    close(fd);
    return done;
}
