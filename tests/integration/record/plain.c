/* SPDX-License-Identifier: Apache-2.0 */
/* Writes three letters to a file with as few kinds of calls as a program can: plain FILE. */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = argc > 1 ? open(argv[1], O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666) : -1;
    return fd >= 0 && write(fd, "abc", 3) == 3 && close(fd) == 0 ? 0 : 1;
}
