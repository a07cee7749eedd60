/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/changes/change_files.h"

#include "base/cleanup.h"

static enum wio_status end_one(struct wio_change_files *files, uint32_t place)
{
    const uint32_t last = --files->count;
    enum wio_status status = files->gather->end(files->arg, place, last);
    files->open[place] = files->open[last];
    return status;
}

static enum wio_status end_all(struct wio_change_files *files)
{
    while (files->count > 0) {
        WIO_TRY(end_one(files, files->count - 1));
    }
    return WIO_OK;
}

static uint32_t find(const struct wio_change_files *files, uint32_t path)
{
    uint32_t i = 0;
    while (i < files->count && files->open[i].path != path) {
        i++;
    }
    return i;
}

static enum wio_status end_of(struct wio_change_files *files, uint32_t path)
{
    uint32_t place = find(files, path);
    return place < files->count ? end_one(files, place) : WIO_OK;
}

static enum wio_status make_room(struct wio_change_files *files)
{
    uint32_t oldest = 0;
    if (files->count < files->most) {
        return WIO_OK;
    }
    for (uint32_t i = 1; i < files->count; i++) {
        oldest = files->open[i].used < files->open[oldest].used ? i : oldest;
    }
    return end_one(files, oldest);
}

static enum wio_status see_transfer(struct wio_change_files *files, const struct wio_event *event,
                                    uint64_t bytes, bool is_write)
{
    uint32_t place = find(files, event->path);
    bool is_new = place == files->count;
    if (!is_new && (files->open[place].is_write != is_write ||
                    !files->gather->fits(files->arg, place, event, bytes))) {
        WIO_TRY(end_one(files, place));
        is_new = true;
    }
    if (is_new) {
        WIO_TRY(make_room(files));
        place = files->count++;
        files->open[place].path = event->path;
        files->open[place].is_write = is_write;
    }
    files->open[place].used = files->now++;
    return files->gather->add(files->arg, place, event, bytes, is_new);
}

static enum wio_status see_other(struct wio_change_files *files, const struct wio_event *event)
{
    switch (wio_change_ends(&files->giving, event)) {
    case WIO_CHANGE_ENDS_ALL:
        return end_all(files);
    case WIO_CHANGE_ENDS_FILE:
        WIO_TRY(end_of(files, event->path2));
        return end_of(files, event->path);
    case WIO_CHANGE_ENDS_NOTHING:
        break;
    }
    return WIO_OK;
}

static enum wio_status see(void *arg, const struct wio_event *event)
{
    struct wio_change_files *files = arg;
    bool is_write;
    if (event->stream != files->stream) {
        WIO_TRY(end_all(files));
        files->stream = event->stream;
    }
    if (wio_change_gives(&files->giving, files->work, event)) {
        WIO_TRY(end_all(files));
    }
    uint64_t bytes = wio_change_moves(files->work->program, event, &is_write);
    if (bytes == 0 || event->offset < 0 || !wio_change_has(files->work->change->scope, event)) {
        return see_other(files, event);
    }
    return see_transfer(files, event, bytes, is_write);
}

enum wio_status wio_change_files_run(struct wio_change_files *files)
{
    files->stream = UINT32_MAX;
    files->giving = (struct wio_change_giving){.stream = UINT32_MAX};
    WIO_TRY(wio_change_read(files->work, false, NULL, 0, see, files));
    return end_all(files);
}

bool wio_change_files_is_write(const struct wio_change_files *files, uint32_t place)
{
    return files->open[place].is_write;
}
