/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/program/proc_maps.h"

#include <string.h>

#include "capture/core/raw.h"

static const char *parse_hex(const char *at, uint64_t *out)
{
    uint64_t value = 0;
    for (;; at++) {
        bool is_letter = *at >= 'a' && *at <= 'f';
        if (!is_letter && (*at < '0' || *at > '9')) { /* a colon follows '9' */
            break;
        }
        unsigned digit = (unsigned)(is_letter ? *at - 'a' + 10 : *at - '0');
        value = value << 4 | digit;
    }
    *out = value;
    return at;
}

static const char *parse_decimal(const char *at, uint64_t *out)
{
    uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (unsigned)(*at - '0');
    }
    *out = value;
    return at;
}

/* "lo-hi rwxp offset major:minor inode   path", ended by NUL. */
static bool parse_line(const char *line, struct cap_proc_map *out)
{
    uint64_t lo;
    uint64_t hi;
    uint64_t major = 0;
    uint64_t minor;
    const char *at = parse_hex(line, &lo);
    if (*at != '-') {
        return false;
    }
    at = parse_hex(at + 1, &hi);
    if (*at != ' ' || strlen(at) < 7) {
        return false;
    }
    out->lo = lo;
    out->hi = hi;
    out->is_writable = at[2] == 'w';
    out->is_code = at[3] == 'x';
    out->is_shared = at[4] == 's';
    at = parse_hex(at + 6, &out->offset);
    at = *at == ' ' ? parse_hex(at + 1, &major) : at;
    if (*at != ':') {
        return false;
    }
    at = parse_hex(at + 1, &minor);
    at = parse_decimal(*at == ' ' ? at + 1 : at, &out->inode);
    out->device = major << 32 | minor;
    out->path = at + strspn(at, " ");
    return true;
}

/* Whole lines of the buffer, which stays as it is; returns the bytes behind them. */
static size_t use_lines(char *text, size_t used, cap_proc_map_fn *use, void *arg)
{
    char *line = text;
    char *end;
    while ((end = memchr(line, '\n', used - (size_t)(line - text))) != NULL) {
        struct cap_proc_map map;
        *end = '\0';
        if (parse_line(line, &map)) {
            use(arg, &map);
        }
        *end = '\n';
        line = end + 1;
    }
    return used - (size_t)(line - text);
}

size_t cap_proc_maps_read(char *text, cap_proc_map_fn *use, void *arg)
{
    long fd = raw_openat(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return 0;
    }
    size_t used = 0;
    bool is_whole = true;
    long got;
    while ((got = raw_read((int)fd, text + used, CAP_PROC_MAPS_BUFFER - used)) > 0) {
        used += (size_t)got;
        if (used == CAP_PROC_MAPS_BUFFER) {
            size_t left = use_lines(text, used, use, arg);
            memmove(text, text + used - left, left);
            used = left < CAP_PROC_MAPS_BUFFER ? left : 0; /* no line is that long */
            is_whole = false;
        }
    }
    (void)raw_close((int)fd);
    (void)use_lines(text, used, use, arg);
    return is_whole ? used : 0;
}

void cap_proc_maps_again(char *text, size_t used, cap_proc_map_fn *use, void *arg)
{
    (void)use_lines(text, used, use, arg);
}
