/* SPDX-License-Identifier: Apache-2.0 */
/* A program that no library can be loaded into; with an argument it stays until it is killed. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    (void)argv;
    puts("static");
    if (argc > 1) {
        (void)pause();
    }
    return 0;
}
