/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as strings of the ring: arguments of calls, and the working directory that they are
 * relative to. Signal safe, thread safe. */
#ifndef WIO_CAPTURE_FILES_PATHS_H
#define WIO_CAPTURE_FILES_PATHS_H

#include "capture/core/capture.h"
#include "capture/files/descriptors.h"

/*
 * Id of a path argument as the program gave it: absolute, or relative to `dirfd` (AT_FDCWD: the
 * working directory). NULL gives 0, "" the path of dirfd. The text is copied now: call it after the
 * real function, and not when that failed with EFAULT (cap_path_of does both).
 */
uint32_t cap_string(struct cap_thread *self, int dirfd, const char *path) CAP_HIDDEN;
/* An empty path is no path (ENOENT), unless the call may mean the descriptor (AT_EMPTY_PATH). */
static inline bool cap_is_no_path(const char *path, int error)
{
    return error == ENOENT && path != NULL && path[0] == '\0';
}

/* A call's second path: the kernel has not read it where the first one was at fault. */
static inline uint32_t cap_path2_of(struct cap_thread *self, int dirfd, const char *path, int error)
{
    if (CAP_UNLIKELY(error != 0) &&
        (error == EFAULT || !cap_is_readable(path) || cap_is_no_path(path, error))) {
        return WIO_NO_STRING;
    }
    return cap_string(self, dirfd, path);
}

static inline uint32_t cap_path_of(struct cap_thread *self, int dirfd, const char *path, int error)
{
    bool was_read = error == ENOENT || error == EEXIST || error == EACCES;
    if (CAP_UNLIKELY(error == ENOENT) && cap_is_no_path(path, error)) {
        return WIO_NO_STRING;
    }
    return cap_path2_of(self, dirfd, path, CAP_UNLIKELY(was_read) ? 0 : error);
}

/* Before a call that changes the working directory: its path is relative to the one before. */
void cap_cwd_leave(struct cap_thread *self) CAP_HIDDEN;
/* The working directory is another one: ask for it when the next relative path comes. */
void cap_cwd_changed(void) CAP_HIDDEN;

#endif
