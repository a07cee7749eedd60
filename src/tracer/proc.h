/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says of a traced thread or process. */
#ifndef WIO_TRACER_PROC_H
#define WIO_TRACER_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define TRACER_PATH_MAX 4096

/* Where a link like "cwd", "exe", "fd/3" leads; the length, 0 where it is not there. */
size_t tracer_proc_link(int32_t tid, const char *name, char out[TRACER_PATH_MAX]);
size_t tracer_proc_fd_link(int32_t tid, int fd, char out[TRACER_PATH_MAX]);
/* The position of a descriptor; WIO_NO_OFFSET where it is not known. */
int64_t tracer_proc_position(int32_t tid, int fd);
bool tracer_proc_fd_stat(int32_t tid, int fd, struct stat *out);
/* The file /proc/TID/NAME, at most size - 1 bytes and a NUL; how many. */
size_t tracer_proc_read(int32_t tid, const char *name, char *out, size_t size);
/* Fields 4 and 22 of /proc/PID/stat: its parent, and what tells a recycled pid apart. */
struct tracer_birth {
    int32_t ppid;
    uint64_t start;
};
struct tracer_birth tracer_proc_birth(int32_t pid);
/* Is `tid` a thread of the process `pid`? */
bool tracer_proc_is_thread(int32_t pid, int32_t tid);
/* The process that a thread is of; 0 where it is gone. */
int32_t tracer_proc_process_of(int32_t tid);

#endif
