/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/infer/name.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Names below renamed directories that are looked at, of all renames together. */
#define BELOW_MOST (UINT64_C(1) << 22)
#define BELOW_PER_STRING 16u

/* ---- names and files ---- */

enum wio_status wio_infer_names_init(struct wio_infer *infer)
{
    wio_pair_map_init(&infer->names.of, &infer->alloc);
    infer->names.kinds =
        wio_alloc_array(&infer->alloc, infer->params.string_count, sizeof(*infer->names.kinds));
    if (infer->names.kinds == NULL) {
        return WIO_ERR_NOMEM;
    }
    infer->names.count = infer->params.string_count;
    return wio_alloc_room(&infer->alloc, (void **)&infer->names.ids, &infer->names.room,
                          infer->params.string_count, sizeof(*infer->names.ids));
}

void wio_infer_names_fini(struct wio_infer *infer)
{
    wio_pair_map_fini(&infer->names.of);
    infer->alloc.put(infer->alloc.context, infer->names.kinds);
    infer->alloc.put(infer->alloc.context, infer->names.ids);
    infer->alloc.put(infer->alloc.context, infer->names.own_strings);
}

uint32_t wio_infer_real(const struct wio_infer *infer, uint32_t path, bool follows)
{
    const struct wio_infer_names *names = infer->params.names;
    return names == NULL || path == WIO_NO_STRING || path >= infer->params.string_count
               ? path
               : names->real(infer->params.context, path, follows);
}

uint32_t wio_infer_name_string(const struct wio_infer *infer, uint32_t name)
{
    uint32_t strings = infer->params.string_count;
    return name < strings || name >= infer->names.count ? name
                                                        : infer->names.own_strings[name - strings];
}

/* File systems are keys of `name_of` beside hosts. */
static uint64_t own_system(uint32_t file_system)
{
    return UINT64_C(1) << 32 | file_system;
}

static enum wio_status add_own_name(struct wio_infer *infer, uint32_t string, uint32_t *name_out)
{
    uint32_t name = infer->names.count;
    uint32_t own = name - infer->params.string_count;
    if (name == WIO_INFER_NONE) {
        return WIO_ERR_UNSUPPORTED;
    }
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->names.ids, &infer->names.room,
                           (size_t)name + 1, sizeof(*infer->names.ids)));
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->names.own_strings,
                           &infer->names.own_room, (size_t)own + 1,
                           sizeof(*infer->names.own_strings)));
    infer->names.ids[name] = 0;
    infer->names.own_strings[own] = string;
    infer->names.count++;
    *name_out = name;
    return WIO_OK;
}

/* The name of a path on this host, at its first occurrence. */
static enum wio_status find_name(struct wio_infer *infer, uint32_t host, uint32_t string,
                                 uint32_t *name_out)
{
    uint32_t system = infer->params.names->file_system(infer->params.context, host, string);
    *name_out = string;
    if (system != 0) {
        *name_out = wio_pair_map_get(&infer->names.of, own_system(system), string);
    }
    if (*name_out == WIO_INFER_NONE) {
        WIO_TRY(add_own_name(infer, string, name_out));
        WIO_TRY(wio_pair_map_put(&infer->names.of, own_system(system), string, *name_out));
    }
    return wio_pair_map_put(&infer->names.of, host, string, *name_out);
}

enum wio_status wio_infer_name(struct wio_infer *infer, const struct wio_event *event,
                               uint32_t path, bool follows, uint32_t *name_out)
{
    const struct wio_infer_names *names = infer->params.names;
    uint32_t string = wio_infer_real(infer, path, follows);
    *name_out = string;
    if (names == NULL || names->file_system == NULL || string == WIO_NO_STRING ||
        string >= infer->params.string_count) {
        return WIO_OK;
    }
    uint32_t host = wio_infer_host(infer, event);
    uint32_t known = wio_pair_map_get(&infer->names.of, host, string);
    if (known == WIO_INFER_NONE) {
        return find_name(infer, host, string, name_out);
    }
    *name_out = known;
    return WIO_OK;
}

static uint64_t file_of(const struct wio_infer *infer, uint32_t name)
{
    return name < infer->names.count && infer->names.ids[name] != 0 ? infer->names.ids[name] : name;
}

enum wio_status wio_infer_named(struct wio_infer *infer, const struct wio_event *event,
                                uint32_t path, uint64_t *file_out)
{
    uint32_t name;
    WIO_TRY(wio_infer_name(infer, event, path, true, &name));
    *file_out = file_of(infer, name);
    return WIO_OK;
}

enum wio_status wio_infer_opened(struct wio_infer *infer, const struct wio_event *event, int32_t fd,
                                 uint32_t path, uint64_t *file_out)
{
    const struct wio_infer_image *image =
        &infer->processes.images[wio_infer_stream(infer, event)->process];
    uint32_t slot = fd >= 0 && (uint64_t)fd < image->fd_room ? image->fds[fd] : 0;
    const struct wio_infer_file *file =
        slot != 0 ? &infer->files.items[(slot & ~WIO_INFER_CLOEXEC) - 1] : NULL;
    if (file != NULL && file->path == path) {
        *file_out = file->id;
        return WIO_OK;
    }
    /* Another path: the descriptor was closed and opened without a record. */
    return wio_infer_named(infer, event, path, file_out);
}

/* ---- names that change ---- */

static void set_file(struct wio_infer *infer, uint32_t name, uint64_t file)
{
    if (name < infer->names.count && name != WIO_NO_STRING) {
        infer->names.ids[name] = file;
    }
}

/* The name means a file that is not known yet, or none. */
static void name_anew(struct wio_infer *infer, uint32_t name)
{
    set_file(infer, name, (uint64_t)++infer->names.anew << 32 | name);
}

/* The other name is that of a FIFO, too. */
static void pass_kind(struct wio_infer *infer, uint32_t from, uint32_t to)
{
    uint32_t string = wio_infer_name_string(infer, to);
    if (string < infer->params.string_count &&
        wio_infer_path_kind(infer, wio_infer_name_string(infer, from)) == WIO_INFER_PATH_FIFO) {
        infer->names.kinds[string] = WIO_INFER_PATH_FIFO;
    }
}

/* `from` is called `to` from now on; with `exchanges` the other way round as well. */
static void move(struct wio_infer *infer, uint32_t from, uint32_t to, bool exchanges)
{
    const uint64_t file = file_of(infer, from);
    const uint64_t other = file_of(infer, to);
    if (file == other) {
        return; /* two names of one file: rename(2) does nothing */
    }
    pass_kind(infer, from, to);
    set_file(infer, to, file);
    if (exchanges) {
        pass_kind(infer, to, from);
        set_file(infer, from, other);
    } else {
        name_anew(infer, from);
    }
}

bool wio_infer_one_below(struct wio_infer *infer)
{
    const uint64_t most = BELOW_MOST + BELOW_PER_STRING * (uint64_t)infer->params.string_count;
    bool is_left = infer->names.below < most;
    infer->names.below += is_left;
    return is_left;
}

uint64_t wio_infer_unfollowed(const struct wio_infer *infer)
{
    return infer->names.unfollowed;
}

/* What lies below a directory goes with it. */
static enum wio_status move_below(struct wio_infer *infer, const struct wio_event *event,
                                  bool exchanges)
{
    const struct wio_infer_names *names = infer->params.names;
    uint32_t from = wio_infer_real(infer, event->path, false);
    uint32_t to = wio_infer_real(infer, event->path2, false);
    uint32_t string;
    uint32_t moved;
    uint32_t name;
    uint32_t other;
    for (size_t i = 0; names != NULL; i++) {
        string = names->below(infer->params.context, from, to, i, &moved);
        if (string == WIO_NO_STRING) {
            break;
        }
        if (!wio_infer_one_below(infer)) {
            infer->names.unfollowed++;
            break;
        }
        WIO_TRY(wio_infer_name(infer, event, string, false, &name));
        if (moved == WIO_NO_STRING) {
            name_anew(infer, name);
            continue;
        }
        WIO_TRY(wio_infer_name(infer, event, moved, false, &other));
        move(infer, name, other, exchanges);
    }
    return WIO_OK;
}

/* Names below the second directory only mean other files from now on, too. */
static enum wio_status forget_below(struct wio_infer *infer, const struct wio_event *event)
{
    const struct wio_infer_names *names = infer->params.names;
    uint32_t from = wio_infer_real(infer, event->path, false);
    uint32_t to = wio_infer_real(infer, event->path2, false);
    uint32_t string;
    uint32_t moved;
    uint32_t name;
    for (size_t i = 0; names != NULL; i++) {
        string = names->below(infer->params.context, to, from, i, &moved);
        if (string == WIO_NO_STRING || !wio_infer_one_below(infer)) {
            break;
        }
        if (moved == WIO_NO_STRING) {
            WIO_TRY(wio_infer_name(infer, event, string, false, &name));
            name_anew(infer, name);
        }
    }
    return WIO_OK;
}

static enum wio_status do_rename(struct wio_infer *infer, const struct wio_event *event,
                                 uint32_t from)
{
    uint32_t to;
    bool exchanges = (event->arg[0] & RENAME_EXCHANGE) != 0;
    WIO_TRY(wio_infer_name(infer, event, event->path2, false, &to));
    move(infer, from, to, exchanges);
    WIO_TRY(move_below(infer, event, exchanges));
    return exchanges ? forget_below(infer, event) : WIO_OK;
}

static enum wio_status do_link(struct wio_infer *infer, const struct wio_event *event,
                               uint32_t from)
{
    uint32_t to;
    WIO_TRY(wio_infer_name(infer, event, event->path2, false, &to));
    pass_kind(infer, from, to);
    set_file(infer, to, file_of(infer, from));
    return WIO_OK;
}

static bool makes_file(const struct wio_event *event)
{
    const int64_t flags = O_CREAT | O_EXCL;
    return event->op != WIO_OP_fdopen && (event->arg[0] & flags) == flags;
}

enum wio_status wio_infer_rename(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t name;
    unsigned class = wio_infer_class(event);
    bool makes_or_ends = class == WIO_CLASS_MKDIR || class == WIO_CLASS_MKNOD ||
                         class == WIO_CLASS_SYMLINK || class == WIO_CLASS_UNLINK ||
                         (class == WIO_CLASS_OPEN && makes_file(event));
    if (!makes_or_ends && class != WIO_CLASS_LINK && class != WIO_CLASS_RENAME) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_name(infer, event, event->path, false, &name));
    if (makes_or_ends) {
        name_anew(infer, name);
        return WIO_OK;
    }
    return class == WIO_CLASS_LINK ? do_link(infer, event, name) : do_rename(infer, event, name);
}

enum wio_infer_path wio_infer_path_kind(struct wio_infer *infer, uint32_t path)
{
    static const struct {
        const char *prefix;
        enum wio_infer_path kind;
    } prefixes[] = {
        {"pipe:[", WIO_INFER_PATH_PIPE},
        {"socket:[", WIO_INFER_PATH_SOCKET},
        {"eventfd:[", WIO_INFER_PATH_EVENTFD},
        {"anon_inode:[signalfd]", WIO_INFER_PATH_SIGNALFD},
        {"anon_inode:[timerfd]", WIO_INFER_PATH_TIMERFD},
        {"anon_inode:[pidfd:", WIO_INFER_PATH_PROCESS},
    };
    uint32_t string = wio_infer_real(infer, path, true);
    if (string == WIO_NO_STRING || string >= infer->params.string_count) {
        return WIO_INFER_PATH_OTHER;
    }
    if (infer->names.kinds[string] != WIO_INFER_PATH_NEW) {
        return infer->names.kinds[string];
    }
    const char *text = infer->params.text(infer->params.context, string);
    uint8_t kind = WIO_INFER_PATH_OTHER;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(prefixes); i++) {
        if (strncmp(text, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0) {
            kind = prefixes[i].kind;
        }
    }
    if (kind == WIO_INFER_PATH_OTHER && infer->params.is_fifo(infer->params.context, string)) {
        kind = WIO_INFER_PATH_FIFO;
    }
    infer->names.kinds[string] = kind;
    return kind;
}
