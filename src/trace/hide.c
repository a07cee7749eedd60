/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/hide.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
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

/* DIR/raw, locked where the file system can; -1 = it is not there. Beginning and forgetting lock
 * each other out: who forgets sees the rings of who begins. */
static int open_raw(const char *dir)
{
    char raw[PATH_MAX];
    if (snprintf(raw, sizeof(raw), "%s/raw", dir) >= (int)sizeof(raw)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(raw, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    return fd;
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
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = openat(raw, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, KEY_MODE);
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

enum wio_status wio_hide_begin(const char *dir, struct wio_error *err)
{
    char file[PATH_MAX + 16];
    (void)snprintf(file, sizeof(file), "%s/raw/" WIO_HIDE_KEY_NAME, dir);
    WIO_CLEANUP(wio_fd_cleanup) int raw = open_raw(dir);
    if (raw < 0) {
        return wio_error_sys(err, file, "cannot make the key that hides names");
    }
    if (faccessat(raw, WIO_HIDE_KEY_NAME, F_OK, 0) == 0) {
        return WIO_OK;
    }
    return write_key(raw, file, err);
}

enum wio_status wio_hide_load(const char *dir, uint8_t key_out[WIO_HIDE_KEY_BYTES], bool *found_out,
                              struct wio_error *err)
{
    char file[PATH_MAX + 16];
    (void)snprintf(file, sizeof(file), "%s/raw/" WIO_HIDE_KEY_NAME, dir);
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *found_out = fd >= 0 || (errno != ENOENT && errno != ENOTDIR);
    if (fd >= 0 && wio_io_pread(fd, file, key_out, WIO_HIDE_KEY_BYTES, 0, NULL) == WIO_OK) {
        return WIO_OK;
    }
    return random_key(key_out, err);
}

/* Nothing but the key, or what a death left of making one. */
static bool is_key_alone(int raw)
{
    int copy = openat(raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = copy < 0 ? NULL : fdopendir(copy);
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
    int copy = openat(raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry = NULL;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (strncmp(entry->d_name, "." WIO_HIDE_KEY_NAME ".", 5) == 0) {
            (void)unlinkat(raw, entry->d_name, 0);
        }
    }
}

void wio_hide_forget(const char *dir)
{
    char path[PATH_MAX + 16];
    WIO_CLEANUP(wio_fd_cleanup) int raw = open_raw(dir);
    if (raw < 0 || !is_key_alone(raw)) {
        return;
    }
    remove_halves(raw);
    (void)unlinkat(raw, WIO_HIDE_KEY_NAME, 0);
    (void)snprintf(path, sizeof(path), "%s/raw", dir);
    (void)rmdir(path);
}
