/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mode text of fopen, as glibc reads it. Pure, signal safe.
 * Source: ISO C 7.21.5.3, POSIX fopen, fopen(3) "Glibc notes".
 */
#ifndef WIO_CAPTURE_STDIO_STDIO_MODE_H
#define WIO_CAPTURE_STDIO_STDIO_MODE_H

/* Permission bits that fopen creates a file with (before the umask). */
#define CAP_STDIO_CREATE_MODE 0666

/* The open(2) flags that fopen(path, mode) asks for, or -1 where glibc refuses the mode with EINVAL
 * before it opens anything. */
int cap_stdio_open_flags(const char *mode);

#endif
