/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/files/fd_number.h"

#include <string.h>

#include "base/fmt.h"
#include "capture/core/raw.h"

bool cap_fd_number(int fd, const char *key, uint64_t *number_out)
{
    char name[48];
    char info[512];
    struct wio_fmt path = wio_fmt_of(name, sizeof(name));
    wio_fmt_str(&path, "/proc/self/fdinfo/");
    wio_fmt_i64(&path, fd);
    long file = raw_openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) {
        return false;
    }
    long got = raw_read((int)file, info, sizeof(info) - 1);
    (void)raw_close((int)file);
    info[got > 0 ? got : 0] = '\0';
    const char *found = strstr(info, key);
    if (found == NULL) {
        return false;
    }
    found += strlen(key);
    found += strspn(found, " \t");
    return wio_scan_u64(&found, number_out);
}

size_t cap_fd_numbered_name(const char *head, uint64_t number, const char *tail, char *text,
                            size_t size)
{
    struct wio_fmt fmt = wio_fmt_of(text, size);
    wio_fmt_str(&fmt, head);
    wio_fmt_u64(&fmt, number);
    wio_fmt_str(&fmt, tail);
    return fmt.used;
}
