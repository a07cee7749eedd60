/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: what kind a file is, what one that was executed says of itself. */
#ifndef WIO_TRACER_IMAGE_H
#define WIO_TRACER_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/tracee.h"

enum tracer_image_kind {
    TRACER_IMAGE_STATIC,  /* no loader: the tracer records it */
    TRACER_IMAGE_DYNAMIC, /* glibc's loader: LD_PRELOAD works there */
    TRACER_IMAGE_FOREIGN, /* another word size, machine or loader, or no ELF file */
};

/* Of an open file; `name` is that of the file, by which glibc's loader itself is known. */
enum tracer_image_kind tracer_image_kind_of(int fd, const char *name);

/* Would an exec of `path` by the thread give it other rights than it has (set-user-id,
 * set-group-id, capabilities)? As the thread sees the file system; follows #! lines. `dirfd`: as in
 * execveat. */
bool tracer_image_gains_rights(const struct tracer_thread *thread, int dirfd, const char *path);

/* The kind of the image that a process runs now. */
enum tracer_image_kind tracer_image_of(int32_t pid);
/* Is the capture library preloaded into it? True where its environment is too long to be known. */
bool tracer_image_is_preloaded(int32_t pid, const char *capture_lib);

/* META and MODULE records at the beginning of its ring. */
void tracer_image_describe(struct tracer_thread *thread);
/* The header of its ring: process, rank, job. */
enum wio_status tracer_image_make_ring(const struct tracer_settings *settings,
                                       struct tracer_process *process);

#endif
