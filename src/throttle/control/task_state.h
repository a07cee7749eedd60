/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of a thread, from /proc: does it run, sleep, and for how long has it run? */
#ifndef WIO_THROTTLE_CONTROL_TASK_STATE_H
#define WIO_THROTTLE_CONTROL_TASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct wio_task_state {
    bool is_there;   /* it exists and has not ended */
    bool is_asleep;  /* sleeps until something happens; not on a disk */
    bool is_timed;   /* .. or until a time is over: it may wake by itself. True where that cannot be
                        told */
    uint64_t run_ns; /* on a processor, in all; as exact as the scheduler's tick while it runs */
};

void wio_task_look(int32_t pid, int32_t tid, struct wio_task_state *task_out);

/* The parent of a process; 0 where that cannot be told. */
int32_t wio_task_parent(int32_t pid);

/* A text of /proc/PID/task/TID/stat and one of .../syscall, as far as they matter here. Pure. */
bool wio_task_parse_stat(const char *text, char *state_out, int32_t *parent_out);
bool wio_task_is_timed(const char *syscall_text);

#endif
