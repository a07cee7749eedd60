/* SPDX-License-Identifier: Apache-2.0 */
/* A program that says of itself, as those of Go do, that it needs no libc to call the kernel. */
#include <stdio.h>

__asm__(".pushsection .note.go.buildid, \"a\", @note\n"
        ".balign 4\n"
        ".long 4, 4, 4\n"
        ".asciz \"Go\\0\"\n"
        ".ascii \"test\"\n"
        ".popsection\n");

int main(void)
{
    puts("own calls");
    return 0;
}
