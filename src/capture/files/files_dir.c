/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of directory entries. libc reads the entries of many calls with one getdents64: only
 * what the program asked for is recorded. */
#include "capture/files/hooks.h"

/* `path`: NULL where the call has a stream. */
static struct cap_thread *begin(struct cap_event *ev, unsigned call, uintptr_t source,
                                const char *path)
{
    struct cap_thread *self = cap_enter_path(source, call, path);
    *ev = CAP_EVENT_OF(call, source);
    ev->begin = cap_begin(self);
    return self;
}

static void name_stream(struct cap_thread *self, struct cap_event *ev, DIR *dir)
{
    ev->fd = dirfd(dir);
    ev->path = cap_fd_path(self, ev->fd);
}

CAP_EXPORT DIR *opendir(const char *path)
{
    struct cap_event ev;
    struct cap_thread *self = begin(&ev, WIO_CALL_opendir, CAP_CALLER(), path);
    DIR *dir = CAP_REAL(opendir)(path);
    if (CAP_UNLIKELY(self == NULL)) {
        return dir;
    }
    ev.end = cap_now();
    ev.error = dir == NULL ? errno : 0;
    ev.result = dir != NULL ? dirfd(dir) : -1;
    ev.path = cap_path_of(self, AT_FDCWD, path, ev.error);
    ev.offset = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    ev.size = 0;
    cap_after_open(self, &ev, NULL, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cap_emit(self, &ev);
    return dir;
}

CAP_EXPORT DIR *fdopendir(int fd)
{
    struct cap_event ev;
    struct cap_thread *self = begin(&ev, WIO_CALL_fdopendir, CAP_CALLER(), NULL);
    DIR *dir = CAP_REAL(fdopendir)(fd);
    if (CAP_UNLIKELY(self == NULL)) {
        return dir;
    }
    ev.end = cap_now();
    ev.error = dir == NULL ? errno : 0;
    ev.result = dir != NULL ? fd : -1;
    ev.fd = fd;
    ev.path = cap_fd_path(self, fd);
    ev.offset = 0;
    ev.size = 0;
    cap_emit(self, &ev);
    return dir;
}

CAP_EXPORT int closedir(DIR *dir)
{
    struct cap_event ev;
    struct cap_thread *self = begin(&ev, WIO_CALL_closedir, CAP_CALLER(), NULL);
    DIR *volatile given = dir; /* libc's header promises that it is not NULL, libc says EINVAL */
    if (given != NULL) {
        if (self != NULL) {
            name_stream(self, &ev, dir);
        }
        cap_fd_clear(dirfd(dir));
    }
    ev.begin = cap_begin(self);
    int result = CAP_REAL(closedir)(dir);
    if (CAP_UNLIKELY(self == NULL)) {
        return result;
    }
    ev.end = cap_now();
    ev.result = result;
    ev.error = result < 0 ? errno : 0;
    cap_emit(self, &ev);
    return result;
}

/* One entry: result 1; the end: 0; a failure: -1. */
static void emit_entry(struct cap_thread *self, struct cap_event *ev, DIR *dir, const char *name,
                       int type)
{
    struct cap_ext ext = CAP_EXT;
    ev->end = cap_now();
    name_stream(self, ev, dir);
    ev->result = name != NULL ? 1 : ev->error != 0 ? -1 : 0;
    if (name != NULL) {
        ext.path2 = cap_text(self, name, strlen(name));
        ext.arg[0] = type;
    }
    cap_emit_ext(self, ev, &ext);
}

/* At the end readdir leaves errno alone, so a failure shows only against a known value. The
 * program's own value is put back where nothing failed. */
#define DEFINE_READDIR(symbol, entry_type)                                                         \
    CAP_EXPORT entry_type *symbol(DIR *dir)                                                        \
    {                                                                                              \
        struct cap_event ev;                                                                       \
        struct cap_thread *self = begin(&ev, WIO_CALL_##symbol, CAP_CALLER(), NULL);               \
        if (CAP_UNLIKELY(self == NULL)) {                                                          \
            return CAP_REAL(symbol)(dir);                                                          \
        }                                                                                          \
        int before = errno;                                                                        \
        errno = 0;                                                                                 \
        entry_type *entry = CAP_REAL(symbol)(dir);                                                 \
        ev.error = entry == NULL ? errno : 0;                                                      \
        emit_entry(self, &ev, dir, entry != NULL ? entry->d_name : NULL,                           \
                   entry != NULL ? entry->d_type : 0);                                             \
        errno = ev.error != 0 ? ev.error : before;                                                 \
        return entry;                                                                              \
    }

/* cppcheck takes libc's function for one that returns int: its type comes from typeof. */
/* cppcheck-suppress CastIntegerToAddressAtReturn */
DEFINE_READDIR(readdir, struct dirent)
/* cppcheck-suppress CastIntegerToAddressAtReturn */
DEFINE_READDIR(readdir64, struct dirent64)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define DEFINE_READDIR_R(symbol, entry_type)                                                       \
    CAP_EXPORT int symbol(DIR *dir, entry_type *entry, entry_type **found)                         \
    {                                                                                              \
        struct cap_event ev;                                                                       \
        struct cap_thread *self = begin(&ev, WIO_CALL_##symbol, CAP_CALLER(), NULL);               \
        int result = CAP_REAL(symbol)(dir, entry, found);                                          \
        if (CAP_LIKELY(self != NULL)) {                                                            \
            bool has_entry = result == 0 && *found != NULL;                                        \
            ev.error = result;                                                                     \
            emit_entry(self, &ev, dir, has_entry ? (*found)->d_name : NULL,                        \
                       has_entry ? (*found)->d_type : 0);                                          \
        }                                                                                          \
        return result;                                                                             \
    }

DEFINE_READDIR_R(readdir_r, struct dirent)
DEFINE_READDIR_R(readdir64_r, struct dirent64)

#pragma GCC diagnostic pop

static void emit_move(struct cap_thread *self, struct cap_event *ev, DIR *dir)
{
    struct cap_ext ext = CAP_EXT;
    ev->end = cap_now();
    name_stream(self, ev, dir);
    cap_emit_ext(self, ev, &ext);
}

CAP_EXPORT void rewinddir(DIR *dir)
{
    struct cap_event ev;
    struct cap_thread *self = begin(&ev, WIO_CALL_rewinddir, CAP_CALLER(), NULL);
    CAP_REAL(rewinddir)(dir);
    if (CAP_LIKELY(self != NULL)) {
        emit_move(self, &ev, dir);
    }
}

CAP_EXPORT void seekdir(DIR *dir, long position)
{
    struct cap_event ev;
    struct cap_thread *self = begin(&ev, WIO_CALL_seekdir, CAP_CALLER(), NULL);
    CAP_REAL(seekdir)(dir, position);
    if (CAP_LIKELY(self != NULL)) {
        ev.offset = position;
        emit_move(self, &ev, dir);
    }
}

static void emit_scan(struct cap_thread *self, struct cap_event *ev, int at, const char *path,
                      int result)
{
    ev->end = cap_now();
    ev->result = result;
    ev->error = result < 0 ? errno : 0;
    ev->path = cap_path_of(self, at, path, ev->error);
    cap_emit(self, ev);
}

#define DEFINE_SCANDIR(symbol, entry_type)                                                         \
    CAP_EXPORT int symbol(const char *path, entry_type ***names,                                   \
                          int (*filter)(const entry_type *),                                       \
                          int (*order)(const entry_type **, const entry_type **))                  \
    {                                                                                              \
        struct cap_event ev;                                                                       \
        struct cap_thread *self = begin(&ev, WIO_CALL_##symbol, CAP_CALLER(), path);               \
        int result = CAP_REAL(symbol)(path, names, filter, order);                                 \
        if (CAP_LIKELY(self != NULL)) {                                                            \
            emit_scan(self, &ev, AT_FDCWD, path, result);                                          \
        }                                                                                          \
        return result;                                                                             \
    }

DEFINE_SCANDIR(scandir, struct dirent)
DEFINE_SCANDIR(scandir64, struct dirent64)

#define DEFINE_SCANDIRAT(symbol, entry_type)                                                       \
    CAP_EXPORT int symbol(int at, const char *path, entry_type ***names,                           \
                          int (*filter)(const entry_type *),                                       \
                          int (*order)(const entry_type **, const entry_type **))                  \
    {                                                                                              \
        struct cap_event ev;                                                                       \
        struct cap_thread *self = begin(&ev, WIO_CALL_##symbol, CAP_CALLER(), path);               \
        int result = CAP_REAL(symbol)(at, path, names, filter, order);                             \
        if (CAP_LIKELY(self != NULL)) {                                                            \
            emit_scan(self, &ev, at, path, result);                                                \
        }                                                                                          \
        return result;                                                                             \
    }

DEFINE_SCANDIRAT(scandirat, struct dirent)
DEFINE_SCANDIRAT(scandirat64, struct dirent64)
