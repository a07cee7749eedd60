/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/anonymize.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { KEY_MODE = 0600 };

static enum wio_status random_key(uint8_t key_out[WIO_HIDE_KEY_BYTES], struct wio_error *err)
{
    if (getrandom(key_out, WIO_HIDE_KEY_BYTES, 0) != (ssize_t)WIO_HIDE_KEY_BYTES) {
        return wio_error_sys(err, NULL, "cannot get random bytes");
    }
    return WIO_OK;
}

/* Under a name of its own first, so that the key is whole when it appears. */
static enum wio_status write_key(int raw, const char *file, struct wio_error *err)
{
    uint8_t key[WIO_HIDE_KEY_BYTES];
    char name[64];
    char host[64] = "";
    (void)gethostname(host, sizeof(host) - 1);
    host[24] = '\0';
    (void)snprintf(name, sizeof(name), "." WIO_HIDE_KEY_NAME ".%s.%d", host, (int)getpid());
    WIO_TRY(random_key(key, err));
    (void)unlinkat(raw, name, 0); /* of a process that died, with the same number */
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = openat(raw, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, KEY_MODE);
    if (fd < 0) {
        return wio_error_sys(err, file, "cannot make the key that hides names");
    }
    enum wio_status status = wio_io_write(fd, file, key, sizeof(key), err);
    if (status == WIO_OK && linkat(raw, name, raw, WIO_HIDE_KEY_NAME, 0) != 0 && errno != EEXIST) {
        status = wio_error_sys(err, file, "cannot make the key that hides names");
    }
    (void)unlinkat(raw, name, 0);
    return status;
}

/* Beginning and forgetting lock each other out: what forgets sees the rings of what begins. */
static enum wio_status begin(struct wio_raw *raw, const char *dir, struct wio_error *err)
{
    WIO_TRY(wio_raw_open(raw, dir, err));
    if (raw->fd < 0 || (raw->is_own && !wio_raw_lock(raw))) {
        return wio_error_set(err, WIO_ERR_BUSY, raw->path, WIO_ERROR_NO_OFFSET,
                             "cannot lock the directory to make the key that hides names");
    }
    if (faccessat(raw->fd, WIO_HIDE_KEY_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return WIO_OK;
    }
    return write_key(raw->fd, raw->path, err);
}

enum wio_status wio_hide_begin(const char *dir, struct wio_error *err)
{
    WIO_CLEANUP(wio_raw_close) struct wio_raw raw = WIO_RAW_INIT;
    return begin(&raw, dir, err);
}

enum wio_status wio_hide_load(int raw, uint8_t key_out[WIO_HIDE_KEY_BYTES], bool *found_out,
                              struct wio_error *err)
{
    *found_out = false;
    if (raw >= 0) {
        WIO_CLEANUP(wio_fd_cleanup)
        int fd = wio_io_open_regular(raw, WIO_HIDE_KEY_NAME, O_NOFOLLOW);
        *found_out = fd >= 0 || errno != ENOENT;
        if (fd >= 0 &&
            wio_io_pread(fd, WIO_HIDE_KEY_NAME, key_out, WIO_HIDE_KEY_BYTES, 0, NULL) == WIO_OK) {
            return WIO_OK;
        }
    }
    return random_key(key_out, err);
}

/* Nothing but the key, or what a death left of making one. */
static bool is_key_alone(int raw)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = wio_io_list(raw);
    const struct dirent *entry = NULL;
    if (list == NULL) {
        return false;
    }
    while ((errno = 0, entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, WIO_HIDE_KEY_NAME) != 0) {
            return false;
        }
    }
    return errno == 0;
}

static void remove_halves(int raw)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = wio_io_list(raw);
    const struct dirent *entry = NULL;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (strncmp(entry->d_name, "." WIO_HIDE_KEY_NAME ".", 5) == 0) {
            (void)unlinkat(raw, entry->d_name, 0);
        }
    }
}

void wio_hide_forget_locked(const struct wio_raw *raw)
{
    if (raw->fd < 0 || !raw->is_locked || !is_key_alone(raw->fd)) {
        return;
    }
    remove_halves(raw->fd);
    (void)unlinkat(raw->fd, WIO_HIDE_KEY_NAME, 0);
    (void)unlinkat(raw->dir, "raw", AT_REMOVEDIR);
}

void wio_hide_forget(const char *dir)
{
    WIO_CLEANUP(wio_raw_close) struct wio_raw raw = WIO_RAW_INIT;
    if (wio_raw_open(&raw, dir, NULL) == WIO_OK && wio_raw_lock(&raw)) {
        wio_hide_forget_locked(&raw);
    }
}
