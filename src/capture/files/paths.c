/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/files/paths.h"

#include <string.h>
#include <sys/mman.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"

/* Atomic: changes of the working directory in the high half, its string id in the low; id 0 = ask.
 * Lives on in a forked child, as do the strings. */
static uint64_t cwd;

static uint32_t long_directory(struct cap_thread *self)
{
    char *text = raw_mmap(CAP_PATH_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == NULL) {
        return WIO_NO_STRING;
    }
    long length = raw_getcwd(text, CAP_PATH_MAX);
    uint32_t id = length > 1 ? cap_text(self, text, (size_t)length - 1) : WIO_NO_STRING;
    (void)raw_munmap(text, CAP_PATH_MAX);
    return id;
}

static uint32_t ask_directory(struct cap_thread *self)
{
    char text[CAP_SHORT_TEXT];
    long length = raw_getcwd(text, sizeof(text));
    if (length == -ERANGE) {
        return long_directory(self);
    }
    return length > 1 ? cap_text(self, text, (size_t)length - 1) : WIO_NO_STRING;
}

/* What was asked is kept only where no thread has gone elsewhere meanwhile. */
static uint32_t working_directory(struct cap_thread *self)
{
    if (CAP_UNLIKELY(self->files.left_cwd != WIO_NO_STRING)) {
        return self->files.left_cwd;
    }
    if (CAP_UNLIKELY((self->flags & WIO_EVENT_VFORK) != 0)) {
        return ask_directory(self); /* a child of vfork may have gone elsewhere, alone */
    }
    uint64_t known = __atomic_load_n(&cwd, __ATOMIC_RELAXED);
    if (CAP_LIKELY((uint32_t)known != WIO_NO_STRING)) {
        return (uint32_t)known;
    }
    uint32_t id = ask_directory(self);
    (void)__atomic_compare_exchange_n(&cwd, &known, known | id, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    return id;
}

void cap_cwd_leave(struct cap_thread *self)
{
    self->files.left_cwd = WIO_NO_STRING;
    self->files.left_cwd = working_directory(self);
}

void cap_cwd_changed(void)
{
    if ((cap_self->flags & WIO_EVENT_VFORK) != 0) {
        return;
    }
    uint64_t known = __atomic_load_n(&cwd, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&cwd, &known, ((known >> 32) + 1) << 32, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

uint32_t cap_string(struct cap_thread *self, int dirfd, const char *path)
{
    if (path == NULL) {
        return WIO_NO_STRING;
    }
    if (path[0] == '/') {
        return cap_string_below(self, 0, path, strlen(path));
    }
    uint32_t base = dirfd == AT_FDCWD ? working_directory(self) : cap_fd_path(self, dirfd);
    return path[0] == '\0' ? base : cap_string_below(self, base, path, strlen(path));
}
