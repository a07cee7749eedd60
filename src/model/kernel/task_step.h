/* SPDX-License-Identifier: Apache-2.0 */
/* What a task does in each kind of step, until it has to wait. Private to task.c. */
#ifndef WIO_MODEL_KERNEL_TASK_STEP_H
#define WIO_MODEL_KERNEL_TASK_STEP_H

#include <whyio/status.h>

#include "model/kernel/task.h"

/* The task, whose turn it is, goes on with its step: sets when it wakes (wake_s; HUGE_VAL: when the
 * device has written) and where it is then (phase). */
WIO_MUST_CHECK enum wio_status wio_task_step(struct wio_tasks *tasks, struct wio_task *task,
                                             struct wio_task_step *step);

#endif
