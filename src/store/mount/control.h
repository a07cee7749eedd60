/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control of job ids: files of a directory that the mount has and the store has not.
 *
 *     .whyio/jobid_name          what jobs are called by (the format; "%j": as they are). A line
 *                                that is written: job/control.h
 *     .whyio/jobid_var           the mode; read only
 *     .whyio/jobid_this_session  a line that is written names the session of the writer
 *
 * The directory is not listed in the root, so that no copy of a tree has it. A store's own .whyio
 * in the root is hidden.
 */
#ifndef WIO_MOUNT_CONTROL_H
#define WIO_MOUNT_CONTROL_H

#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 32
#endif
#include <fuse.h>
#include <stdbool.h>

#include "store/mount/jobs.h"

/* The path is that of the directory or below it. */
bool mount_control_is(const char *path);

/* As in struct fuse_operations: what these do not do is EPERM. */
int mount_control_getattr(const struct mount_jobs *jobs, const char *path, struct stat *stat);
int mount_control_readdir(const char *path, void *buffer, fuse_fill_dir_t fill);
int mount_control_open(const char *path, struct fuse_file_info *info);
int mount_control_read(const struct mount_jobs *jobs, const char *path, char *data, size_t size,
                       off_t offset);
/* Each write is one line. */
int mount_control_write(const struct mount_jobs *jobs, const char *path, const char *data,
                        size_t size, uint32_t tid);

#endif
