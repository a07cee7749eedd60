/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process or thread of this system, held by a descriptor so that its id cannot come to mean
 * another one unnoticed (pidfd_open(2), Linux 5.3).
 *
 * What is read of /proc/ID between wio_task_open and a wio_task_is_alive that is true is of the
 * task that was opened: it has had the id all the time.
 */
#ifndef WIO_PROBE_TASK_H
#define WIO_PROBE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the system can do; found out once. */
struct wio_task_system {
    int proc;             /* directory descriptor of /proc */
    bool has_thread_fds;  /* pidfds of threads tell their end (Linux 6.15) */
    bool has_unique_inos; /* the inode of a pidfd is that of no other task since boot (Linux 6.9) */
};

/* Fails with errno. The caller owns `proc`. */
bool wio_task_system_init(struct wio_task_system *system);

enum wio_probe_task_kind {
    WIO_TASK_NONE,    /* not opened: errno of the call in `error` */
    WIO_TASK_PROCESS, /* descriptor: pidfd of the process */
    WIO_TASK_THREAD,  /* descriptor: pidfd of the thread */
    WIO_TASK_UNTOLD,  /* descriptor: /proc/TID; the end of the thread is not told to poll(2) */
};

struct wio_probe_task {
    enum wio_probe_task_kind kind;
    int fd; /* -1 = none */
    int error;
    uint32_t tid;
    uint64_t birth; /* differs from that of any other task with this id */
};

/* A process by its id. WIO_TASK_NONE with EINVAL or ENOENT where `tid` is a thread of one. */
void wio_task_open_process(const struct wio_task_system *system, uint32_t tid,
                           struct wio_probe_task *task_out);
/* A thread that is not the main one of its process. */
void wio_task_open_thread(const struct wio_task_system *system, uint32_t tid,
                          struct wio_probe_task *task_out);
void wio_task_close(struct wio_probe_task *task);

/* It has not ended. Of WIO_TASK_UNTOLD by a look into /proc. */
bool wio_task_is_alive(int fd, enum wio_probe_task_kind kind);

/* A file of /proc/TID into `buffer`, at most `size` bytes; -1 with errno. */
int64_t wio_task_read(const struct wio_task_system *system, uint32_t tid, const char *file,
                      char *buffer, size_t size);

#endif
