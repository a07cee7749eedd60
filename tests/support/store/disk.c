/* SPDX-License-Identifier: Apache-2.0 */
#include "support/store/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

enum event_kind { WRITE, CUT, FLUSHED, FLUSH_FAILED, LINK, UNLINK, DIR_FLUSHED, NOTE };

struct event {
    enum event_kind kind;
    uint32_t node;
    uint64_t offset; /* WRITE, CUT: bytes; FLUSHED: of what came before that event; NOTE: value */
    uint8_t *data;
    size_t size;
    char name[64]; /* LINK, UNLINK; DIR_FLUSHED: the directory */
};

struct node {
    uint8_t *data;
    size_t size;
    size_t room;
};

struct entry {
    char name[64];
    uint32_t node;
};

struct wio_io_file {
    struct disk *disk;
    uint32_t node;
};

struct wio_io_timer {
    struct disk *disk;
    void (*fire)(void *context);
    void *context;
    bool is_set;
    struct wio_io_timer *next;
};

struct flush {
    uint32_t node;
    uint64_t begun; /* events before are concerned */
    wio_io_done *done;
    void *context;
    int sys_errno;
    struct flush *next;
};

struct disk {
    struct wio_io io;
    uint64_t random;
    struct event *events;
    size_t event_count;
    size_t event_room;
    struct node *nodes;
    uint32_t node_count;
    struct entry *entries;
    size_t entry_count;
    char dirs[320][32];
    size_t dir_count;
    struct flush *flushes; /* in their order */
    struct wio_io_timer *timers;
    bool is_held;
    bool is_stopped;
    uint64_t limit;
    uint64_t file_limit;
    struct disk_fault fault;
    uint64_t calls;
    uint64_t flush_count;
};

static struct disk *disk_of(struct wio_io *io)
{
    return (struct disk *)io;
}

static void *must(void *memory)
{
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static struct event *record(struct disk *disk, enum event_kind kind, uint32_t node)
{
    if (disk->event_count == disk->event_room) {
        disk->event_room = disk->event_room * 2 + 64;
        disk->events = must(reallocarray(disk->events, disk->event_room, sizeof(*disk->events)));
    }
    struct event *event = &disk->events[disk->event_count++];
    *event = (struct event){.kind = kind, .node = node};
    return event;
}

static enum wio_status failure(int sys_errno, const char *what, struct wio_error *err)
{
    errno = sys_errno;
    return wio_error_sys(err, "disk", "%s", what);
}

/* The errno of this write, flush or allocation; 0: it goes well. */
static int next_fault(struct disk *disk)
{
    disk->calls++;
    if (disk->is_stopped) {
        return EIO;
    }
    if (disk->fault.at == 0 || --disk->fault.at > 0) {
        return 0;
    }
    disk->fault.at = disk->fault.is_lasting ? 1 : 0;
    return disk->fault.sys_errno;
}

/* ---- nodes and names ---- */

static struct entry *find(const struct disk *disk, const char *name)
{
    for (size_t i = 0; i < disk->entry_count; i++) {
        if (strcmp(disk->entries[i].name, name) == 0) {
            return &disk->entries[i];
        }
    }
    return NULL;
}

static void link_name(struct disk *disk, const char *name, uint32_t node)
{
    struct entry *entry = find(disk, name);
    if (entry == NULL) {
        disk->entries =
            must(reallocarray(disk->entries, disk->entry_count + 1, sizeof(*disk->entries)));
        entry = &disk->entries[disk->entry_count++];
        (void)snprintf(entry->name, sizeof(entry->name), "%s", name);
    }
    entry->node = node;
}

static void unlink_name(struct disk *disk, const char *name)
{
    struct entry *entry = find(disk, name);
    if (entry != NULL) {
        *entry = disk->entries[--disk->entry_count];
    }
}

static uint32_t new_node(struct disk *disk)
{
    disk->nodes = must(reallocarray(disk->nodes, disk->node_count + 1, sizeof(*disk->nodes)));
    disk->nodes[disk->node_count] = (struct node){0};
    return disk->node_count++;
}

static void resize(struct node *node, size_t size)
{
    if (size > node->room) {
        node->room = size > 2 * node->room ? size : 2 * node->room;
        node->data = must(realloc(node->data, node->room));
    }
    if (size > node->size) {
        memset(node->data + node->size, 0, size - node->size);
    }
    node->size = size;
}

static void put(struct node *node, uint64_t offset, const uint8_t *data, size_t size)
{
    if (size > 0) {
        resize(node, node->size > offset + size ? node->size : (size_t)offset + size);
        memcpy(node->data + offset, data, size);
    }
}

static uint64_t used_of(const struct node *node)
{
    return (node->size + 4095) / 4096 * 4096;
}

static uint64_t used(const struct disk *disk)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < disk->entry_count; i++) {
        sum += used_of(&disk->nodes[disk->entries[i].node]);
    }
    return sum;
}

/* ---- the seam: files ---- */

static enum wio_status file_open(struct wio_io *io, const char *name, unsigned flags,
                                 struct wio_io_file **file_out, struct wio_error *err)
{
    struct disk *disk = disk_of(io);
    struct entry *entry = find(disk, name);
    if (entry != NULL && (flags & WIO_IO_EXCLUSIVE) != 0) {
        return failure(EEXIST, name, err);
    }
    if (entry == NULL && (flags & WIO_IO_CREATE) == 0) {
        return failure(ENOENT, name, err);
    }
    struct wio_io_file *file = must(calloc(1, sizeof(*file)));
    file->disk = disk;
    if (entry != NULL) {
        file->node = entry->node;
    } else {
        file->node = new_node(disk);
        link_name(disk, name, file->node);
        struct event *event = record(disk, LINK, file->node);
        (void)snprintf(event->name, sizeof(event->name), "%s", name);
    }
    *file_out = file;
    return WIO_OK;
}

static void file_close(struct wio_io_file *file)
{
    free(file);
}

static enum wio_status file_size(struct wio_io_file *file, uint64_t *bytes_out,
                                 struct wio_error *err)
{
    (void)err;
    *bytes_out = file->disk->nodes[file->node].size;
    return WIO_OK;
}

static enum wio_status file_used(struct wio_io_file *file, uint64_t *bytes_out,
                                 struct wio_error *err)
{
    (void)err;
    *bytes_out = used_of(&file->disk->nodes[file->node]);
    return WIO_OK;
}

static enum wio_status file_read(struct wio_io_file *file, uint64_t offset, void *data, size_t size,
                                 size_t *got_out, struct wio_error *err)
{
    const struct node *node = &file->disk->nodes[file->node];
    (void)err;
    *got_out = 0;
    if (offset < node->size) {
        *got_out = node->size - offset < size ? node->size - (size_t)offset : size;
        memcpy(data, node->data + offset, *got_out);
    }
    return WIO_OK;
}

static void write_part(struct wio_io_file *file, uint64_t offset, const void *data, size_t size)
{
    struct disk *disk = file->disk;
    if (size == 0 || disk->is_stopped) {
        return;
    }
    struct event *event = record(disk, WRITE, file->node);
    event->offset = offset;
    event->size = size;
    event->data = must(malloc(size));
    memcpy(event->data, data, size);
    put(&disk->nodes[file->node], offset, data, size);
}

/* The node would have so many bytes more than the disk has room for. */
static bool is_full(const struct wio_io_file *file, uint64_t end)
{
    const struct disk *disk = file->disk;
    uint64_t before = used_of(&disk->nodes[file->node]);
    uint64_t after = (end + 4095) / 4096 * 4096;
    return disk->limit != 0 && after > before && used(disk) - before + after > disk->limit;
}

static enum wio_status file_write(struct wio_io_file *file, uint64_t offset,
                                  const struct wio_io_bytes *parts, size_t count,
                                  struct wio_error *err)
{
    struct disk *disk = file->disk;
    bool is_short = disk->fault.is_short_write;
    int sys_errno = next_fault(disk);
    uint64_t end = offset;
    for (size_t i = 0; i < count; i++) {
        end += parts[i].size;
    }
    sys_errno = sys_errno == 0 && is_full(file, end) ? ENOSPC : sys_errno;
    for (size_t i = 0; i < count; i++) {
        if (sys_errno == 0) {
            write_part(file, offset, parts[i].data, parts[i].size);
        } else if (is_short) {
            write_part(file, offset, parts[i].data, parts[i].size / 2);
            break;
        }
        offset += parts[i].size;
    }
    return sys_errno == 0 ? WIO_OK : failure(sys_errno, "write", err);
}

static enum wio_status file_truncate(struct wio_io_file *file, uint64_t bytes,
                                     struct wio_error *err)
{
    (void)err;
    if (!file->disk->is_stopped) {
        record(file->disk, CUT, file->node)->offset = bytes;
        resize(&file->disk->nodes[file->node], (size_t)bytes);
    }
    return WIO_OK;
}

static enum wio_status file_allocate(struct wio_io_file *file, uint64_t bytes,
                                     struct wio_error *err)
{
    int sys_errno = next_fault(file->disk);
    if (sys_errno == 0 && is_full(file, bytes)) {
        sys_errno = ENOSPC;
    }
    if (sys_errno != 0) {
        return failure(sys_errno, "allocate", err);
    }
    return file->disk->nodes[file->node].size < bytes ? file_truncate(file, bytes, err) : WIO_OK;
}

static void end_flush(struct disk *disk, uint32_t node, uint64_t begun, int sys_errno)
{
    if (!disk->is_stopped) {
        record(disk, sys_errno == 0 ? FLUSHED : FLUSH_FAILED, node)->offset = begun;
        disk->flush_count++;
    }
}

static enum wio_status file_flush(struct wio_io_file *file, wio_io_done *done, void *context)
{
    struct flush **last = &file->disk->flushes;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = must(calloc(1, sizeof(**last)));
    **last = (struct flush){file->node, file->disk->event_count, done,
                            context,    next_fault(file->disk),  NULL};
    return WIO_OK;
}

static enum wio_status file_sync(struct wio_io_file *file, struct wio_error *err)
{
    int sys_errno = next_fault(file->disk);
    end_flush(file->disk, file->node, file->disk->event_count, sys_errno);
    return sys_errno == 0 ? WIO_OK : failure(sys_errno, "flush", err);
}

/* ---- the seam: names ---- */

static enum wio_status make_dir(struct wio_io *io, const char *name, struct wio_error *err)
{
    struct disk *disk = disk_of(io);
    for (size_t i = 0; i < disk->dir_count; i++) {
        if (strcmp(disk->dirs[i], name) == 0) {
            return failure(EEXIST, name, err);
        }
    }
    (void)snprintf(disk->dirs[disk->dir_count++], sizeof(disk->dirs[0]), "%s", name);
    return WIO_OK;
}

static enum wio_status remove_name(struct wio_io *io, const char *name, struct wio_error *err)
{
    struct disk *disk = disk_of(io);
    if (disk->is_stopped || find(disk, name) == NULL) {
        return failure(ENOENT, name, err);
    }
    struct event *event = record(disk, UNLINK, 0);
    (void)snprintf(event->name, sizeof(event->name), "%s", name);
    unlink_name(disk, name);
    return WIO_OK;
}

static enum wio_status rename_name(struct wio_io *io, const char *from, const char *to,
                                   struct wio_error *err)
{
    struct disk *disk = disk_of(io);
    struct entry *entry = find(disk, from);
    if (entry == NULL) {
        return failure(ENOENT, from, err);
    }
    uint32_t node = entry->node;
    struct event *event = record(disk, LINK, node);
    (void)snprintf(event->name, sizeof(event->name), "%s", to);
    link_name(disk, to, node);
    return remove_name(io, from, err);
}

static size_t dir_bytes(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? (size_t)(slash - name) : 0;
}

static bool is_in(const char *name, const char *dir)
{
    return dir_bytes(name) == strlen(dir) && strncmp(name, dir, strlen(dir)) == 0;
}

static enum wio_status list(struct wio_io *io, const char *dir, wio_io_each *each, void *context,
                            struct wio_error *err)
{
    struct disk *disk = disk_of(io);
    size_t skip = dir[0] != '\0' ? strlen(dir) + 1 : 0;
    size_t count = disk->entry_count;
    struct entry *entries = must(calloc(count + 1, sizeof(*entries)));
    if (count > 0) {
        memcpy(entries, disk->entries, count * sizeof(*entries));
    }
    (void)err;
    for (size_t i = 0; i < count; i++) {
        if (is_in(entries[i].name, dir) && !each(context, entries[i].name + skip)) {
            break;
        }
    }
    free(entries);
    return WIO_OK;
}

static enum wio_status dir_sync(struct wio_io *io, const char *dir, struct wio_error *err)
{
    struct disk *disk = disk_of(io);
    int sys_errno = next_fault(disk);
    if (sys_errno != 0) {
        return failure(sys_errno, "flush a directory", err);
    }
    struct event *event = record(disk, DIR_FLUSHED, 0);
    (void)snprintf(event->name, sizeof(event->name), "%s", dir);
    event->offset = disk->event_count - 1;
    return WIO_OK;
}

static enum wio_status space(struct wio_io *io, struct wio_io_space *space_out,
                             struct wio_error *err)
{
    const struct disk *disk = disk_of(io);
    uint64_t total = disk->limit != 0 ? disk->limit : UINT64_C(1) << 40;
    (void)err;
    *space_out =
        (struct wio_io_space){total, total > used(disk) ? total - used(disk) : 0, disk->file_limit};
    return WIO_OK;
}

/* ---- the seam: time and chance ---- */

static uint64_t now_ns(struct wio_io *io)
{
    return disk_of(io)->calls * 1000;
}

static void fill_random(struct wio_io *io, void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)wio_test_random(&disk_of(io)->random);
    }
}

static struct wio_io_timer *timer_create_(struct wio_io *io, void (*fire)(void *context),
                                          void *context)
{
    struct wio_io_timer *timer = must(calloc(1, sizeof(*timer)));
    *timer = (struct wio_io_timer){disk_of(io), fire, context, false, disk_of(io)->timers};
    disk_of(io)->timers = timer;
    return timer;
}

static void timer_set(struct wio_io_timer *timer, uint64_t after_ns)
{
    (void)after_ns;
    timer->is_set = true;
}

static void timer_stop(struct wio_io_timer *timer)
{
    timer->is_set = false;
}

static void timer_destroy(struct wio_io_timer *timer)
{
    if (timer == NULL) {
        return;
    }
    for (struct wio_io_timer **at = &timer->disk->timers; *at != NULL; at = &(*at)->next) {
        if (*at == timer) {
            *at = timer->next;
            break;
        }
    }
    free(timer);
}

static const struct wio_io_ops disk_ops = {
    .now_ns = now_ns,
    .unix_ns = now_ns,
    .random = fill_random,
    .timer_create = timer_create_,
    .timer_set = timer_set,
    .timer_stop = timer_stop,
    .timer_destroy = timer_destroy,
    .file_open = file_open,
    .file_close = file_close,
    .file_size = file_size,
    .file_read = file_read,
    .file_write = file_write,
    .file_truncate = file_truncate,
    .file_allocate = file_allocate,
    .file_flush = file_flush,
    .file_sync = file_sync,
    .file_used = file_used,
    .make_dir = make_dir,
    .remove = remove_name,
    .rename = rename_name,
    .list = list,
    .dir_sync = dir_sync,
    .space = space,
};

/* ---- the test's side ---- */

struct disk *disk_create(uint64_t seed)
{
    struct disk *disk = must(calloc(1, sizeof(*disk)));
    disk->io.ops = &disk_ops;
    disk->random = seed;
    return disk;
}

void disk_destroy(struct disk *disk)
{
    for (size_t i = 0; i < disk->event_count; i++) {
        free(disk->events[i].data);
    }
    for (uint32_t i = 0; i < disk->node_count; i++) {
        free(disk->nodes[i].data);
    }
    while (disk->flushes != NULL) {
        struct flush *flush = disk->flushes;
        disk->flushes = flush->next;
        free(flush);
    }
    free(disk->events);
    free(disk->nodes);
    free(disk->entries);
    free(disk);
}

struct wio_io *disk_io(struct disk *disk)
{
    return &disk->io;
}

static bool turn_timers(struct disk *disk)
{
    for (struct wio_io_timer *timer = disk->timers; timer != NULL; timer = timer->next) {
        if (timer->is_set) {
            timer->is_set = false;
            timer->fire(timer->context);
            return true; /* the list may have changed */
        }
    }
    return false;
}

static bool turn_flushes(struct disk *disk)
{
    struct flush *flush = disk->flushes;
    if (flush == NULL || disk->is_held) {
        return false;
    }
    disk->flushes = flush->next;
    end_flush(disk, flush->node, flush->begun, flush->sys_errno);
    flush->done(flush->context, flush->sys_errno == 0 ? WIO_OK : WIO_ERR_IO, flush->sys_errno);
    free(flush);
    return true;
}

bool disk_turn(struct disk *disk)
{
    bool did_any = false;
    while (turn_timers(disk) || turn_flushes(disk)) {
        did_any = true;
    }
    return did_any;
}

void disk_hold_flushes(struct disk *disk, bool is_held)
{
    disk->is_held = is_held;
}

void disk_limit(struct disk *disk, uint64_t bytes)
{
    disk->limit = bytes;
}

void disk_limit_file(struct disk *disk, uint64_t bytes)
{
    disk->file_limit = bytes;
}

void disk_set_fault(struct disk *disk, struct disk_fault fault)
{
    disk->fault = fault;
}

uint64_t disk_calls(const struct disk *disk)
{
    return disk->calls;
}

uint64_t disk_flushes(const struct disk *disk)
{
    return disk->flush_count;
}

void disk_stop(struct disk *disk)
{
    disk->is_stopped = true;
}

void disk_note(struct disk *disk, uint64_t value)
{
    record(disk, NOTE, 0)->offset = value;
}

size_t disk_events(const struct disk *disk)
{
    return disk->event_count;
}

uint64_t disk_noted(const struct disk *disk, size_t at)
{
    uint64_t noted = 0;
    for (size_t i = 0; i < at; i++) {
        if (disk->events[i].kind == NOTE && disk->events[i].offset > noted) {
            noted = disk->events[i].offset;
        }
    }
    return noted;
}

bool disk_is_change(const struct disk *disk, size_t at)
{
    return disk->events[at].kind != NOTE;
}

uint8_t *disk_bytes(struct disk *disk, const char *name, size_t *size_out)
{
    const struct entry *entry = find(disk, name);
    *size_out = entry != NULL ? disk->nodes[entry->node].size : 0;
    return entry != NULL ? disk->nodes[entry->node].data : NULL;
}

/* ---- crashes ---- */

/* The flushes of one node, or of one directory's names, that ended before the crash. */
struct deciders {
    size_t *events; /* the latest first */
    size_t count;
};

/*
 * Was event `i` flushed? The earliest flush that concerns it decides: one that failed says nothing
 * of what came before it, and none that comes later says anything of that. Called from the last
 * event to the first.
 */
static bool is_durable(const struct disk *disk, const struct deciders *deciders, size_t i)
{
    for (size_t n = deciders->count; n > 0; n--) {
        const struct event *flush = &disk->events[deciders->events[n - 1]];
        bool is_about = flush->kind != DIR_FLUSHED || is_in(disk->events[i].name, flush->name);
        if (is_about && flush->offset > i) {
            return flush->kind != FLUSH_FAILED;
        }
    }
    return false;
}

static void add_decider(struct deciders *deciders, size_t event)
{
    deciders->events =
        must(reallocarray(deciders->events, deciders->count + 1, sizeof(*deciders->events)));
    deciders->events[deciders->count++] = event;
}

/* For each event before `at`, whether it is durable; free() it. */
static bool *find_durable(const struct disk *disk, size_t at)
{
    struct deciders *of_node = must(calloc(disk->node_count + 1, sizeof(*of_node)));
    struct deciders *names = &of_node[disk->node_count];
    bool *durable = must(calloc(at + 1, sizeof(*durable)));
    for (size_t i = at; i-- > 0;) {
        const struct event *event = &disk->events[i];
        bool is_name = event->kind == LINK || event->kind == UNLINK;
        if (event->kind == FLUSHED || event->kind == FLUSH_FAILED) {
            add_decider(&of_node[event->node], i);
        } else if (event->kind == DIR_FLUSHED) {
            add_decider(names, i);
        } else if (event->kind != NOTE) {
            durable[i] = is_durable(disk, is_name ? names : &of_node[event->node], i);
        }
    }
    for (uint32_t i = 0; i <= disk->node_count; i++) {
        free(of_node[i].events);
    }
    free(of_node);
    return durable;
}

/* One sector of a write that was not flushed. */
static void tear_sector(struct node *node, uint64_t offset, const uint8_t *data, size_t size,
                        uint64_t *random, enum disk_tear tear)
{
    uint64_t dice = wio_test_random(random) % 8;
    uint8_t garbage[DISK_SECTOR];
    if (tear == DISK_NONE_SURVIVE || (tear != DISK_ALL_SURVIVE && dice < 3)) {
        return;
    }
    if (tear == DISK_GARBAGE && dice == 3) {
        size = (size_t)(wio_test_random(random) % (size + 1));
    }
    if (tear == DISK_GARBAGE && dice == 4) {
        /* the whole sector, also bytes beside those that were written, within the file */
        uint64_t begin = offset / DISK_SECTOR * DISK_SECTOR;
        for (size_t i = 0; i < DISK_SECTOR; i++) {
            garbage[i] = (uint8_t)wio_test_random(random);
        }
        uint64_t end = begin + DISK_SECTOR;
        end = end > node->size && end > offset + size ? offset + size : end;
        end = end > node->size && node->size > offset + size ? node->size : end;
        put(node, begin, garbage, (size_t)(end - begin));
        return;
    }
    put(node, offset, data, size);
}

static void tear_write(struct node *node, const struct event *event, uint64_t *random,
                       enum disk_tear tear)
{
    for (size_t from = 0; from < event->size;) {
        uint64_t offset = event->offset + from;
        size_t size = DISK_SECTOR - (size_t)(offset % DISK_SECTOR);
        size = size < event->size - from ? size : event->size - from;
        tear_sector(node, offset, event->data + from, size, random, tear);
        from += size;
    }
}

static bool survives(uint64_t *random, enum disk_tear tear)
{
    return tear == DISK_ALL_SURVIVE || (tear != DISK_NONE_SURVIVE && wio_test_random(random) % 2);
}

static void redo_event(struct disk *out, const struct event *event, bool was_flushed,
                       uint64_t *random, enum disk_tear tear)
{
    switch (event->kind) {
    case WRITE:
        if (was_flushed) {
            put(&out->nodes[event->node], event->offset, event->data, event->size);
        } else {
            tear_write(&out->nodes[event->node], event, random, tear);
        }
        break;
    case CUT:
        if (was_flushed || survives(random, tear)) {
            resize(&out->nodes[event->node], (size_t)event->offset);
        }
        break;
    case LINK:
        if (was_flushed || survives(random, tear)) {
            link_name(out, event->name, event->node);
        }
        break;
    case UNLINK:
        if (was_flushed || survives(random, tear)) {
            unlink_name(out, event->name);
        }
        break;
    case FLUSHED:
    case FLUSH_FAILED:
    case DIR_FLUSHED:
    case NOTE:
        break;
    }
}

struct disk *disk_crash(const struct disk *disk, size_t at, uint64_t seed, enum disk_tear tear)
{
    struct disk *out = disk_create(seed);
    memcpy(out->dirs, disk->dirs, sizeof(out->dirs));
    out->dir_count = disk->dir_count;
    for (uint32_t i = 0; i < disk->node_count; i++) {
        (void)new_node(out);
    }
    bool *durable = find_durable(disk, at);
    for (size_t i = 0; i < at; i++) {
        redo_event(out, &disk->events[i], durable[i], &seed, tear);
    }
    free(durable);
    /* What has survived is on the disk: it is where a second crash begins from. */
    for (size_t i = 0; i < out->entry_count; i++) {
        const struct entry *entry = &out->entries[i];
        const struct node *node = &out->nodes[entry->node];
        struct event *event = record(out, LINK, entry->node);
        (void)snprintf(event->name, sizeof(event->name), "%s", entry->name);
        event = record(out, WRITE, entry->node);
        event->size = node->size;
        event->data = must(malloc(node->size + 1));
        memcpy(event->data, node->data != NULL ? node->data : (uint8_t *)"", node->size);
        record(out, FLUSHED, entry->node)->offset = out->event_count;
        event = record(out, DIR_FLUSHED, 0);
        event->offset = out->event_count;
        (void)snprintf(event->name, sizeof(event->name), "%.*s", (int)dir_bytes(entry->name),
                       entry->name);
    }
    return out;
}
