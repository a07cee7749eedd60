/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/kind.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/format/file_type.h"

struct path_rule {
    const char *prefix;
    bool is_whole; /* the path ends there or goes on with '/' */
    uint8_t kind;
};

/* First match counts. */
static const struct path_rule rules[] = {
    {"/proc", true, RP_KIND_OF_SKIP(PROC)},
    {"/sys", true, RP_KIND_OF_SKIP(SYS)},
    {"/dev/shm", true, RP_KIND_FILE},
    {"/dev/null", true, RP_KIND_NULL},
    {"/dev/zero", true, RP_KIND_ZERO},
    {"/dev/random", true, RP_KIND_RANDOM},
    {"/dev/urandom", true, RP_KIND_RANDOM},
    {"/dev/pts", true, RP_KIND_OF_SKIP(TTY)},
    {"/dev/ptmx", true, RP_KIND_OF_SKIP(TTY)},
    {"/dev/tty", false, RP_KIND_OF_SKIP(TTY)},
    {"/dev/console", true, RP_KIND_OF_SKIP(TTY)},
    {"/dev/fd", true, RP_KIND_OF_SKIP(PROC)},
    {"/dev/std", false, RP_KIND_OF_SKIP(PROC)},
    {"/dev/", false, RP_KIND_OF_SKIP(DEVICE)},
    {"/memfd:", false, RP_KIND_NAMELESS},
    {"/anon_hugepage", false, RP_KIND_OF_SKIP(ANONYMOUS)},
    {"/", false, RP_KIND_FILE},
    {"pipe:", false, RP_KIND_OF_SKIP(PIPE)},
    {"socket:", false, RP_KIND_OF_SKIP(SOCKET)},
    {"eventfd:", false, RP_KIND_OF_SKIP(ANONYMOUS)},
    {"memfd:", false, RP_KIND_NAMELESS},
    {"anon_inode:", false, RP_KIND_OF_SKIP(ANONYMOUS)},
};

/* What /proc says of a descriptor whose file has lost its name. */
static bool is_deleted(const char *path)
{
    static const char mark[] = " (deleted)";
    size_t bytes = strlen(path);
    return bytes > sizeof(mark) && strcmp(path + bytes - (sizeof(mark) - 1), mark) == 0;
}

uint8_t rp_kind_of_path(const char *path)
{
    if (path[0] == '/' && is_deleted(path)) {
        return RP_KIND_NAMELESS;
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(rules); i++) {
        size_t bytes = strlen(rules[i].prefix);
        if (strncmp(path, rules[i].prefix, bytes) != 0) {
            continue;
        }
        if (!rules[i].is_whole || path[bytes] == '\0' || path[bytes] == '/') {
            return rules[i].kind;
        }
    }
    return RP_KIND_OF_SKIP(UNKNOWN);
}

uint8_t rp_kind_of_type(enum wio_file_type type)
{
    switch (type) {
    case WIO_FILE_FIFO:
        return RP_KIND_OF_SKIP(PIPE);
    case WIO_FILE_SOCKET:
        return RP_KIND_OF_SKIP(SOCKET);
    case WIO_FILE_CHARDEV:
    case WIO_FILE_BLOCKDEV:
        return RP_KIND_OF_SKIP(DEVICE);
    case WIO_FILE_UNKNOWN:
    case WIO_FILE_NONE:
    case WIO_FILE_REGULAR:
    case WIO_FILE_DIRECTORY:
    case WIO_FILE_SYMLINK:
    default:
        return RP_KIND_FILE;
    }
}

enum wio_file_type rp_type_of_entry(unsigned d_type)
{
    return d_type == DT_UNKNOWN ? WIO_FILE_UNKNOWN : wio_file_type_of_mode(DTTOIF(d_type));
}
