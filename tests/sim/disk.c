/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disks. Each file has its bytes as processes see them and as a crash leaves them at the least; a
 * sector that differs is dirty. A flush makes the sectors durable that were dirty when it began,
 * with what they hold when it ends; some reach the disk earlier, by chance. A crash keeps or drops
 * each dirty sector, chooses a size between the two, and keeps the changes of names since the last
 * sync up to some point.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"

enum { HISTORY = 64, SMALL = 64 << 10 };

struct wio_io_file {
    struct sim_kept kept;
    struct sim_process *process;
    struct sim_inode *inode;
    char name[SIM_NAME];
};

static enum wio_status fail(struct wio_error *err, const char *name, int number, const char *what)
{
    errno = number;
    return wio_error_sys(err, name, "%s", what);
}

/* ---- names --------------------------------------------------------------------------------- */

static void copy_names(struct sim_names *to, const struct sim_names *from)
{
    *to = (struct sim_names){.count = from->count, .capacity = from->count};
    to->list = sim_alloc(from->count * sizeof(*to->list));
    if (from->count > 0) {
        memcpy(to->list, from->list, from->count * sizeof(*to->list));
    }
}

static void free_names(struct sim_names *names)
{
    free(names->list);
    *names = (struct sim_names){0};
}

static struct sim_name *find(struct sim_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->list[i].name, name) == 0) {
            return &names->list[i];
        }
    }
    return NULL;
}

static void add_name(struct sim_names *names, const char *name, struct sim_inode *inode)
{
    if (names->count == names->capacity) {
        names->capacity = 2 * names->capacity + 8;
        names->list = realloc(names->list, names->capacity * sizeof(*names->list));
        if (names->list == NULL) {
            sim_out_of_memory();
        }
    }
    struct sim_name *entry = &names->list[names->count++];
    snprintf(entry->name, sizeof(entry->name), "%s", name);
    entry->inode = inode;
}

static void remove_name(struct sim_names *names, struct sim_name *entry)
{
    *entry = names->list[--names->count];
}

/* The oldest change becomes durable by itself when there are many. */
static void note_change(struct sim_disk *disk)
{
    if (disk->history == NULL) {
        disk->history = sim_alloc(HISTORY * sizeof(*disk->history));
    }
    if (disk->history_count == HISTORY) {
        free_names(&disk->durable);
        disk->durable = disk->history[0];
        memmove(disk->history, disk->history + 1, (HISTORY - 1) * sizeof(*disk->history));
        disk->history_count--;
    }
    copy_names(&disk->history[disk->history_count++], &disk->now);
}

static void forget_history(struct sim_disk *disk)
{
    for (size_t i = 0; i < disk->history_count; i++) {
        free_names(&disk->history[i]);
    }
    disk->history_count = 0;
}

static bool has_parent(struct sim_disk *disk, const char *name)
{
    char parent[SIM_NAME];
    const char *slash = strrchr(name, '/');
    if (slash == NULL) {
        return true;
    }
    snprintf(parent, sizeof(parent), "%.*s", (int)(slash - name), name);
    const struct sim_name *entry = find(&disk->now, parent);
    return entry != NULL && entry->inode->is_dir;
}

/* The part of `name` that is an entry of `dir`; NULL: it is not in it. */
static const char *entry_of(const char *dir, const char *name)
{
    size_t size = strlen(dir);
    const char *rest = name;
    if (size > 0) {
        if (strncmp(name, dir, size) != 0 || name[size] != '/') {
            return NULL;
        }
        rest = name + size + 1;
    }
    return strchr(rest, '/') == NULL ? rest : NULL;
}

static struct sim_inode *make_inode(struct wio_sim_node *node, bool is_dir)
{
    struct sim_inode *inode = SIM_KEEP(node->sim, struct sim_inode);
    inode->node = node;
    inode->is_dir = is_dir;
    inode->next = node->disk.inodes;
    node->disk.inodes = inode;
    return inode;
}

/* ---- bytes --------------------------------------------------------------------------------- */

static uint8_t *grown(uint8_t *bytes, size_t before, size_t after)
{
    uint8_t *more = sim_alloc(after);
    if (before > 0) {
        memcpy(more, bytes, before);
    }
    free(bytes);
    return more;
}

static void need(struct sim_inode *inode, uint64_t bytes)
{
    if (bytes <= inode->capacity) {
        return;
    }
    size_t capacity = inode->capacity > 0 ? 2 * inode->capacity : SMALL;
    capacity = capacity < bytes ? (bytes + SIM_SECTOR - 1) / SIM_SECTOR * SIM_SECTOR : capacity;
    inode->now = grown(inode->now, inode->capacity, capacity);
    inode->durable = grown(inode->durable, inode->capacity, capacity);
    inode->dirty = grown(inode->dirty, inode->capacity / SIM_SECTOR, capacity / SIM_SECTOR);
    inode->capacity = capacity;
}

static void set_size(struct sim_inode *inode, uint64_t bytes)
{
    struct sim_disk *disk = &inode->node->disk;
    if (!inode->is_removed) {
        disk->used_bytes = disk->used_bytes - inode->now_bytes + bytes;
    }
    inode->now_bytes = bytes;
}

static void mark(struct sim_inode *inode, uint64_t offset, uint64_t size)
{
    for (uint64_t i = offset / SIM_SECTOR; size > 0 && i <= (offset + size - 1) / SIM_SECTOR; i++) {
        inode->dirty[i] = 1;
    }
}

static void make_durable(struct sim_inode *inode, uint64_t sector)
{
    memcpy(inode->durable + sector * SIM_SECTOR, inode->now + sector * SIM_SECTOR, SIM_SECTOR);
    inode->dirty[sector] = 0;
}

static uint64_t sectors(const struct sim_inode *inode)
{
    uint64_t bytes =
        inode->now_bytes > inode->durable_bytes ? inode->now_bytes : inode->durable_bytes;
    return (bytes + SIM_SECTOR - 1) / SIM_SECTOR;
}

/* ---- files --------------------------------------------------------------------------------- */

static struct wio_sim *sim_of(const struct wio_io_file *file)
{
    return file->process->node->sim;
}

static enum wio_status open_file(struct wio_io *io, const char *name, unsigned flags,
                                 struct wio_io_file **file_out, struct wio_error *err)
{
    struct sim_process *process = sim_process_of(io);
    struct sim_disk *disk = &process->node->disk;
    struct sim_name *entry = find(&disk->now, name);
    bool creates = (flags & (WIO_IO_CREATE | WIO_IO_EXCLUSIVE)) != 0;
    if (process->is_dead || (entry != NULL && entry->inode->is_dir)) {
        return fail(err, name, process->is_dead ? EIO : EISDIR, "cannot open");
    }
    if (entry == NULL ? !creates || !has_parent(disk, name) : (flags & WIO_IO_EXCLUSIVE) != 0) {
        return fail(err, name, entry == NULL ? ENOENT : EEXIST, "cannot open");
    }
    struct sim_inode *inode = entry != NULL ? entry->inode : make_inode(process->node, false);
    if (entry == NULL) {
        add_name(&disk->now, name, inode);
        note_change(disk);
    }
    struct wio_io_file *file = SIM_KEEP(process->node->sim, struct wio_io_file);
    file->process = process;
    file->inode = inode;
    snprintf(file->name, sizeof(file->name), "%s", name);
    *file_out = file;
    return WIO_OK;
}

static void close_file(struct wio_io_file *file)
{
    (void)file; /* kept: a flush of an ended process may still know it */
}

static enum wio_status size_of(struct wio_io_file *file, uint64_t *bytes_out, struct wio_error *err)
{
    (void)err;
    *bytes_out = file->inode->now_bytes;
    return WIO_OK;
}

static enum wio_status read_file(struct wio_io_file *file, uint64_t offset, void *data, size_t size,
                                 size_t *got_out, struct wio_error *err)
{
    const struct sim_inode *inode = file->inode;
    struct wio_sim *sim = sim_of(file);
    if (file->process->is_dead || wio_sim_chance(sim, sim->options.read_fails)) {
        return fail(err, file->name, EIO, "cannot read");
    }
    uint64_t left = offset < inode->now_bytes ? inode->now_bytes - offset : 0;
    *got_out = left < size ? (size_t)left : size;
    if (*got_out > 0) {
        memcpy(data, inode->now + offset, *got_out);
    }
    return WIO_OK;
}

static void put(struct sim_inode *inode, uint64_t offset, const void *data, size_t size)
{
    if (size == 0) {
        return;
    }
    need(inode, offset + size);
    memcpy(inode->now + offset, data, size);
    mark(inode, offset, size);
    if (offset + size > inode->now_bytes) {
        set_size(inode, offset + size);
    }
}

/* Some dirty sector of the file reaches the disk, as the kernel writes back when it likes. */
static void write_back(struct sim_inode *inode, uint64_t offset, uint64_t size)
{
    struct wio_sim *sim = inode->node->sim;
    if (size > 0 && wio_sim_chance(sim, sim->options.write_back)) {
        uint64_t sector = (offset + sim_below(sim, size)) / SIM_SECTOR;
        make_durable(inode, sector);
        uint64_t end = (sector + 1) * SIM_SECTOR;
        end = end < inode->now_bytes ? end : inode->now_bytes;
        inode->durable_bytes = inode->durable_bytes < end ? end : inode->durable_bytes;
    }
}

static enum wio_status write_file(struct wio_io_file *file, uint64_t offset,
                                  const struct wio_io_bytes *parts, size_t count,
                                  struct wio_error *err)
{
    struct wio_sim *sim = sim_of(file);
    struct sim_inode *inode = file->inode;
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += parts[i].size;
    }
    if (file->process->is_dead) {
        return fail(err, file->name, EIO, "cannot write");
    }
    uint64_t end = offset + size;
    uint64_t more = end > inode->now_bytes ? end - inode->now_bytes : 0;
    bool is_full = more > 0 && inode->node->disk.used_bytes + more > sim->options.disk_bytes;
    bool fails = is_full || wio_sim_chance(sim, sim->options.write_fails);
    uint64_t most = fails ? sim_below(sim, size + 1) : size; /* any part may be written */
    most = is_full ? 0 : most;
    for (size_t i = 0; i < count; i++) {
        size_t part = parts[i].size < most ? parts[i].size : (size_t)most;
        put(inode, offset, parts[i].data, part);
        write_back(inode, offset, part);
        offset += part;
        most -= part;
    }
    sim->counts.no_space += is_full;
    sim->counts.write_failures += fails && !is_full;
    return fails ? fail(err, file->name, is_full ? ENOSPC : EIO, "cannot write") : WIO_OK;
}

static enum wio_status truncate_file(struct wio_io_file *file, uint64_t bytes,
                                     struct wio_error *err)
{
    struct sim_inode *inode = file->inode;
    if (file->process->is_dead) {
        return fail(err, file->name, EIO, "cannot set its size");
    }
    need(inode, bytes);
    if (bytes < inode->now_bytes) {
        memset(inode->now + bytes, 0, inode->now_bytes - bytes);
        mark(inode, bytes, inode->now_bytes - bytes);
    }
    set_size(inode, bytes);
    return WIO_OK;
}

static enum wio_status allocate(struct wio_io_file *file, uint64_t bytes, struct wio_error *err)
{
    struct sim_inode *inode = file->inode;
    uint64_t more = bytes > inode->now_bytes ? bytes - inode->now_bytes : 0;
    if (inode->node->disk.used_bytes + more > sim_of(file)->options.disk_bytes) {
        sim_of(file)->counts.no_space++;
        return fail(err, file->name, ENOSPC, "cannot allocate its blocks");
    }
    return more > 0 ? truncate_file(file, bytes, err) : WIO_OK;
}

/* ---- flushes ------------------------------------------------------------------------------- */

struct flush {
    struct sim_kept kept;
    struct wio_io_file *file;
    wio_io_done *done;
    void *context;
    uint8_t *was_dirty;
    uint64_t sectors;
};

/* Of what was dirty when it began. A failure leaves the sectors clean in the cache, and on the disk
 * as chance has it: a later flush does not know of them. */
static int flush_sectors(struct sim_inode *inode, const uint8_t *was_dirty, uint64_t count)
{
    struct wio_sim *sim = inode->node->sim;
    bool fails = wio_sim_chance(sim, sim->options.flush_fails);
    for (uint64_t i = 0; i < count; i++) {
        if (was_dirty[i] == 0 || inode->dirty[i] == 0) {
            continue;
        }
        if (!fails || sim_below(sim, 2) == 0) {
            make_durable(inode, i);
        }
        inode->dirty[i] = 0;
    }
    sim->counts.flushes++;
    sim->counts.flush_failures += fails;
    if (!fails) {
        inode->durable_bytes = inode->now_bytes;
    }
    return fails ? EIO : 0;
}

static void flushed(void *context)
{
    struct flush *flush = context;
    struct wio_io_file *file = flush->file;
    wio_io_done *done = flush->done;
    void *whose = flush->context;
    bool is_dead = file->process->is_dead;
    int failed = is_dead ? EIO : flush_sectors(file->inode, flush->was_dirty, flush->sectors);
    free(flush->was_dirty);
    sim_drop(sim_of(file), &flush->kept);
    if (!is_dead) {
        done(whose, failed == 0 ? WIO_OK : WIO_ERR_IO, failed);
    }
}

static enum wio_status flush_file(struct wio_io_file *file, wio_io_done *done, void *context)
{
    struct wio_sim *sim = sim_of(file);
    struct sim_inode *inode = file->inode;
    if (file->process->is_dead) {
        return WIO_ERR_NOMEM;
    }
    struct flush *flush = SIM_KEEP(sim, struct flush);
    flush->file = file;
    flush->done = done;
    flush->context = context;
    flush->sectors = sectors(inode);
    flush->was_dirty = sim_alloc(flush->sectors);
    if (flush->sectors > 0) {
        memcpy(flush->was_dirty, inode->dirty, flush->sectors);
    }
    uint64_t takes_ns = sim->options.flush_ns + sim_below(sim, sim->options.flush_ns);
    takes_ns *= wio_sim_chance(sim, sim->options.slow_disk) ? 1000 : 1;
    sim_at(sim, takes_ns * file->process->node->slow, "flush", flushed, flush);
    return WIO_OK;
}

static enum wio_status sync_file(struct wio_io_file *file, struct wio_error *err)
{
    struct sim_inode *inode = file->inode;
    if (file->process->is_dead) {
        return fail(err, file->name, EIO, "cannot flush");
    }
    int failed = flush_sectors(inode, inode->dirty, sectors(inode));
    return failed == 0 ? WIO_OK : fail(err, file->name, failed, "cannot flush");
}

/* The clean sectors of the cache go: what is read is what the disk has. */
static enum wio_status settle_file(struct wio_io_file *file, struct wio_error *err)
{
    struct sim_inode *inode = file->inode;
    enum wio_status status = sync_file(file, err);
    for (uint64_t i = 0; status == WIO_OK && i < sectors(inode); i++) {
        memcpy(inode->now + i * SIM_SECTOR, inode->durable + i * SIM_SECTOR, SIM_SECTOR);
    }
    return status;
}

/* ---- directories --------------------------------------------------------------------------- */

static enum wio_status make_dir(struct wio_io *io, const char *name, struct wio_error *err)
{
    struct sim_process *process = sim_process_of(io);
    struct sim_disk *disk = &process->node->disk;
    if (process->is_dead || find(&disk->now, name) != NULL || !has_parent(disk, name)) {
        return fail(err, name, has_parent(disk, name) ? EEXIST : ENOENT,
                    "cannot make the directory");
    }
    add_name(&disk->now, name, make_inode(process->node, true));
    note_change(disk);
    return WIO_OK;
}

static bool is_empty(struct sim_disk *disk, const char *dir)
{
    for (size_t i = 0; i < disk->now.count; i++) {
        if (entry_of(dir, disk->now.list[i].name) != NULL) {
            return false;
        }
    }
    return true;
}

static enum wio_status remove_entry(struct wio_io *io, const char *name, struct wio_error *err)
{
    struct sim_process *process = sim_process_of(io);
    struct sim_disk *disk = &process->node->disk;
    struct sim_name *entry = find(&disk->now, name);
    if (process->is_dead || entry == NULL) {
        return fail(err, name, ENOENT, "cannot remove");
    }
    if (entry->inode->is_dir && !is_empty(disk, name)) {
        return fail(err, name, ENOTEMPTY, "cannot remove");
    }
    disk->used_bytes -= entry->inode->now_bytes;
    entry->inode->is_removed = true;
    remove_name(&disk->now, entry);
    note_change(disk);
    return WIO_OK;
}

static enum wio_status rename_entry(struct wio_io *io, const char *from, const char *to,
                                    struct wio_error *err)
{
    struct sim_process *process = sim_process_of(io);
    struct sim_disk *disk = &process->node->disk;
    struct sim_name *entry = find(&disk->now, from);
    if (process->is_dead || entry == NULL || !has_parent(disk, to)) {
        return fail(err, from, ENOENT, "cannot rename");
    }
    struct sim_inode *inode = entry->inode;
    remove_name(&disk->now, entry);
    struct sim_name *there = find(&disk->now, to);
    if (there != NULL) {
        disk->used_bytes -= there->inode->now_bytes;
        there->inode->is_removed = true;
        remove_name(&disk->now, there);
    }
    add_name(&disk->now, to, inode);
    note_change(disk);
    return WIO_OK;
}

static enum wio_status list(struct wio_io *io, const char *dir, wio_io_each *each, void *context,
                            struct wio_error *err)
{
    struct sim_disk *disk = &sim_process_of(io)->node->disk;
    struct sim_names names;
    if (dir[0] != '\0' && find(&disk->now, dir) == NULL) {
        return fail(err, dir, ENOENT, "cannot list");
    }
    copy_names(&names, &disk->now); /* `each` may change them */
    for (size_t i = 0; i < names.count; i++) {
        const char *entry = entry_of(dir, names.list[i].name);
        if (entry != NULL && !each(context, entry)) {
            break;
        }
    }
    free_names(&names);
    return WIO_OK;
}

static enum wio_status dir_sync(struct wio_io *io, const char *dir, struct wio_error *err)
{
    struct sim_process *process = sim_process_of(io);
    struct sim_disk *disk = &process->node->disk;
    if (process->is_dead) {
        return fail(err, dir, EIO, "cannot flush the directory");
    }
    forget_history(disk);
    free_names(&disk->durable);
    copy_names(&disk->durable, &disk->now);
    return WIO_OK;
}

static enum wio_status space(struct wio_io *io, struct wio_io_space *space_out,
                             struct wio_error *err)
{
    const struct wio_sim_node *node = sim_process_of(io)->node;
    uint64_t total = node->sim->options.disk_bytes;
    uint64_t used = node->disk.used_bytes;
    (void)err;
    *space_out =
        (struct wio_io_space){.total_bytes = total, .free_bytes = used < total ? total - used : 0};
    return WIO_OK;
}

/* ---- crashes ------------------------------------------------------------------------------- */

static void crash_inode(struct sim_inode *inode)
{
    struct wio_sim *sim = inode->node->sim;
    uint64_t sizes[2] = {inode->durable_bytes, inode->now_bytes};
    for (uint64_t i = 0; i < sectors(inode); i++) {
        if (inode->dirty[i] == 0) {
            continue;
        }
        if (sim_below(sim, 2) == 0) {
            make_durable(inode, i);
            sim->counts.sectors_kept++;
        } else {
            sim->counts.sectors_lost++;
        }
        inode->dirty[i] = 0;
    }
    uint64_t low = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    uint64_t high = sizes[0] < sizes[1] ? sizes[1] : sizes[0];
    uint64_t between = low + sim_below(sim, high - low + 1);
    const uint64_t choice[4] = {sizes[0], sizes[1], between, between / SIM_SECTOR * SIM_SECTOR};
    uint64_t size = choice[sim_below(sim, 4)];
    size = size < low ? low : size;
    if (inode->capacity > 0) {
        memset(inode->durable + size, 0, inode->capacity - size);
        memcpy(inode->now, inode->durable, inode->capacity);
    }
    inode->durable_bytes = size;
    inode->now_bytes = size;
}

void sim_disk_crash(struct wio_sim_node *node)
{
    struct sim_disk *disk = &node->disk;
    size_t kept = sim_below(node->sim, disk->history_count + 1);
    node->sim->counts.names_lost += disk->history_count - kept;
    if (kept > 0) {
        free_names(&disk->durable);
        copy_names(&disk->durable, &disk->history[kept - 1]);
    }
    forget_history(disk);
    free_names(&disk->now);
    copy_names(&disk->now, &disk->durable);
    for (struct sim_inode *inode = disk->inodes; inode != NULL; inode = inode->next) {
        crash_inode(inode);
    }
    disk->used_bytes = 0;
    for (size_t i = 0; i < disk->now.count; i++) {
        disk->used_bytes += disk->now.list[i].inode->now_bytes;
        disk->now.list[i].inode->is_removed = false;
    }
}

void sim_disk_free(struct sim_disk *disk)
{
    forget_history(disk);
    free(disk->history);
    free_names(&disk->durable);
    free_names(&disk->now);
    for (struct sim_inode *inode = disk->inodes; inode != NULL; inode = inode->next) {
        free(inode->now);
        free(inode->durable);
        free(inode->dirty);
    }
}

void sim_disk_ops(struct wio_io_ops *ops)
{
    ops->file_open = open_file;
    ops->file_close = close_file;
    ops->file_size = size_of;
    ops->file_used = size_of;
    ops->file_read = read_file;
    ops->file_write = write_file;
    ops->file_truncate = truncate_file;
    ops->file_allocate = allocate;
    ops->file_flush = flush_file;
    ops->file_sync = sync_file;
    ops->file_settle = settle_file;
    ops->make_dir = make_dir;
    ops->remove = remove_entry;
    ops->rename = rename_entry;
    ops->list = list;
    ops->dir_sync = dir_sync;
    ops->space = space;
}
