/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "seal/seal_internal.h"

/* Length of the normalised part without its last component; not for links. */
static size_t parent_length(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/') {
        length--;
    }
    return length > 0 ? length - 1 : 0;
}

/* May `..` take away the last component of path[0 .. length)? */
static bool can_go_up(char *path, size_t length, wio_is_link_fn *is_link, void *arg)
{
    size_t parent = parent_length(path, length);
    if (length - parent == 3 && memcmp(path + parent, "/..", 3) == 0) {
        return false; /* one that was kept */
    }
    if (is_link == NULL || length == 0) {
        return true;
    }
    char saved = path[length];
    path[length] = '\0';
    bool is = is_link(arg, path);
    path[length] = saved;
    return !is;
}

/* The result grows at the front of the same bytes: it is never longer than what was read. */
size_t wio_path_normalise(char *path, size_t bytes, wio_is_link_fn *is_link, void *arg)
{
    size_t length = 0;
    size_t at = 0;
    while (at < bytes) {
        while (at < bytes && path[at] == '/') {
            at++;
        }
        size_t from = at;
        while (at < bytes && path[at] != '/') {
            at++;
        }
        size_t part = at - from;
        if (part == 0 || (part == 1 && path[from] == '.')) {
            continue;
        }
        bool is_up = part == 2 && path[from] == '.' && path[from + 1] == '.';
        if (is_up && can_go_up(path, length, is_link, arg)) {
            length = parent_length(path, length);
            continue;
        }
        path[length++] = '/';
        memmove(path + length, path + from, part);
        length += part;
    }
    if (length == 0) {
        path[length++] = '/';
    }
    path[length] = '\0';
    return length;
}

static bool is_below(const char *path, size_t bytes, const char *top)
{
    size_t length = strlen(top);
    return bytes >= length && memcmp(path, top, length) == 0 &&
           (bytes == length || path[length] == '/');
}

/* Names that say nothing about the user, and that replay has to know. */
static bool is_system(const char *path, size_t bytes)
{
    static const char *const tops[] = {"/dev", "/proc",  "/sys", "/usr",
                                       "/lib", "/lib64", "/bin", "/sbin"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(tops); i++) {
        if (is_below(path, bytes, tops[i])) {
            return true;
        }
    }
    return false;
}

/* Names that the kernel gave to what has none (FORMAT.md#channels): nothing about the user, but
 * which two ends belong together. */
static bool is_channel(const char *path, size_t bytes)
{
    static const char *const kinds[] = {
        "pipe:[", "socket:[", "eventfd:[", "anon_inode:", "inet ", "inet6 ", "dgram inet"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(kinds); i++) {
        size_t length = strlen(kinds[i]);
        if (bytes >= length && memcmp(path, kinds[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* Bytes at the front that say that a Unix socket's name follows; 0 = none. */
static size_t socket_prefix(const char *path, size_t bytes)
{
    static const char *const kinds[] = {"unix ", "dgram unix "};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(kinds); i++) {
        size_t length = strlen(kinds[i]);
        if (bytes > length && memcmp(path, kinds[i], length) == 0) {
            return length;
        }
    }
    return 0;
}

/* Length of ".ext" at the end, 0 where there is none or it is long enough to be a name. */
static size_t extension_length(const char *part, size_t bytes)
{
    for (size_t i = 1; i < bytes && i <= 5; i++) {
        if (part[bytes - i] == '.') {
            return i < bytes ? i : 0;
        }
    }
    return 0;
}

static enum wio_status put_hidden(const uint8_t *key, const char *part, size_t bytes,
                                  struct wio_blob *out)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t hash = XXH3_64bits_withSecret(part, bytes, key, WIO_HIDE_KEY_BYTES);
    for (unsigned i = 0; i < 12; i++) {
        WIO_TRY(wio_blob_u8(out, (uint8_t)digits[hash >> (4 * i) & 15]));
    }
    size_t extension = extension_length(part, bytes);
    return wio_blob_put(out, part + bytes - extension, extension);
}

enum wio_status wio_path_anonymise(const uint8_t *key, const char *path, size_t bytes,
                                   struct wio_blob *out)
{
    if (is_system(path, bytes) || is_channel(path, bytes)) {
        return wio_blob_put(out, path, bytes);
    }
    size_t prefix = socket_prefix(path, bytes);
    if (prefix > 0) {
        WIO_TRY(wio_blob_put(out, path, prefix));
        return put_hidden(key, path + prefix, bytes - prefix, out);
    }
    size_t at = 0;
    while (at < bytes) {
        size_t from = at;
        while (at < bytes && path[at] != '/') {
            at++;
        }
        size_t part = at - from;
        bool is_dots = part <= 2 && memcmp(path + from, "..", part) == 0;
        if (part > 0 && is_dots) {
            WIO_TRY(wio_blob_put(out, path + from, part));
        } else if (part > 0) {
            WIO_TRY(put_hidden(key, path + from, part, out));
        }
        if (at < bytes) {
            WIO_TRY(wio_blob_u8(out, '/'));
            at++;
        }
    }
    return WIO_OK;
}
