/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mount/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "job/quote.h"

#define DIRECTORY "/.whyio"

enum { TEXT_BYTES = 512 };

static const struct {
    const char *name;
    mode_t rights;
} files[] = {{"jobid_name", 0644}, {"jobid_var", 0444}, {"jobid_this_session", 0666}};

enum control_file { FILE_NAME, FILE_VAR, FILE_SESSION, FILE_DIRECTORY, FILE_NONE };

bool mount_control_is(const char *path)
{
    const size_t bytes = sizeof(DIRECTORY) - 1;
    return strncmp(path, DIRECTORY, bytes) == 0 && (path[bytes] == '\0' || path[bytes] == '/');
}

static enum control_file file_of(const char *path)
{
    const char *name = path + sizeof(DIRECTORY) - 1;
    for (unsigned i = 0; i < WIO_ARRAY_SIZE(files); i++) {
        if (*name == '/' && strcmp(name + 1, files[i].name) == 0) {
            return (enum control_file)i;
        }
    }
    return *name == '\0' ? FILE_DIRECTORY : FILE_NONE;
}

/* What a file says, with its line end. */
static size_t text_of(const struct mount_jobs *jobs, enum control_file file, char text[TEXT_BYTES])
{
    struct wio_job_settings settings = {.mode = WIO_JOB_MODE_DISABLE};
    if (jobs->probe != NULL) {
        wio_probe_get_settings(jobs->probe, &settings);
    }
    const char *format = settings.format[0] != '\0' ? settings.format : "%j";
    int bytes = 0;
    if (file == FILE_NAME) {
        bytes = snprintf(text, TEXT_BYTES, "%s\n", format);
    } else if (file == FILE_VAR) {
        bytes = snprintf(text, TEXT_BYTES, "%s\n", wio_job_settings_mode_text(&settings));
    }
    return bytes > 0 ? (size_t)bytes : 0;
}

int mount_control_getattr(const struct mount_jobs *jobs, const char *path, struct stat *stat)
{
    char text[TEXT_BYTES];
    const enum control_file file = file_of(path);
    if (file == FILE_NONE) {
        return -ENOENT;
    }
    *stat = (struct stat){.st_ino = UINT64_MAX - file,
                          .st_nlink = file == FILE_DIRECTORY ? 2 : 1,
                          .st_uid = geteuid(),
                          .st_gid = getegid(),
                          .st_mode = S_IFDIR | 0555};
    if (file != FILE_DIRECTORY) {
        stat->st_mode = S_IFREG | files[file].rights;
        stat->st_size = (off_t)text_of(jobs, file, text);
    }
    return 0;
}

int mount_control_readdir(const char *path, void *buffer, fuse_fill_dir_t fill)
{
    if (file_of(path) != FILE_DIRECTORY) {
        return -ENOTDIR;
    }
    int is_full = fill(buffer, ".", NULL, 0, 0) + fill(buffer, "..", NULL, 0, 0);
    for (unsigned i = 0; i < WIO_ARRAY_SIZE(files); i++) {
        is_full += fill(buffer, files[i].name, NULL, 0, 0);
    }
    return is_full == 0 ? 0 : -ENOMEM;
}

int mount_control_open(const char *path, struct fuse_file_info *info)
{
    const enum control_file file = file_of(path);
    if (file == FILE_NONE || file == FILE_DIRECTORY) {
        return file == FILE_NONE ? -ENOENT : -EISDIR;
    }
    const bool is_for_writing = (info->flags & O_ACCMODE) != O_RDONLY;
    info->direct_io = 1;
    return is_for_writing && (files[file].rights & S_IWUSR) == 0 ? -EACCES : 0;
}

int mount_control_read(const struct mount_jobs *jobs, const char *path, char *data, size_t size,
                       off_t offset)
{
    char text[TEXT_BYTES];
    const size_t bytes = text_of(jobs, file_of(path), text);
    const size_t from = (size_t)offset < bytes ? (size_t)offset : bytes;
    const size_t count = bytes - from < size ? bytes - from : size;
    memcpy(data, text + from, count);
    return (int)count;
}

static enum wio_status name_session(struct wio_probe *probe, const char *line, size_t size,
                                    uint32_t tid)
{
    char name[WIO_JOB_BYTES];
    size_t bytes = 0;
    if (!wio_job_unquote(line, size, name, sizeof(name), &bytes)) {
        return WIO_ERR_USAGE;
    }
    return wio_probe_session(probe, tid, name, bytes, NULL);
}

int mount_control_write(const struct mount_jobs *jobs, const char *path, const char *data,
                        size_t size, uint32_t tid)
{
    const enum control_file file = file_of(path);
    struct wio_job_control_result result;
    enum wio_status status = WIO_ERR_USAGE;
    if (jobs->probe == NULL) {
        return -EOPNOTSUPP; /* jobs are disabled */
    }
    if (file == FILE_NAME) {
        status = wio_probe_control(jobs->probe, data, size, &result, NULL);
    } else if (file == FILE_SESSION) {
        status = name_session(jobs->probe, data, size, tid);
    }
    if (status == WIO_OK) {
        return (int)size;
    }
    return status == WIO_ERR_USAGE ? -EINVAL : status == WIO_ERR_NOMEM ? -ENOMEM : -EIO;
}
