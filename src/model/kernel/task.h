/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks of the `kernel` model: what each is doing, and which goes on next. An operation is a few
 * steps; a step goes on until it has to wait for time to pass, then another task has its turn. So
 * tasks meet in the page cache, at the dirty limits and at the device where they would in the
 * kernel.
 */
#ifndef WIO_MODEL_KERNEL_TASK_H
#define WIO_MODEL_KERNEL_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/tree.h"
#include "model/kernel/cache.h"
#include "model/kernel/reader.h"
#include "model/kernel/throttle.h"
#include "model/model.h"

enum wio_task_kind {
    WIO_TASK_WAIT,   /* time passes: a call, a copy */
    WIO_TASK_WRITE,  /* write(2): folio by folio, with a look at the dirty limits before each */
    WIO_TASK_READ,   /* read(2) through the page cache, piece by piece */
    WIO_TASK_SYNC,   /* until what is dirty of the file, or of its device, is written */
    WIO_TASK_DRAIN,  /* until what the device was handed of the file is written */
    WIO_TASK_DEVICE, /* the device to itself */
    WIO_TASK_COMMIT  /* until the journal has what changed of the file, or of any on the device:
                        blocks, length, time */
};

struct wio_task_step {
    enum wio_task_kind kind;
    double seconds;        /* WAIT, DEVICE: what it takes in all; COMMIT: beside the device's part;
                              WRITE: beside what all of them take */
    double device_s;       /* DEVICE, COMMIT: the device's part of it */
    double journal_s;      /* DEVICE: and the journal's, which passes in front of others */
    double request_pages;  /* DEVICE: the longest request of a write */
    double least_s;        /* DEVICE: whatever it lets pass at once */
    double even_s;         /* DEVICE: where it is outside, which lets nothing pass at once */
    double clean_s;        /* COMMIT: what it takes where the journal has all of it */
    double inode_s;        /* COMMIT: as `seconds`, where there are no new blocks .. */
    double inode_device_s; /* .. and as `device_s` */
    uint64_t offset;       /* WRITE, READ: bytes; moves on */
    uint64_t end;
    bool is_all;               /* SYNC, COMMIT: of the device */
    bool is_data;              /* COMMIT: but for the file's time */
    bool is_idle;              /* WAIT: without a processor */
    bool is_read;              /* DEVICE */
    bool is_random;            /* READ: the device has to seek first */
    bool goes_on;              /* WRITE: a piece of it is written */
    struct wio_reader *reader; /* READ, once it is begun */
};

#define WIO_TASK_STEPS 4

enum wio_task_phase {
    WIO_TASK_BEGIN, /* of a step */
    WIO_TASK_PIECE, /* WRITE: the next folio; READ: the next piece */
    WIO_TASK_LOOK,  /* WRITE: at the limits */
    WIO_TASK_END    /* of a step, once it is woken */
};

struct wio_task {
    RB_ENTRY(wio_task) by_id;
    RB_ENTRY(wio_task) by_wake; /* while it sleeps until wake_s */
    SLIST_ENTRY(wio_task) in_sync;
    uint32_t id;
    struct wio_throttle_task throttle; /* while another task runs */
    struct wio_cache_file *file;
    struct wio_task_step steps[WIO_TASK_STEPS];
    size_t step_count;
    size_t step_at;
    enum wio_task_phase phase;
    bool is_active; /* in an operation */
    bool is_idle;   /* it waits for something else than a processor .. */
    bool is_told;   /* .. and that was told of this operation */
    enum wio_model_state state;
    double begin_s;
    double wake_s;
    double device_s;  /* left to a device outside */
    uint64_t awaited; /* SYNC, DRAIN: pages ever that its file's device has to write first */
};

RB_HEAD(wio_tasks_by_id, wio_task);
RB_HEAD(wio_tasks_by_wake, wio_task);
SLIST_HEAD(wio_tasks_in_sync, wio_task);

struct wio_tasks {
    struct wio_cache cache;
    const struct wio_model_params *params; /* of the machine */
    struct wio_tasks_by_id by_id;
    struct wio_tasks_by_wake by_wake;
    struct wio_tasks_in_sync in_sync;
    struct wio_task *last;                   /* looked up last */
    struct wio_task *current;                /* whose throttling is at .. */
    struct wio_cache_device *current_device; /* .. this device */
    bool has_device_outside; /* what tasks do with the device is left to it (external_device.h) */
    bool tells_sleep;        /* as wio_model_tell_sleep */
};

/* With one device, that of `params`. After an error it may only be released. */
WIO_MUST_CHECK enum wio_status wio_tasks_init(struct wio_tasks *tasks,
                                              const struct wio_alloc *alloc,
                                              const struct wio_model_params *params);
void wio_tasks_fini(struct wio_tasks *tasks);

/* The task of a number; NULL: out of memory. */
struct wio_task *wio_tasks_get(struct wio_tasks *tasks, uint32_t id);

/* A step of the operation that is being begun. */
void wio_task_add(struct wio_task *task, struct wio_task_step step);
/* Let it perform its steps on `file` from now on. */
void wio_tasks_begin(struct wio_tasks *tasks, struct wio_task *task, struct wio_cache_file *file);

/* When something happens that may end an operation; infinite where no task is active. */
double wio_tasks_next(struct wio_tasks *tasks);

/* Time passes until a task has ended its operation (WIO_OK; its time is now) or, where that is
 * told, sleeps in it (it is active still), or until `until_s` (WIO_END). Nothing passes where no
 * task is active and until_s is infinite. After an error: the task that met it, or NULL. */
WIO_MUST_CHECK enum wio_status wio_tasks_run(struct wio_tasks *tasks, double until_s,
                                             struct wio_task **task_out);

#endif
