/* SPDX-License-Identifier: Apache-2.0 */
/* The part of record/directory.h about where rings are while the program runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "record/directory.h"
#include "record/network.h"
#include "record/rings_probe.h"
#include "seal/rings/raw.h"
#include "trace/format/trust.h"

enum { RAW_ATTEMPTS = 100 };

static enum wio_status raw_path(const struct wio_directory *dir, char out[PATH_MAX],
                                struct wio_error *err)
{
    if (snprintf(out, PATH_MAX, "%s/raw/%s", dir->path, dir->name) >= PATH_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, dir->path, WIO_ERROR_NO_OFFSET,
                             "expected a shorter name for the trace directory");
    }
    return WIO_OK;
}

/* DIR/raw/<name>, a directory or a link to `target`. A sibling that ends removes an empty raw/,
 * so both steps are tried again. */
static enum wio_status make_entry(const struct wio_directory *dir, const char *entry,
                                  const char *target, struct wio_error *err)
{
    char raw[PATH_MAX + 8];
    snprintf(raw, sizeof(raw), "%s/raw", dir->path);
    for (unsigned i = 0; i < RAW_ATTEMPTS; i++) {
        if (mkdir(raw, WIO_RAW_MODE) != 0 && errno != EEXIST) {
            return wio_error_sys(err, raw, "cannot make the directory of the rings");
        }
        int result = target != NULL ? symlink(target, entry) : mkdir(entry, WIO_RINGS_MODE);
        if (result == 0) {
            return WIO_OK;
        }
        if (errno != ENOENT) {
            break;
        }
    }
    return wio_error_sys(err, entry, "cannot make the directory of the rings");
}

/* A fresh directory in `base`. */
static enum wio_status make_local(const char *base, char out[PATH_MAX], struct wio_error *err)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/" WIO_LOCAL_RINGS_PREFIX "%u-XXXXXX", base,
                 (unsigned)getuid()) >= PATH_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, base, WIO_ERROR_NO_OFFSET,
                             "expected a shorter name for the directory of the rings");
    }
    if (mkdtemp(path) == NULL || realpath(path, out) == NULL) {
        return wio_error_sys(err, base, "cannot make a directory for the rings");
    }
    return WIO_OK;
}

/* NULL: nothing local may be written. */
static const char *find_local_base(void)
{
    const char *const places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(places); i++) {
        if (places[i] != NULL && places[i][0] == '/' && access(places[i], W_OK) == 0 &&
            !wio_is_on_network(places[i])) {
            return places[i];
        }
    }
    return NULL;
}

/* Note in the local directory which raw/ leads to it: a reader follows no other link. */
static enum wio_status bind_local(const struct wio_directory *dir, struct wio_error *err)
{
    char raw[PATH_MAX + 8];
    snprintf(raw, sizeof(raw), "%s/raw", dir->path);
    WIO_CLEANUP(wio_fd_cleanup)
    int from = open(raw, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    WIO_CLEANUP(wio_fd_cleanup)
    int to = open(dir->rings, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (from < 0 || to < 0) {
        return wio_error_sys(err, from < 0 ? raw : dir->rings,
                             "cannot open the directory of the rings");
    }
    return wio_trust_bind(from, raw, to, err);
}

/* R-RING-10: processes of other users make rings in root's directory; what others made there is
 * told from these when they are sealed. */
static void open_to_users(const struct wio_directory *dir)
{
    if (geteuid() == 0) {
        (void)fchmod(dir->rings_lock, WIO_OPEN_RINGS_MODE);
    }
}

/* Make the directory once, and the entry in raw/ that leads to it. */
static enum wio_status make_rings(struct wio_directory *dir, const char *base, const char *entry,
                                  struct wio_error *err)
{
    if (base == NULL) {
        snprintf(dir->rings, sizeof(dir->rings), "%s", entry);
        return make_entry(dir, entry, NULL, err);
    }
    WIO_TRY(make_local(base, dir->rings, err));
    dir->is_local = true;
    enum wio_status status = make_entry(dir, entry, dir->rings, err);
    bool is_linked = status == WIO_OK;
    status = is_linked ? bind_local(dir, err) : status;
    if (status != WIO_OK && wio_ring_dir_remove_local(dir->rings) && is_linked) {
        (void)unlink(entry);
    }
    return status;
}

/* Take the lock that keeps others from clearing the directory away. False where that happened
 * before we got it. On a file system without locks none is needed: no process gets one. */
static bool lock_rings(struct wio_directory *dir)
{
    dir->rings_lock = open(dir->rings, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir->rings_lock < 0) {
        return false;
    }
    (void)flock(dir->rings_lock, LOCK_EX);
    struct stat held;
    struct stat named;
    if (fstat(dir->rings_lock, &held) == 0 && stat(dir->rings, &named) == 0 &&
        held.st_ino == named.st_ino) {
        return true;
    }
    wio_fd_cleanup(&dir->rings_lock);
    return false;
}

static enum wio_status make_locked(struct wio_directory *dir, const char *base, const char *entry,
                                   struct wio_error *err)
{
    for (unsigned i = 0; i < RAW_ATTEMPTS; i++) {
        WIO_TRY(make_rings(dir, base, entry, err));
        if (lock_rings(dir)) {
            open_to_users(dir);
            return WIO_OK;
        }
        (void)unlink(entry); /* a link to what is gone; a directory is gone itself */
    }
    return wio_error_sys(err, dir->rings, "cannot lock the directory of the rings");
}

/* Nothing stays of a directory where rings cannot be. */
static enum wio_status make_usable(struct wio_directory *dir, const char *base, const char *entry,
                                   struct wio_error *err)
{
    WIO_TRY(make_locked(dir, base, entry, err));
    enum wio_status status = wio_rings_probe(dir->rings, err);
    if (status != WIO_OK) {
        wio_directory_remove_rings(dir);
        dir->rings[0] = '\0';
        dir->is_local = false;
    }
    return status;
}

enum wio_status wio_directory_make_rings(struct wio_directory *dir, const char *ring_dir,
                                         struct wio_error *err)
{
    char entry[PATH_MAX];
    WIO_TRY(raw_path(dir, entry, err));
    struct wio_error reason = WIO_ERROR_INIT;
    const char *base = ring_dir;
    if (base == NULL && wio_is_on_network(dir->path)) {
        base = find_local_base();
    }
    enum wio_status status = make_usable(dir, base, entry, &reason);
    if (status == WIO_ERR_UNSUPPORTED && base == NULL && (base = find_local_base()) != NULL) {
        status = make_usable(dir, base, entry, &reason);
    }
    if (status != WIO_OK && err != NULL) {
        *err = reason;
    }
    return status;
}

void wio_directory_remove_rings(struct wio_directory *dir)
{
    char raw[PATH_MAX + 8];
    char entry[PATH_MAX];
    bool is_gone = dir->rings[0] != '\0' && wio_ring_dir_remove_local(dir->rings);
    if (is_gone && dir->is_local && raw_path(dir, entry, NULL) == WIO_OK) {
        (void)unlink(entry);
    }
    wio_fd_cleanup(&dir->rings_lock);
    snprintf(raw, sizeof(raw), "%s/raw", dir->path);
    (void)rmdir(raw); /* not empty while siblings run */
}
