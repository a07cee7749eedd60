/* SPDX-License-Identifier: Apache-2.0 */
#include "cover.h"

#include <unistd.h>

struct cover_last cover_last;

static char directory[1024];
static char lines[1 << 20];
static size_t used;

typedef long word_fn(long, long, long, long, long, long, long, long);

long cover_call(enum cover_kind kind, const char *symbol, const long *args, size_t count)
{
    long a[8] = {0}; /* parts of OpenMP take as many */
    void *found = dlsym(RTLD_DEFAULT, symbol);
    word_fn *function;
    memcpy(&function, &found, sizeof(function));
    if (found == NULL) {
        (void)dprintf(2, "cover: no symbol '%s'\n", symbol);
        _Exit(4);
    }
    memcpy(a, args, count * sizeof(long));
    errno = 0;
    long result = function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    cover_last.error = errno;
    cover_last.symbol = symbol;
    if (kind == INT) {
        result = (int)result;
    } else if (kind == UNSIGNED) {
        result = (unsigned)result;
    } else if (kind == NOTHING) {
        result = 0;
    }
    cover_last.result = result;
    return result;
}

void cover_expect(const char *format, ...)
{
    bool failed = cover_last.result == -1 || cover_last.error_is_result;
    va_list values;
    used += (size_t)snprintf(lines + used, sizeof(lines) - used, "call=%s result=%ld errno=%d ",
                             cover_last.symbol, cover_last.result, failed ? cover_last.error : 0);
    cover_last.error_is_result = false;
    va_start(values, format);
    used += (size_t)vsnprintf(lines + used, sizeof(lines) - used, format, values);
    va_end(values);
    used += (size_t)snprintf(lines + used, sizeof(lines) - used, "\n");
}

const char *in_dir(const char *name)
{
    static char texts[256][1100];
    static unsigned count;
    char *text = texts[count++ % 256];
    bool is_inside = name[0] != '\0' && strcmp(name, ".") != 0;
    (void)snprintf(text, sizeof(texts[0]), "%s%s%s", directory, is_inside ? "/" : "",
                   is_inside ? name : "");
    return text;
}

int raw_open(const char *path, int flags)
{
    return (int)wio_rawcall4(SYS_openat, AT_FDCWD, P(path), flags, 0600);
}

void raw_close(int fd)
{
    (void)wio_rawcall3(SYS_close, fd, 0, 0);
}

void cover_close(long fd, const char *path)
{
    CALL(INT, "close", fd);
    EXPECT("fd=%ld path=%s", fd, path);
}

void raw_write_file(const char *path, const char *text)
{
    int fd = raw_open(path, O_WRONLY | O_CREAT | O_TRUNC);
    (void)wio_rawcall3(SYS_write, fd, P(text), (long)strlen(text));
    raw_close(fd);
}

void raw_remove(const char *path)
{
    if (wio_rawcall3(SYS_unlinkat, AT_FDCWD, P(path), 0) < 0) {
        (void)wio_rawcall3(SYS_unlinkat, AT_FDCWD, P(path), AT_REMOVEDIR);
    }
}

int cover_main(int argc, char **argv, void (*const *cases)(void), size_t count)
{
    if (argc < 2 || wio_rawcall3(SYS_getcwd, P(directory), sizeof(directory), 0) < 0) {
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        cases[i]();
    }
    int fd = raw_open(argv[1], O_WRONLY | O_CREAT | O_TRUNC);
    long put = wio_rawcall3(SYS_write, fd, P(lines), (long)used);
    raw_close(fd);
    return put == (long)used ? 0 : 3;
}
