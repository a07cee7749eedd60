/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/format/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"

enum { OF_MODE = 0600, OF_MAX_BYTES = PATH_MAX + 64 };

bool wio_trust_is_own(const struct stat *st)
{
    return st->st_uid == geteuid();
}

/* A number up to `end`, and what is behind that. */
static bool take_number(char **at, char end, uint64_t *number_out)
{
    char *stop = strchr(*at, end);
    if (stop == NULL) {
        return false;
    }
    *stop = '\0';
    bool is_number = wio_parse_u64(*at, number_out) == WIO_OK;
    *at = stop + 1;
    return is_number;
}

/* The text of WIO_RINGS_OF: "<device> <inode> <path of raw>\n". */
static bool names_raw(char *text, const struct stat *raw, const char *raw_path)
{
    uint64_t device = 0;
    uint64_t inode = 0;
    char *at = text;
    if (!take_number(&at, ' ', &device) || !take_number(&at, ' ', &inode)) {
        return false;
    }
    char *end = strrchr(at, '\n');
    if (end == NULL || inode != raw->st_ino) {
        return false;
    }
    *end = '\0';
    return device == raw->st_dev || strcmp(at, raw_path) == 0;
}

/* No other user can read it. The sticky bit and the right to write are given by root only. */
static bool is_closed(const struct stat *rings)
{
    mode_t mode = rings->st_mode & 01777;
    return mode == WIO_RINGS_MODE ||
           (mode == WIO_OPEN_RINGS_MODE && rings->st_uid == 0 && geteuid() == 0);
}

/* Others may make files in the directory; only the user's own says whose rings these are. */
static int open_own(int rings)
{
    struct stat st;
    WIO_CLEANUP(wio_fd_cleanup) int of = wio_io_open_regular(rings, WIO_RINGS_OF, O_NOFOLLOW);
    if (of < 0 || fstat(of, &st) != 0 || !wio_trust_is_own(&st)) {
        return -1;
    }
    int fd = of;
    of = -1;
    return fd;
}

bool wio_trust_link(int raw, const char *raw_path, const struct stat *link, int rings)
{
    struct stat to;
    struct stat from;
    char real[PATH_MAX];
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    if (fstat(rings, &to) != 0 || fstat(raw, &from) != 0 || !wio_trust_is_own(link) ||
        !wio_trust_is_own(&to) || !is_closed(&to) || realpath(raw_path, real) == NULL) {
        return false;
    }
    WIO_CLEANUP(wio_fd_cleanup) int of = open_own(rings);
    return of >= 0 && wio_io_read_fd(of, WIO_RINGS_OF, OF_MAX_BYTES, &text, NULL) == WIO_OK &&
           names_raw((char *)text.data, &from, real);
}

enum wio_status wio_trust_bind(int raw, const char *raw_path, int rings, struct wio_error *err)
{
    struct stat from;
    char text[OF_MAX_BYTES];
    WIO_CLEANUP(wio_fd_cleanup)
    int fd =
        openat(rings, WIO_RINGS_OF, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OF_MODE);
    if (fd < 0 || fstat(raw, &from) != 0) {
        return wio_error_sys(err, raw_path, "cannot note whose rings these are");
    }
    int length = snprintf(text, sizeof(text), "%ju %ju %s\n", (uintmax_t)from.st_dev,
                          (uintmax_t)from.st_ino, raw_path);
    if (length >= (int)sizeof(text)) {
        errno = ENAMETOOLONG;
        return wio_error_sys(err, raw_path, "cannot note whose rings these are");
    }
    return wio_io_write(fd, raw_path, text, (size_t)length, err);
}

bool wio_trust_ring(uid_t dir_owner, uid_t ring_owner)
{
    return ring_owner == dir_owner || ring_owner == 0 || ring_owner == geteuid();
}
