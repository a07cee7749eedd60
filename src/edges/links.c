/* SPDX-License-Identifier: Apache-2.0 */
/* Paths without symbolic links: two names of one file are one, as two spellings of it are. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "edges/paths.h"
#include "ops/calls.h"

/* As Linux has it; more go round. */
#define HOPS_MOST 40u
#define PATH_ROOM 4096u

/* ---- the links ---- */

static enum wio_status add_link(struct wio_join_links *links, const struct wio_trace *trace,
                                uint32_t path, uint32_t target)
{
    size_t bytes;
    uint32_t id;
    const char *text = wio_trace_string(trace, path, &bytes);
    if (text[0] != '/' || target == WIO_NO_STRING || bytes >= PATH_ROOM ||
        wio_strtab_find(&links->links, text, bytes) != 0) {
        return WIO_OK;
    }
    void *targets = links->targets;
    WIO_TRY(wio_strtab_add(&links->links, text, bytes, &id));
    WIO_TRY(wio_make_room(&targets, sizeof(*links->targets), &links->target_room, id + 1));
    links->targets = targets;
    links->targets[id] = target;
    return WIO_OK;
}

/* What is something else in the end was no link for long. */
static enum wio_status find_sealed(struct wio_join_links *links, const struct wio_trace *trace,
                                   struct wio_map *others)
{
    for (uint32_t i = 0; i < wio_trace_file_count(trace); i++) {
        const struct wio_file_info *file = wio_trace_file(trace, i);
        if (file->type == WIO_FILE_SYMLINK) {
            WIO_TRY(add_link(links, trace, file->path, file->target));
        } else if (file->type != WIO_FILE_NONE && file->type != WIO_FILE_UNKNOWN) {
            WIO_TRY(wio_map_put(others, file->path, 1));
        }
    }
    return WIO_OK;
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status find_made(struct wio_join_links *links, const struct wio_trace *trace,
                                 const struct wio_map *others, struct wio_error *err)
{
    const uint16_t op = WIO_OP_symlink;
    const struct wio_filter filter = {
        .struct_size = sizeof(filter), .order = WIO_ORDER_STREAM, .ops = &op, .op_count = 1};
    struct wio_cursor *cursor WIO_CLEANUP(cursor_cleanup) = NULL;
    const struct wio_event *event;
    struct wio_op_total total;
    enum wio_status status;
    wio_trace_op_total(trace, op, &total);
    if (total.count == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        if (event->error == 0 && wio_map_get(others, event->path) == NULL) {
            WIO_TRY(add_link(links, trace, event->path, event->path2));
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

/* ---- where they lead ---- */

static uint32_t link_at(const struct wio_join_links *links, const char *path, size_t bytes)
{
    return wio_strtab_find(&links->links, path, bytes);
}

/* The first link on the way to the path, not the path itself; its length, or 0. */
static size_t first_link(const struct wio_join_links *links, const char *path, uint32_t *link_out)
{
    const char *slash = strchr(path + 1, '/');
    for (; slash != NULL; slash = strchr(slash + 1, '/')) {
        *link_out = link_at(links, path, (size_t)(slash - path));
        if (*link_out != 0) {
            return (size_t)(slash - path);
        }
    }
    return 0;
}

/* "/a/./b//../c" becomes "/a/c". */
static void tidy(char *path)
{
    char *out = path;
    const char *in = path;
    while (*in != '\0') {
        in += strspn(in, "/");
        size_t length = strcspn(in, "/");
        if (length == 2 && in[0] == '.' && in[1] == '.') {
            while (out > path && *--out != '/') {
            }
        } else if (length > 0 && !(length == 1 && in[0] == '.')) {
            *out++ = '/';
            memmove(out, in, length);
            out += length;
        }
        in += length;
    }
    if (out == path) {
        *out++ = '/';
    }
    *out = '\0';
}

/* The first `length` bytes, a link, by what it leads to. False where that is too long. */
static bool substitute(const struct wio_join_links *links, const struct wio_trace *trace,
                       char path[PATH_ROOM], size_t length, uint32_t link)
{
    char next[PATH_ROOM];
    size_t bytes;
    const char *text = wio_trace_string(trace, links->targets[link], &bytes);
    size_t parent = length - 1;
    while (parent > 0 && path[parent] != '/') {
        parent--;
    }
    size_t kept = text[0] == '/' ? 0 : parent + 1;
    size_t rest = strlen(path + length);
    if (kept + bytes + rest >= PATH_ROOM) {
        return false;
    }
    memcpy(next, path, kept);
    memcpy(next + kept, text, bytes);
    memcpy(next + kept + bytes, path + length, rest + 1);
    tidy(next);
    memcpy(path, next, strlen(next) + 1);
    return true;
}

/* False where the path has no links, or they lead nowhere. */
static bool resolve(const struct wio_join_links *links, const struct wio_trace *trace, bool follows,
                    char path[PATH_ROOM])
{
    bool is_changed = false;
    for (unsigned hops = 0; hops < HOPS_MOST; hops++) {
        uint32_t link = follows ? link_at(links, path, strlen(path)) : 0;
        size_t length = link != 0 ? strlen(path) : first_link(links, path, &link);
        if (length == 0) {
            return is_changed;
        }
        if (!substitute(links, trace, path, length, link)) {
            return false;
        }
        is_changed = true;
    }
    return false;
}

/* ---- which strings are meant ---- */

/* The texts first: real[follows] holds numbers of `reals`, 0 where the string has no links. */
static enum wio_status find_texts(struct wio_join_links *links, const struct wio_trace *trace,
                                  bool follows)
{
    char path[PATH_ROOM];
    for (uint32_t s = 1; s < wio_trace_string_count(trace); s++) {
        size_t bytes;
        const char *text = wio_trace_string(trace, s, &bytes);
        if (text[0] != '/' || bytes >= PATH_ROOM) {
            continue;
        }
        memcpy(path, text, bytes + 1);
        if (resolve(links, trace, follows, path)) {
            WIO_TRY(wio_strtab_add(&links->reals, path, strlen(path), &links->real[follows][s]));
        }
    }
    return WIO_OK;
}

/* For each text of `reals` the string that is it, else the first one that leads there. */
static void choose(struct wio_join_links *links, const struct wio_trace *trace, uint32_t *chosen)
{
    uint32_t strings = wio_trace_string_count(trace);
    for (uint32_t s = 1; s < strings; s++) {
        size_t bytes;
        const char *text = wio_trace_string(trace, s, &bytes);
        uint32_t real = text[0] == '/' ? wio_strtab_find(&links->reals, text, bytes) : 0;
        chosen[real] = real != 0 ? s : 0;
    }
    for (unsigned follows = 0; follows < 2; follows++) {
        for (uint32_t s = 1; s < strings; s++) {
            uint32_t real = links->real[follows][s];
            if (real != 0 && chosen[real] == 0) {
                chosen[real] = s;
                links->text[s] = real;
            }
            links->real[follows][s] = real != 0 ? chosen[real] : s;
        }
    }
}

static enum wio_status find_real(struct wio_join_links *links, const struct wio_trace *trace)
{
    size_t strings = (size_t)wio_trace_string_count(trace) + 1;
    links->text = calloc(strings, sizeof(*links->text));
    links->real[0] = calloc(strings, sizeof(*links->real[0]));
    links->real[1] = calloc(strings, sizeof(*links->real[1]));
    if (links->text == NULL || links->real[0] == NULL || links->real[1] == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(find_texts(links, trace, false));
    WIO_TRY(find_texts(links, trace, true));
    uint32_t *chosen = calloc((size_t)links->reals.count + 1, sizeof(*chosen));
    if (chosen == NULL) {
        return WIO_ERR_NOMEM;
    }
    choose(links, trace, chosen);
    free(chosen);
    return WIO_OK;
}

enum wio_status wio_join_links_init(struct wio_join_links *links, const struct wio_trace *trace,
                                    struct wio_error *err)
{
    WIO_CLEANUP(wio_map_fini) struct wio_map others = {0};
    enum wio_status status = find_sealed(links, trace, &others);
    status = status == WIO_OK ? find_made(links, trace, &others, err) : status;
    if (status == WIO_OK && links->links.count > 0) {
        status = find_real(links, trace);
    }
    return status == WIO_ERR_NOMEM
               ? wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET, "no memory to find edges")
               : status;
}

void wio_join_links_fini(struct wio_join_links *links)
{
    wio_strtab_fini(&links->links);
    wio_strtab_fini(&links->reals);
    free(links->targets);
    free(links->text);
    free(links->real[0]);
    free(links->real[1]);
    *links = (struct wio_join_links){0};
}

uint32_t wio_join_links_real(const struct wio_join_links *links, uint32_t string, bool follows)
{
    return links->real[follows] == NULL ? string : links->real[follows][string];
}

const char *wio_join_links_text(const struct wio_join_links *links, const struct wio_trace *trace,
                                uint32_t string)
{
    uint32_t real = links->text == NULL ? 0 : links->text[string];
    return real != 0 ? wio_strtab_get(&links->reals, real, NULL)
                     : wio_trace_string(trace, string, NULL);
}
