/* SPDX-License-Identifier: Apache-2.0 */
/* A program that writes a file before any library's constructor has run, libc's included, and
 * another one in main. */
#include <fcntl.h>
#include <unistd.h>

static int letters;

static void write_file(const char *name)
{
    int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
    letters += (int)write(fd, "abc", 3);
    (void)close(fd);
}

static void write_early(int argc, char **argv, char **envp)
{
    (void)argc, (void)argv, (void)envp;
    write_file("early.dat");
}
__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **, char **) = write_early;

int main(void)
{
    write_file("late.dat");
    return letters == 6 ? 0 : 1;
}
