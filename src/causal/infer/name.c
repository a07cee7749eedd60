/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/infer/name.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Names below renamed directories that are looked at, of all renames together. */
#define BELOW_MOST (UINT64_C(1) << 22)
#define BELOW_PER_STRING 16u

/* ---- names and files ---- */

uint32_t wio_feed_real(const struct wio_feed *feed, uint32_t path, bool follows)
{
    const struct wio_feed_names *names = feed->params.names;
    return names == NULL || path == WIO_NO_STRING || path >= feed->params.string_count
               ? path
               : names->real(feed->params.context, path, follows);
}

uint32_t wio_feed_name_string(const struct wio_feed *feed, uint32_t name)
{
    uint32_t strings = feed->params.string_count;
    return name < strings || name >= feed->name_count ? name : feed->own_strings[name - strings];
}

/* File systems are keys of `name_of` beside hosts. */
static uint64_t own_system(uint32_t file_system)
{
    return UINT64_C(1) << 32 | file_system;
}

static enum wio_status add_own_name(struct wio_feed *feed, uint32_t string, uint32_t *name_out)
{
    uint32_t name = feed->name_count;
    uint32_t own = name - feed->params.string_count;
    if (name == WIO_FEED_NONE) {
        return WIO_ERR_UNSUPPORTED;
    }
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->names, &feed->name_room, (size_t)name + 1,
                           sizeof(*feed->names)));
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->own_strings, &feed->own_room,
                           (size_t)own + 1, sizeof(*feed->own_strings)));
    feed->names[name] = 0;
    feed->own_strings[own] = string;
    feed->name_count++;
    *name_out = name;
    return WIO_OK;
}

/* The name of a path on this host, at its first occurrence. */
static enum wio_status find_name(struct wio_feed *feed, uint32_t host, uint32_t string,
                                 uint32_t *name_out)
{
    uint32_t system = feed->params.names->file_system(feed->params.context, host, string);
    *name_out = string;
    if (system != 0) {
        *name_out = wio_pair_map_get(&feed->name_of, own_system(system), string);
    }
    if (*name_out == WIO_FEED_NONE) {
        WIO_TRY(add_own_name(feed, string, name_out));
        WIO_TRY(wio_pair_map_put(&feed->name_of, own_system(system), string, *name_out));
    }
    return wio_pair_map_put(&feed->name_of, host, string, *name_out);
}

enum wio_status wio_feed_name(struct wio_feed *feed, const struct wio_event *event, uint32_t path,
                              bool follows, uint32_t *name_out)
{
    const struct wio_feed_names *names = feed->params.names;
    uint32_t string = wio_feed_real(feed, path, follows);
    *name_out = string;
    if (names == NULL || names->file_system == NULL || string == WIO_NO_STRING ||
        string >= feed->params.string_count) {
        return WIO_OK;
    }
    uint32_t host = wio_feed_host(feed, event);
    uint32_t known = wio_pair_map_get(&feed->name_of, host, string);
    if (known == WIO_FEED_NONE) {
        return find_name(feed, host, string, name_out);
    }
    *name_out = known;
    return WIO_OK;
}

static uint64_t file_of(const struct wio_feed *feed, uint32_t name)
{
    return name < feed->name_count && feed->names[name] != 0 ? feed->names[name] : name;
}

enum wio_status wio_feed_named(struct wio_feed *feed, const struct wio_event *event, uint32_t path,
                               uint64_t *file_out)
{
    uint32_t name;
    WIO_TRY(wio_feed_name(feed, event, path, true, &name));
    *file_out = file_of(feed, name);
    return WIO_OK;
}

enum wio_status wio_feed_opened(struct wio_feed *feed, const struct wio_event *event, int32_t fd,
                                uint32_t path, uint64_t *file_out)
{
    const struct wio_feed_image *image = &feed->images[wio_feed_stream(feed, event)->process];
    uint32_t slot = fd >= 0 && (uint64_t)fd < image->fd_room ? image->fds[fd] : 0;
    const struct wio_feed_file *file =
        slot != 0 ? &feed->files[(slot & ~WIO_FEED_CLOEXEC) - 1] : NULL;
    if (file != NULL && file->path == path) {
        *file_out = file->id;
        return WIO_OK;
    }
    /* Another path: the descriptor was closed and opened without a record. */
    return wio_feed_named(feed, event, path, file_out);
}

/* ---- names that change ---- */

static void set_file(struct wio_feed *feed, uint32_t name, uint64_t file)
{
    if (name < feed->name_count && name != WIO_NO_STRING) {
        feed->names[name] = file;
    }
}

/* The name means a file that is not known yet, or none. */
static void name_anew(struct wio_feed *feed, uint32_t name)
{
    set_file(feed, name, (uint64_t)++feed->named_anew << 32 | name);
}

/* The other name is that of a FIFO, too. */
static void pass_kind(struct wio_feed *feed, uint32_t from, uint32_t to)
{
    uint32_t string = wio_feed_name_string(feed, to);
    if (string < feed->params.string_count &&
        wio_feed_path_kind(feed, wio_feed_name_string(feed, from)) == WIO_FEED_PATH_FIFO) {
        feed->paths[string] = WIO_FEED_PATH_FIFO;
    }
}

/* `from` is called `to` from now on; with `exchanges` the other way round as well. */
static void move(struct wio_feed *feed, uint32_t from, uint32_t to, bool exchanges)
{
    const uint64_t file = file_of(feed, from);
    const uint64_t other = file_of(feed, to);
    if (file == other) {
        return; /* two names of one file: rename(2) does nothing */
    }
    pass_kind(feed, from, to);
    set_file(feed, to, file);
    if (exchanges) {
        pass_kind(feed, to, from);
        set_file(feed, from, other);
    } else {
        name_anew(feed, from);
    }
}

bool wio_feed_one_below(struct wio_feed *feed)
{
    const uint64_t most = BELOW_MOST + BELOW_PER_STRING * (uint64_t)feed->params.string_count;
    bool is_left = feed->below_count < most;
    feed->below_count += is_left;
    return is_left;
}

uint64_t wio_feed_unfollowed(const struct wio_feed *feed)
{
    return feed->unfollowed;
}

/* What lies below a directory goes with it. */
static enum wio_status move_below(struct wio_feed *feed, const struct wio_event *event,
                                  bool exchanges)
{
    const struct wio_feed_names *names = feed->params.names;
    uint32_t from = wio_feed_real(feed, event->path, false);
    uint32_t to = wio_feed_real(feed, event->path2, false);
    uint32_t string;
    uint32_t moved;
    uint32_t name;
    uint32_t other;
    for (size_t i = 0; names != NULL; i++) {
        string = names->below(feed->params.context, from, to, i, &moved);
        if (string == WIO_NO_STRING) {
            break;
        }
        if (!wio_feed_one_below(feed)) {
            feed->unfollowed++;
            break;
        }
        WIO_TRY(wio_feed_name(feed, event, string, false, &name));
        if (moved == WIO_NO_STRING) {
            name_anew(feed, name);
            continue;
        }
        WIO_TRY(wio_feed_name(feed, event, moved, false, &other));
        move(feed, name, other, exchanges);
    }
    return WIO_OK;
}

/* Names below the second directory only mean other files from now on, too. */
static enum wio_status forget_below(struct wio_feed *feed, const struct wio_event *event)
{
    const struct wio_feed_names *names = feed->params.names;
    uint32_t from = wio_feed_real(feed, event->path, false);
    uint32_t to = wio_feed_real(feed, event->path2, false);
    uint32_t string;
    uint32_t moved;
    uint32_t name;
    for (size_t i = 0; names != NULL; i++) {
        string = names->below(feed->params.context, to, from, i, &moved);
        if (string == WIO_NO_STRING || !wio_feed_one_below(feed)) {
            break;
        }
        if (moved == WIO_NO_STRING) {
            WIO_TRY(wio_feed_name(feed, event, string, false, &name));
            name_anew(feed, name);
        }
    }
    return WIO_OK;
}

static enum wio_status do_rename(struct wio_feed *feed, const struct wio_event *event,
                                 uint32_t from)
{
    uint32_t to;
    bool exchanges = (event->arg[0] & RENAME_EXCHANGE) != 0;
    WIO_TRY(wio_feed_name(feed, event, event->path2, false, &to));
    move(feed, from, to, exchanges);
    WIO_TRY(move_below(feed, event, exchanges));
    return exchanges ? forget_below(feed, event) : WIO_OK;
}

static enum wio_status do_link(struct wio_feed *feed, const struct wio_event *event, uint32_t from)
{
    uint32_t to;
    WIO_TRY(wio_feed_name(feed, event, event->path2, false, &to));
    pass_kind(feed, from, to);
    set_file(feed, to, file_of(feed, from));
    return WIO_OK;
}

static bool makes_file(const struct wio_event *event)
{
    const int64_t flags = O_CREAT | O_EXCL;
    return event->op != WIO_OP_fdopen && (event->arg[0] & flags) == flags;
}

enum wio_status wio_feed_rename(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t name;
    unsigned class = wio_feed_class(event);
    bool makes_or_ends = class == WIO_CLASS_MKDIR || class == WIO_CLASS_MKNOD ||
                         class == WIO_CLASS_SYMLINK || class == WIO_CLASS_UNLINK ||
                         (class == WIO_CLASS_OPEN && makes_file(event));
    if (!makes_or_ends && class != WIO_CLASS_LINK && class != WIO_CLASS_RENAME) {
        return WIO_OK;
    }
    WIO_TRY(wio_feed_name(feed, event, event->path, false, &name));
    if (makes_or_ends) {
        name_anew(feed, name);
        return WIO_OK;
    }
    return class == WIO_CLASS_LINK ? do_link(feed, event, name) : do_rename(feed, event, name);
}

enum wio_feed_path wio_feed_path_kind(struct wio_feed *feed, uint32_t path)
{
    static const struct {
        const char *prefix;
        enum wio_feed_path kind;
    } prefixes[] = {
        {"pipe:[", WIO_FEED_PATH_PIPE},
        {"socket:[", WIO_FEED_PATH_SOCKET},
        {"eventfd:[", WIO_FEED_PATH_EVENTFD},
        {"anon_inode:[signalfd]", WIO_FEED_PATH_SIGNALFD},
        {"anon_inode:[timerfd]", WIO_FEED_PATH_TIMERFD},
        {"anon_inode:[pidfd:", WIO_FEED_PATH_PROCESS},
    };
    uint32_t string = wio_feed_real(feed, path, true);
    if (string == WIO_NO_STRING || string >= feed->params.string_count) {
        return WIO_FEED_PATH_OTHER;
    }
    if (feed->paths[string] != WIO_FEED_PATH_NEW) {
        return feed->paths[string];
    }
    const char *text = feed->params.text(feed->params.context, string);
    uint8_t kind = WIO_FEED_PATH_OTHER;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(prefixes); i++) {
        if (strncmp(text, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0) {
            kind = prefixes[i].kind;
        }
    }
    if (kind == WIO_FEED_PATH_OTHER && feed->params.is_fifo(feed->params.context, string)) {
        kind = WIO_FEED_PATH_FIFO;
    }
    feed->paths[string] = kind;
    return kind;
}
