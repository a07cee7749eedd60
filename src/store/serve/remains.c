/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/remains.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

/* Through the pipe: paths that end with a 0 byte; an empty one takes back all before it. */
enum { PATHS_MAX = 4 * PATH_MAX };

struct remains {
    char paths[PATHS_MAX];
    size_t bytes;
    size_t begin; /* of the path at hand */
};

static void take(struct remains *remains, char byte)
{
    if (byte != '\0' || remains->bytes > remains->begin) {
        remains->paths[remains->bytes++] = byte;
    } else {
        remains->bytes = 0;
    }
    remains->begin = byte == '\0' ? remains->bytes : remains->begin;
}

static void await_end(struct remains *remains, int end)
{
    char byte;
    ssize_t got;
    do {
        got = read(end, &byte, 1);
        if (got == 1 && remains->bytes < PATHS_MAX) {
            take(remains, byte);
        }
    } while (got == 1 || (got < 0 && errno == EINTR));
}

static void remove_files(const struct remains *remains)
{
    for (const char *path = remains->paths; path < remains->paths + remains->begin;
         path += strlen(path) + 1) {
        (void)unlink(path);
    }
}

/* Another process, of another session, with nothing open but the pipe. */
static void wait_and_remove(int end, const char *root)
{
    struct remains remains = {.bytes = 0};
    (void)dup2(end, 3);
    (void)close_range(4, ~0U, 0);
    end = 3;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)setsid();
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    for (int fd = 0; fd < 3; fd++) {
        (void)dup2(null, fd);
    }
    await_end(&remains, end);
    remove_files(&remains);
    int status = wio_io_remove_tree(root, NULL) == WIO_OK ? 0 : 1;
    _exit(status); /* house: allow exit: child after fork */
}

enum wio_status serve_remains_begin(const char *root, int *fd_out, struct wio_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return wio_error_sys(err, root, "cannot make a pipe");
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[1]);
        wait_and_remove(ends[0], root);
    }
    (void)close(ends[0]);
    if (child < 0) {
        enum wio_status status = wio_error_sys(err, root, "cannot begin a process");
        (void)close(ends[1]);
        return status;
    }
    *fd_out = ends[1];
    return WIO_OK;
}

void serve_remains_add(int fd, const char *path)
{
    (void)!write(fd, path, strlen(path) + 1);
}

void serve_remains_forget(int fd)
{
    (void)!write(fd, "", 1);
}
