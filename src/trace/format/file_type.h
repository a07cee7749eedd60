/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of a file as traces tell it, out of what stat(2) tells. */
#ifndef WIO_TRACE_FORMAT_FILE_TYPE_H
#define WIO_TRACE_FORMAT_FILE_TYPE_H

#include <sys/stat.h>

#include <whyio/trace.h>

/* `mode`: st_mode, permission bits are ignored. WIO_FILE_UNKNOWN for what stat never gives. */
static inline enum wio_file_type wio_file_type_of_mode(uint32_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return WIO_FILE_REGULAR;
    case S_IFDIR:
        return WIO_FILE_DIRECTORY;
    case S_IFLNK:
        return WIO_FILE_SYMLINK;
    case S_IFIFO:
        return WIO_FILE_FIFO;
    case S_IFSOCK:
        return WIO_FILE_SOCKET;
    case S_IFCHR:
        return WIO_FILE_CHARDEV;
    case S_IFBLK:
        return WIO_FILE_BLOCKDEV;
    default:
        return WIO_FILE_UNKNOWN;
    }
}

#endif
