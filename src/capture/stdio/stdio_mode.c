/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/stdio/stdio_mode.h"

#include <fcntl.h>

/* glibc looks at this many letters behind the first and no further. */
#define MODE_LETTERS 6

static int first_letter(char letter)
{
    switch (letter) {
    case 'r':
        return O_RDONLY;
    case 'w':
        return O_WRONLY | O_CREAT | O_TRUNC;
    case 'a':
        return O_WRONLY | O_CREAT | O_APPEND;
    default:
        return -1;
    }
}

int cap_stdio_open_flags(const char *mode)
{
    int flags = first_letter(mode[0]);
    if (flags < 0) {
        return -1;
    }
    for (int i = 1; i <= MODE_LETTERS && mode[i] != '\0'; i++) {
        switch (mode[i]) {
        case '+':
            flags = (flags & ~O_ACCMODE) | O_RDWR;
            break;
        case 'x':
            flags |= O_EXCL;
            break;
        case 'e':
            flags |= O_CLOEXEC;
            break;
        default: /* b, m, c and unknown letters do not reach the kernel */
            break;
        }
    }
    return flags;
}
