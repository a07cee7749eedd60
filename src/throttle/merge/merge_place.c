/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/merge/merge_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "throttle/merge/merge_internal.h"
#include "trace/format/format.h"

#define LOCK_NAME "lock"

enum { DIRECTORY_MODE = 0777 /* less the umask */, LOCK_MODE = 0600, LOCK_ATTEMPTS = 100 };

/* ---- names -------------------------------------------------------------------------------- */

static enum wio_status name_places(struct wio_merge_place *place, const char *dir,
                                   struct wio_error *err)
{
    size_t size = strlen(dir);
    while (size > 1 && dir[size - 1] == '/') {
        size--;
    }
    if (size >= sizeof(place->final) - sizeof(".merging")) {
        return wio_error_set(err, WIO_ERR_USAGE, dir, WIO_ERROR_NO_OFFSET,
                             "expected a shorter name for the trace directory");
    }
    memcpy(place->final, dir, size);
    place->final[size] = '\0';
    snprintf(place->work, sizeof(place->work), "%s.merging", place->final);
    return WIO_OK;
}

static bool is_written(const char *name, const char *final)
{
    size_t size = strlen(final);
    return strncmp(name, final, size) == 0 &&
           (name[size] == '\0' || (name[size] == '.' && wio_text_ends_with(name, ".tmp")));
}

/* What a merge makes, whole or not. */
static bool is_own(const char *name)
{
    return is_written(name, WIO_MERGE_SEGMENT) || is_written(name, WIO_EDGES_NAME) ||
           is_written(name, WIO_HELD_NAME);
}

/* ---- cleaning ----------------------------------------------------------------------------- */

static bool is_kept(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, LOCK_NAME) == 0;
}

/* All or nothing: a file that no merge makes says that this is another directory. */
static enum wio_status expect_own(const struct wio_merge_place *place, struct wio_error *err)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = wio_io_list(place->dir_fd);
    const struct dirent *entry;
    if (stream == NULL) {
        return wio_error_sys(err, place->work, "cannot look into the directory");
    }
    while ((entry = readdir(stream)) != NULL) {
        if (!is_kept(entry->d_name) && !is_own(entry->d_name)) {
            return wio_error_set(err, WIO_ERR_USAGE, place->work, WIO_ERROR_NO_OFFSET,
                                 "expected what a merge that was killed has left, found other "
                                 "files: choose another name for the merged trace");
        }
    }
    return WIO_OK;
}

static void remove_own(struct wio_merge_place *place)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *stream = wio_io_list(place->dir_fd);
    const struct dirent *entry;
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        if (is_own(entry->d_name) && unlinkat(place->dir_fd, entry->d_name, 0) == 0) {
            place->has_cleaned = true;
        }
    }
}

/* ---- beginning ---------------------------------------------------------------------------- */

static enum wio_status expect_none(const struct wio_merge_place *place, struct wio_error *err)
{
    struct stat st;
    return lstat(place->final, &st) == 0
               ? wio_error_set(err, WIO_ERR_USAGE, place->final, WIO_ERROR_NO_OFFSET,
                               "exists: choose another directory for the merged trace")
               : WIO_OK;
}

/* place->dir_fd stays -1 where another merge has removed it meanwhile, or given it its name. */
static enum wio_status open_work(struct wio_merge_place *place, struct wio_error *err)
{
    struct stat st;
    bool is_new = mkdir(place->work, DIRECTORY_MODE) == 0;
    if (!is_new && errno != EEXIST) {
        return wio_error_sys(err, place->work, "cannot make the trace directory");
    }
    wio_fd_cleanup(&place->dir_fd);
    place->dir_fd = open(place->work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place->dir_fd < 0 && errno == ENOENT) {
        return WIO_OK;
    }
    if (place->dir_fd < 0 || fstat(place->dir_fd, &st) != 0) {
        return wio_error_sys(err, place->work, "cannot open the trace directory");
    }
    /* Some file systems make what is new another user's. */
    return is_new || st.st_uid == geteuid()
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_USAGE, place->work, WIO_ERROR_NO_OFFSET,
                               "belongs to another user: choose another name for the merged trace");
}

/* Another merge may have given the directory its name, or removed it, before it was locked. */
static bool is_still_there(const struct wio_merge_place *place)
{
    struct stat held[2];
    struct stat named[2];
    return fstat(place->dir_fd, &held[0]) == 0 && fstat(place->lock_fd, &held[1]) == 0 &&
           lstat(place->work, &named[0]) == 0 &&
           fstatat(place->dir_fd, LOCK_NAME, &named[1], AT_SYMLINK_NOFOLLOW) == 0 &&
           held[0].st_ino == named[0].st_ino && held[0].st_dev == named[0].st_dev &&
           held[1].st_ino == named[1].st_ino;
}

static enum wio_status lock(struct wio_merge_place *place, struct wio_error *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    wio_fd_cleanup(&place->lock_fd);
    /* house: allow create: the lock of another merge serves as well as a fresh one */
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    place->lock_fd = openat(place->dir_fd, LOCK_NAME, flags, LOCK_MODE);
    if (place->lock_fd < 0) {
        return errno == ENOENT ? WIO_OK /* removed meanwhile: try again */
                               : wio_error_sys(err, place->work, "cannot make a lock in it");
    }
    /* A file system without locks: go on, only merges to one name compete. */
    if (fcntl(place->lock_fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
        return wio_error_set(err, WIO_ERR_BUSY, place->work, WIO_ERROR_NO_OFFSET,
                             "another merge makes this trace at this moment");
    }
    return WIO_OK;
}

static enum wio_status claim(struct wio_merge_place *place, struct wio_error *err)
{
    for (unsigned i = 0; i < LOCK_ATTEMPTS; i++) {
        WIO_TRY(open_work(place, err));
        enum wio_status status = place->dir_fd >= 0 ? lock(place, err) : WIO_OK;
        if (status != WIO_OK) {
            wio_fd_cleanup(&place->lock_fd); /* it is another's */
            return status;
        }
        if (place->lock_fd >= 0 && is_still_there(place)) {
            return WIO_OK;
        }
    }
    wio_fd_cleanup(&place->lock_fd);
    return wio_error_set(err, WIO_ERR_BUSY, place->work, WIO_ERROR_NO_OFFSET,
                         "other merges make this trace again and again");
}

enum wio_status wio_merge_place_begin(struct wio_merge_place *place, const char *dir,
                                      struct wio_error *err)
{
    WIO_TRY(name_places(place, dir, err));
    WIO_TRY(expect_none(place, err));
    WIO_TRY(claim(place, err));
    enum wio_status status = expect_own(place, err);
    if (status != WIO_OK) {
        wio_fd_cleanup(&place->lock_fd);
        return status;
    }
    remove_own(place);
    return WIO_OK;
}

/* ---- the end ------------------------------------------------------------------------------ */

/* Never over another one; where the file system cannot say that, as far as can be seen. */
static int rename_new(const char *from, const char *to)
{
    struct stat st;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -1;
    }
    if (lstat(to, &st) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

enum wio_status wio_merge_place_publish(struct wio_merge_place *place, struct wio_error *err)
{
    (void)fsync(place->dir_fd);
    if (rename_new(place->work, place->final) != 0) {
        int cause = errno;
        WIO_TRY(cause == EEXIST ? expect_none(place, err) : WIO_OK);
        errno = cause;
        return wio_error_sys(err, place->final, "cannot name the merged trace");
    }
    (void)unlinkat(place->dir_fd, LOCK_NAME, 0);
    wio_fd_cleanup(&place->lock_fd);
    return WIO_OK;
}

void wio_merge_place_fini(struct wio_merge_place *place)
{
    if (place->lock_fd >= 0) {
        remove_own(place);
        (void)unlinkat(place->dir_fd, LOCK_NAME, 0);
        (void)rmdir(place->work);
    }
    wio_fd_cleanup(&place->lock_fd);
    wio_fd_cleanup(&place->dir_fd);
}
