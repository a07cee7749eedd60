/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <whyio/event.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/system/proc_text.h"

#define NAME_MAX_BYTES 96

static void name_of(char out[NAME_MAX_BYTES], int32_t tid, const char *name)
{
    snprintf(out, NAME_MAX_BYTES, "/proc/%d/%s", (int)tid, name);
}

size_t tracer_proc_link(int32_t tid, const char *name, char out[TRACER_PATH_MAX])
{
    char link[NAME_MAX_BYTES];
    name_of(link, tid, name);
    const ssize_t length = readlink(link, out, TRACER_PATH_MAX);
    return length > 0 ? (size_t)length : 0;
}

size_t tracer_proc_fd_link(int32_t tid, int fd, char out[TRACER_PATH_MAX])
{
    char name[32];
    snprintf(name, sizeof(name), "fd/%d", fd);
    return tracer_proc_link(tid, name, out);
}

bool tracer_proc_fd_stat(int32_t tid, int fd, struct stat *out)
{
    char link[NAME_MAX_BYTES];
    snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)tid, fd);
    return stat(link, out) == 0;
}

size_t tracer_proc_read(int32_t tid, const char *name, char *out, size_t size)
{
    char path[NAME_MAX_BYTES];
    size_t used = 0;
    name_of(path, tid, name);
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && used < size - 1) {
        const ssize_t got = read(fd, out + used, size - 1 - used);
        if (got <= 0) {
            break;
        }
        used += (size_t)got;
    }
    out[used] = '\0';
    return used;
}

int64_t tracer_proc_position(int32_t tid, int fd)
{
    char name[32];
    char text[256];
    snprintf(name, sizeof(name), "fdinfo/%d", fd);
    (void)tracer_proc_read(tid, name, text, sizeof(text));
    return strncmp(text, "pos:", 4) == 0 ? (int64_t)strtoll(text + 4, NULL, 10) : WIO_NO_OFFSET;
}

struct tracer_birth tracer_proc_birth(int32_t pid)
{
    char text[1024];
    struct tracer_birth birth = {0};
    uint64_t ppid = 0;
    const size_t bytes = tracer_proc_read(pid, "stat", text, sizeof(text));
    if (wio_proc_stat_number(text, bytes, WIO_PROC_STAT_PPID, &ppid)) {
        birth.ppid = (int32_t)ppid;
    }
    (void)wio_proc_stat_start(text, bytes, &birth.start);
    return birth;
}

bool tracer_proc_is_thread(int32_t pid, int32_t tid)
{
    char path[NAME_MAX_BYTES];
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0;
}

int32_t tracer_proc_process_of(int32_t tid)
{
    char text[4096];
    uint64_t pid = 0;
    const size_t bytes = tracer_proc_read(tid, "status", text, sizeof(text));
    return wio_proc_status_number(text, bytes, "Tgid:", &pid) ? (int32_t)pid : 0;
}
