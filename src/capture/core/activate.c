/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/activate.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/fmt.h"
#include "capture/core/environment.h"
#include "capture/core/raw.h"

#define VARIABLE "WHYIO_TRACE"

enum { TRACE_MODE = 0777, RAW_MODE = 0711 /* R-RING-8 */ };

static const char *text_of(long error)
{
    switch (-error) {
    case EACCES:
        return "permission denied";
    case ENOENT:
        return "the directory above it does not exist";
    case ENOTDIR:
        return "it is no directory";
    case EROFS:
        return "the file system is read-only";
    case ENOSPC:
        return "no space is left";
    case EDQUOT:
        return "the quota is used up";
    case ENAMETOOLONG:
        return "the name is too long";
    case EINVAL:
        return "an absolute path is expected";
    default:
        return NULL;
    }
}

/* A line can be written without waiting, and without a signal (SIGPIPE). */
static bool is_ready(int fd)
{
    struct pollfd asked = {.fd = fd, .events = POLLOUT};
    const struct timespec at_once = {0};
    return raw_call6(SYS_ppoll, (long)&asked, 1, (long)&at_once, 0, 0, 0) == 1 &&
           asked.revents == POLLOUT;
}

/* The library's only words: else a missing directory would look like a program without I/O. */
static void tell(const char *directory, long error)
{
    char line[512];
    struct wio_fmt text = wio_fmt_of(line, sizeof(line));
    wio_fmt_str(&text, "whyio: nothing is recorded: cannot use ");
    wio_fmt_str(&text, VARIABLE "='");
    wio_fmt_bytes(&text, directory, strnlen(directory, 300));
    wio_fmt_str(&text, "': ");
    if (text_of(error) != NULL) {
        wio_fmt_str(&text, text_of(error));
    } else {
        wio_fmt_str(&text, "error ");
        wio_fmt_i64(&text, -error);
    }
    wio_fmt_str(&text, "\n");
    if (is_ready(STDERR_FILENO)) {
        (void)raw_call3(SYS_write, STDERR_FILENO, (long)line, (long)text.used);
    }
}

static long make(const char *path, unsigned mode)
{
    const long made = raw_call3(SYS_mkdirat, AT_FDCWD, (long)path, (long)mode);
    return made == -EEXIST ? 0 : made;
}

static long make_both(const char *directory, char *rings_out, size_t size)
{
    struct wio_fmt text = wio_fmt_of(rings_out, size);
    wio_fmt_str(&text, directory);
    wio_fmt_str(&text, "/raw");
    if (directory[0] != '/') {
        return -EINVAL;
    }
    if (text.is_cut) {
        return -ENAMETOOLONG;
    }
    long result = make(directory, TRACE_MODE);
    result = result == 0 ? make(rings_out, RAW_MODE) : result;
    return result == 0 ? raw_call3(SYS_faccessat, AT_FDCWD, (long)rings_out, W_OK | X_OK) : result;
}

bool cap_activate(char *rings_out, size_t size)
{
    const char *directory = cap_getenv(VARIABLE);
    if (directory == NULL || directory[0] == '\0') {
        return false;
    }
    const long result = make_both(directory, rings_out, size);
    if (result != 0) {
        tell(directory, result);
        *(char *)(uintptr_t)directory = '\0'; /* the process' own memory */
    }
    return result == 0;
}
