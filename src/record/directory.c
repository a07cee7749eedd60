/* SPDX-License-Identifier: Apache-2.0 */
#include "record/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "record/old_trace.h"
#include "seal/anonymize.h"

#define MILLISECOND_NS UINT64_C(1000000)

enum {
    DIRECTORY_MODE = 0777,   /* less the umask */
    LOCK_MODE = 0600,        /* a lock that other users could take would stop this one */
    SIBLING_WAIT_MS = 10000, /* for the first one to write its begin segment: NFS may be slow */
    SIBLING_POLL_MS = 20,
    LOCK_ATTEMPTS = 3000, /* a minute: others hold it while they remove an old trace */
    LOCK_POLL_MS = 20
};

void wio_directory_default_name(const char *program, char name_out[WIO_DIRECTORY_NAME_BYTES])
{
    const char *slash = strrchr(program, '/');
    snprintf(name_out, WIO_DIRECTORY_NAME_BYTES, "./%.200s-%d.whyio",
             slash != NULL && slash[1] != '\0' ? slash + 1 : program, (int)getpid());
}

static enum wio_status refuse(const char *path, const char *reason, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_USAGE, path, WIO_ERROR_NO_OFFSET, "%s", reason);
}

/* *made_out: it was not there before. */
static enum wio_status make_directory(const char *path, bool *made_out, struct wio_error *err)
{
    *made_out = mkdir(path, DIRECTORY_MODE) == 0;
    if (!*made_out && errno != EEXIST) {
        return wio_error_sys(err, path, "cannot make the trace directory");
    }
    struct stat st;
    if (stat(path, &st) != 0) {
        return wio_error_sys(err, path, "cannot use as trace directory");
    }
    if (!S_ISDIR(st.st_mode)) {
        return refuse(path, "exists and is not a directory: choose another name for the trace",
                      err);
    }
    return WIO_OK;
}

/* Wait until the directory shows whose it is. */
static enum wio_status join_siblings(const char *path, const char *launch, struct wio_error *err)
{
    for (unsigned waited_ms = 0; launch[0] != '\0' && waited_ms < SIBLING_WAIT_MS;
         waited_ms += SIBLING_POLL_MS) {
        struct wio_old_trace found;
        WIO_TRY(wio_old_trace_scan(path, launch, &found, err));
        if (found.has_siblings) {
            return WIO_OK;
        }
        if (found.has_trace || found.has_other) {
            break;
        }
        wio_clock_sleep_ns(SIBLING_POLL_MS * MILLISECOND_NS);
    }
    return refuse(path, "exists: choose another directory, or --force replaces an old trace", err);
}

/* An exclusive lock on DIR/lock. Its holder removes the file, so after getting the lock look
 * whether this is still the file of that name. */
static enum wio_status try_lock(const char *lock_path, int *lock_out, struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup)
    /* house: allow create: the file of a sibling is locked as well as a fresh one */
    int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, LOCK_MODE);
    if (fd < 0) {
        return wio_error_sys(err, lock_path, "cannot make the lock of the trace directory");
    }
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
        wio_clock_sleep_ns(LOCK_POLL_MS * MILLISECOND_NS);
        return WIO_OK;
    }
    /* A file system without locks: go on, only recorders of one launch with --force compete. */
    struct stat held;
    struct stat named;
    if (fstat(fd, &held) == 0 && stat(lock_path, &named) == 0 && held.st_ino == named.st_ino) {
        *lock_out = fd;
        fd = -1;
    }
    return WIO_OK;
}

static enum wio_status lock_directory(struct wio_directory *dir, struct wio_error *err)
{
    char lock_path[PATH_MAX + 8];
    snprintf(lock_path, sizeof(lock_path), "%s/lock", dir->path);
    for (unsigned i = 0; i < LOCK_ATTEMPTS && dir->lock < 0; i++) {
        WIO_TRY(try_lock(lock_path, &dir->lock, err));
    }
    if (dir->lock < 0) {
        return wio_error_set(err, WIO_ERR_BUSY, lock_path, WIO_ERROR_NO_OFFSET,
                             "cannot lock the trace directory: another process holds the lock");
    }
    return WIO_OK;
}

static enum wio_status replace_old(struct wio_directory *dir, const char *launch,
                                   struct wio_error *err)
{
    WIO_TRY(lock_directory(dir, err));
    struct wio_old_trace found;
    WIO_TRY(wio_old_trace_scan(dir->path, launch, &found, err));
    if (found.has_siblings) {
        return WIO_OK;
    }
    if (wio_old_trace_is_held(dir->path)) {
        return refuse(
            dir->path,
            "is being recorded at this moment: --force replaces only a trace that is done", err);
    }
    if (found.has_trace) {
        return wio_old_trace_remove(dir->path, err);
    }
    if (found.has_other) {
        return refuse(dir->path, "holds no trace, but other files: --force removes only a trace",
                      err);
    }
    return WIO_OK;
}

static void name_segments(struct wio_directory *dir, const char *host, const char *launch)
{
    snprintf(dir->name, sizeof(dir->name), "%.64s.%d.%llu%s%s", host, (int)getpid(),
             (unsigned long long)wio_clock_mono_ns(), launch[0] != '\0' ? "." : "", launch);
}

static enum wio_status claim(struct wio_directory *dir, const char *path, bool force,
                             const char *launch, struct wio_error *err)
{
    WIO_TRY(make_directory(path, &dir->is_made, err));
    if (realpath(path, dir->path) == NULL) {
        return wio_error_sys(err, path, "cannot use as trace directory");
    }
    if (force) {
        return replace_old(dir, launch, err);
    }
    return dir->is_made ? WIO_OK : join_siblings(path, launch, err);
}

enum wio_status wio_directory_claim(struct wio_directory *dir, const char *path, bool force,
                                    const char *host, const char *launch, struct wio_error *err)
{
    *dir = (struct wio_directory){.lock = -1, .rings_lock = -1};
    name_segments(dir, host, launch);
    enum wio_status status = claim(dir, path, force, launch, err);
    if (status != WIO_OK) {
        wio_directory_undo(dir);
    }
    return status;
}

enum wio_status wio_directory_join(struct wio_directory *dir, const char *path, const char *host,
                                   const char *launch, struct wio_error *err)
{
    *dir = (struct wio_directory){.lock = -1, .rings_lock = -1};
    name_segments(dir, host, launch);
    if (realpath(path, dir->path) != NULL) {
        return WIO_OK;
    }
    dir->path[0] = '\0';
    return wio_error_sys(err, path,
                         "expected the trace directory of this run on a file system "
                         "that all hosts share");
}

void wio_directory_settle(struct wio_directory *dir)
{
    if (dir->lock >= 0) {
        char lock_path[PATH_MAX + 8];
        snprintf(lock_path, sizeof(lock_path), "%s/lock", dir->path);
        (void)unlink(lock_path);
        wio_fd_cleanup(&dir->lock);
    }
}

void wio_directory_undo(struct wio_directory *dir)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s.begin.seg", dir->path, dir->name);
    if (dir->path[0] != '\0') {
        (void)unlink(path);
        wio_directory_remove_rings(dir);
    }
    wio_directory_settle(dir);
    if (dir->is_made) {
        wio_hide_forget(dir->path);
        (void)rmdir(dir->path); /* not empty where siblings joined: then it is theirs */
    }
}
