/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/accounts/patterns.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/account.h"
#include "ops/calls.h"
#include "ops/lookup.h"
#include "ops/storage_path.h"

#define BLOCK 4096u
#define FAR (1u << 20)    /* a step forward of more than this is no stride */
#define STALL_NS 5000000u /* a stalled request takes at least so long .. */
#define STALL_TIMES 8u    /* .. and so many times the mean of those before */
#define STALL_AFTER 8u    /* .. of which there are so many */

enum wio_status wio_patterns_init(struct wio_patterns *patterns)
{
    uint32_t streams = wio_trace_stream_count(patterns->trace);
    uint32_t files = wio_trace_file_count(patterns->trace);

    patterns->path_count = wio_trace_string_count(patterns->trace) + 1;
    patterns->last_use = calloc((size_t)streams + 1, sizeof(*patterns->last_use));
    patterns->is_not_a_file = calloc((size_t)patterns->path_count + 1, 1);
    patterns->is_data = calloc((size_t)patterns->path_count + 1, 1);
    patterns->is_made_up = calloc((size_t)patterns->path_count + 1, 1);
    WIO_TRY(wio_descriptors_create(patterns->trace, &patterns->descriptors));
    WIO_TRY(wio_beside_init(&patterns->beside, streams));
    if (patterns->last_use == NULL || patterns->is_not_a_file == NULL ||
        patterns->is_data == NULL || patterns->is_made_up == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        patterns->ops[op] = (struct wio_op_facts){.kind = (uint8_t)wio_account_kind(op),
                                                  .cls = (uint8_t)wio_op_class(op),
                                                  .is_buffered = wio_account_is_buffered(op)};
    }
    wio_account_find_channels(patterns->trace, patterns->is_not_a_file);
    for (uint32_t i = 1; i < patterns->path_count; i++) {
        const char *text = wio_trace_string(patterns->trace, i, NULL);
        patterns->is_made_up[i] = strncmp(text, "/proc/", 6) == 0 || strncmp(text, "/sys/", 5) == 0;
        patterns->is_data[i] = wio_path_is_storage(text);
    }
    for (uint32_t i = 0; i < files; i++) {
        const struct wio_file_info *info = wio_trace_file(patterns->trace, i);
        WIO_TRY(wio_map_put(&patterns->infos, info->path, i));
        if (info->path >= patterns->path_count) {
            continue;
        }
        if (info->type == WIO_FILE_DIRECTORY) {
            patterns->is_data[info->path] = 0;
        }
    }
    return WIO_OK;
}

void wio_patterns_fini(struct wio_patterns *patterns)
{
    wio_descriptors_destroy(patterns->descriptors);
    wio_beside_fini(&patterns->beside);
    free(patterns->files);
    free(patterns->uses);
    free(patterns->last_use);
    free(patterns->is_not_a_file);
    free(patterns->is_data);
    free(patterns->is_made_up);
    wio_map_fini(&patterns->use_index);
    wio_map_fini(&patterns->infos);
}

/* ---- rows ---- */

static enum wio_status find_file(struct wio_patterns *patterns, uint32_t path,
                                 struct wio_file_row **row_out)
{
    void *array = patterns->files;
    const uint64_t *info;

    if (path >= patterns->file_capacity) {
        WIO_TRY(wio_grow(&array, sizeof(*patterns->files), &patterns->file_capacity, path + 1));
        patterns->files = array;
    }
    *row_out = &patterns->files[path];
    if ((*row_out)->ops == 0) {
        info = wio_map_get(&patterns->infos, path);
        (*row_out)->info = info != NULL ? (uint32_t)*info : UINT32_MAX;
        (*row_out)->first_reader = (*row_out)->first_writer = UINT32_MAX;
    }
    return WIO_OK;
}

static enum wio_status find_use(struct wio_patterns *patterns, const struct wio_event *event,
                                struct wio_thread_file **use_out)
{
    uint64_t key = (uint64_t)event->stream << 32 | event->path;
    uint32_t last = patterns->last_use[event->stream];
    void *array = patterns->uses;
    const uint64_t *known;

    if (last != 0 && patterns->uses[last - 1].path == event->path) {
        *use_out = &patterns->uses[last - 1];
        return WIO_OK;
    }
    known = wio_map_get(&patterns->use_index, key);
    if (known == NULL) {
        WIO_TRY(wio_grow(&array, sizeof(*patterns->uses), &patterns->use_capacity,
                         patterns->use_count + 1));
        patterns->uses = array;
        patterns->uses[patterns->use_count] =
            (struct wio_thread_file){.path = event->path, .stream = event->stream};
        WIO_TRY(wio_map_put(&patterns->use_index, key, patterns->use_count));
        last = ++patterns->use_count;
    } else {
        last = (uint32_t)*known + 1;
    }
    patterns->last_use[event->stream] = last;
    *use_out = &patterns->uses[last - 1];
    return WIO_OK;
}

static uint32_t process_of(const struct wio_patterns *patterns, uint32_t stream)
{
    return wio_trace_stream(patterns->trace, stream)->process;
}

static void see_sharing(const struct wio_patterns *patterns, struct wio_file_row *file,
                        uint32_t *first, uint32_t stream)
{
    if (*first == UINT32_MAX) {
        *first = stream;
    } else if (*first != stream && process_of(patterns, *first) != process_of(patterns, stream)) {
        file->is_shared = true;
    }
}

/* ---- bytes that become others ---- */

static void see_change(struct wio_file_row *file, uint64_t begin, uint64_t end)
{
    bool is_first = file->changes == 0;

    wio_spans_remove(&file->read, begin, end);
    file->changed_begin = is_first || begin < file->changed_begin ? begin : file->changed_begin;
    file->changed_end = is_first || end > file->changed_end ? end : file->changed_end;
    file->changes++;
}

/* What was read and written under the path is no more what is there. */
static void see_other_file(struct wio_file_row *file)
{
    file->read = (struct wio_spans){.begin = {0}};
    file->past_bytes += file->extent;
    file->extent = 0;
    file->generation++;
}

/* Before a transfer: the thread's spans, without what others have changed since its last one. */
static void catch_up(const struct wio_file_row *file, struct wio_thread_file *use)
{
    if (use->generation != file->generation) {
        use->read = use->written = (struct wio_spans){.begin = {0}};
        use->has_next = false;
    } else if (use->changes != file->changes) {
        wio_spans_remove(&use->read, file->changed_begin, file->changed_end);
    }
    use->generation = file->generation;
    use->changes = file->changes;
}

static void see_size(const struct wio_event *event, struct wio_file_row *file)
{
    if (event->error != 0 || (event->op != WIO_OP_ftruncate && event->op != WIO_OP_truncate)) {
        return;
    }
    if (event->size == 0) {
        see_other_file(file);
    } else if (event->size < file->extent) {
        see_change(file, event->size, UINT64_MAX);
        file->extent = event->size;
    }
}

/* Both names of a rename, the name of what is removed. */
static enum wio_status see_names(struct wio_patterns *patterns, const struct wio_event *event)
{
    struct wio_file_row *file;

    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(find_file(patterns, event->path, &file));
    see_other_file(file);
    if (event->path2 != 0 && event->path2 < patterns->path_count) {
        WIO_TRY(find_file(patterns, event->path2, &file));
        see_other_file(file);
        file->ops += file->ops == 0;
    }
    return WIO_OK;
}

/* ---- transfers ---- */

static void see_stall(struct wio_step_pattern *pattern, uint64_t ns)
{
    uint64_t usual = pattern->usual;

    if (usual >= STALL_AFTER && ns >= STALL_NS && ns / STALL_TIMES > pattern->usual_ns / usual) {
        pattern->stalled++;
        pattern->stalled_ns += ns;
        return;
    }
    pattern->usual++;
    pattern->usual_ns += ns;
}

static void see_place(const struct wio_event *event, struct wio_step_pattern *pattern,
                      struct wio_thread_file *use, uint64_t bytes)
{
    uint64_t offset = (uint64_t)event->offset;
    bool is_backward = use->has_next && offset < use->next;
    bool is_far = use->has_next && offset > use->next + FAR + 4 * event->size;

    if (is_backward || is_far) {
        pattern->random++;
        pattern->random_ns += event->dur_ns;
    }
    pattern->misaligned += offset % BLOCK != 0 || bytes % BLOCK != 0;
    use->next = offset + bytes;
    use->has_next = true;
}

static void see_read(struct wio_patterns *patterns, const struct wio_event *event,
                     struct wio_step_pattern *pattern, struct wio_thread_file *use,
                     struct wio_file_row *file, uint64_t bytes)
{
    uint64_t begin = (uint64_t)event->offset;
    uint64_t end = begin + bytes;
    uint64_t again = wio_spans_covered(&use->read, begin, end);
    uint64_t own = wio_spans_covered(&use->written, begin, end);

    if (again > 0 && 2 * again >= own) { /* writing them anew makes bytes unread */
        pattern->again_bytes += again;
        pattern->again_ns += event->dur_ns;
    } else if (own > 0) {
        pattern->own_bytes += own;
        pattern->own_ns += event->dur_ns;
        pattern->own_turns += use->has_written;
    } else {
        uint64_t others = wio_spans_covered(&file->read, begin, end);
        pattern->others_bytes += others;
        pattern->others_ns += others > 0 ? event->dur_ns : 0;
    }
    wio_spans_add(&use->read, begin, end);
    wio_spans_add(&file->read, begin, end);
    file->read_begin = file->read_end == 0 || begin < file->read_begin ? begin : file->read_begin;
    file->read_end = end > file->read_end ? end : file->read_end;
    file->extent = end > file->extent ? end : file->extent;
    see_sharing(patterns, file, &file->first_reader, event->stream);
    file->is_read_by_several =
        file->is_read_by_several ||
        process_of(patterns, file->first_reader) != process_of(patterns, event->stream);
}

static void see_write(struct wio_patterns *patterns, const struct wio_event *event,
                      struct wio_step_pattern *pattern, struct wio_thread_file *use,
                      struct wio_file_row *file, uint64_t bytes)
{
    uint64_t begin = (uint64_t)event->offset;
    uint64_t end = begin + bytes;
    bool cuts_a_block = begin % BLOCK != 0 || end % BLOCK != 0;

    if (cuts_a_block && end < file->extent && begin != use->next) {
        pattern->partial++;
        pattern->partial_ns += event->dur_ns;
    }
    int flags = wio_descriptors_flags(patterns->descriptors, event);
    if ((flags & (O_SYNC | O_DSYNC)) != 0) {
        pattern->sync++;
        pattern->sync_ns += event->dur_ns;
    }
    pattern->direct += (flags & O_DIRECT) != 0;
    see_change(file, begin, end);
    file->past_bytes += end <= file->extent ? bytes : 0;
    use->changes = file->changes;
    wio_spans_remove(&use->read, begin, end);
    wio_spans_add(&use->written, begin, end);
    file->unsynced += bytes;
    file->extent = end > file->extent ? end : file->extent;
    see_sharing(patterns, file, &file->first_writer, event->stream);
}

static enum wio_status see_transfer(struct wio_patterns *patterns, const struct wio_event *event,
                                    struct wio_step *step, struct wio_file_row *file, bool is_read)
{
    struct wio_step_pattern *pattern = wio_step_pattern(step);
    uint64_t bytes = event->result > 0 ? (uint64_t)event->result : 0;
    struct wio_thread_file *use;

    if (pattern == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (event->size < patterns->small_bytes && patterns->is_made_up[event->path] == 0) {
        pattern->small++;
        pattern->small_ns += event->dur_ns;
    }
    see_stall(pattern, event->dur_ns);
    wio_beside_add(&patterns->beside, event, bytes, pattern);
    if (event->offset < 0 || bytes == 0 || patterns->is_made_up[event->path] != 0) {
        return WIO_OK;
    }
    WIO_TRY(find_use(patterns, event, &use));
    use->bytes += bytes;
    catch_up(file, use);
    if (is_read) {
        see_read(patterns, event, pattern, use, file, bytes);
        file->bytes_read += bytes;
    } else {
        see_write(patterns, event, pattern, use, file, bytes);
        file->bytes_written += bytes;
    }
    see_place(event, pattern, use, bytes);
    use->has_written = !is_read;
    return WIO_OK;
}

/* ---- other operations on files ---- */

static uint64_t final_size(const struct wio_patterns *patterns, const struct wio_file_row *file)
{
    return file->info == UINT32_MAX ? 0 : wio_trace_file(patterns->trace, file->info)->size;
}

/* A stream for a descriptor that is open does not open the file again. */
static bool is_new_descriptor(unsigned op)
{
    return op != WIO_OP_fdopen && op != WIO_OP_fdopendir;
}

/* A newer recorder may have others. */
static const struct wio_op_facts *facts_of(const struct wio_patterns *patterns, unsigned op)
{
    return &patterns->ops[op < WIO_OP_COUNT ? op : WIO_OP_unknown];
}

static bool is_look(enum wio_class cls)
{
    return cls == WIO_CLASS_STAT || cls == WIO_CLASS_ACCESS || cls == WIO_CLASS_READLINK ||
           cls == WIO_CLASS_STATFS || cls == WIO_CLASS_XATTR;
}

/* Before the event is counted for the file. */
static bool is_repeated(const struct wio_event *event, enum wio_class cls,
                        const struct wio_file_row *file)
{
    if (cls == WIO_CLASS_OPEN) {
        /* the open within an fopen comes behind it, and is the same */
        const bool is_counted = (event->flags & WIO_EVENT_CAUSED) != 0;
        return file->opens > (is_new_descriptor(event->op) && !is_counted ? 0 : 1);
    }
    if (cls == WIO_CLASS_CLOSE) {
        return file->opens > 1;
    }
    return is_look(cls) && (file->looks & UINT64_C(1) << (event->op & 63)) != 0;
}

static bool makes_a_file(const struct wio_event *event)
{
    switch ((int)event->op) {
    case WIO_OP_tmpfile:
    case WIO_OP_mkstemp:
    case WIO_OP_mkostemp:
    case WIO_OP_mkstemps:
    case WIO_OP_mkostemps:
        return true;
    case WIO_OP_open:
        return (event->arg[0] & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) ||
               (event->arg[0] & O_TMPFILE) == O_TMPFILE;
    default:
        return false;
    }
}

static void see_open(struct wio_patterns *patterns, const struct wio_event *event,
                     struct wio_file_row *file)
{
    bool is_flagged = event->op == WIO_OP_open;
    bool is_cut = (wio_open_flags(event) & O_TRUNC) != 0;

    if (event->error != 0) {
        return;
    }
    file->opens += is_new_descriptor(event->op) && (event->flags & WIO_EVENT_CAUSED) == 0;
    if (is_cut && is_new_descriptor(event->op)) {
        see_other_file(file);
    }
    /* a file that is opened as it is has, as far as is known, the size that it has in the end */
    if (is_flagged && (event->arg[0] & (O_TRUNC | O_CREAT)) == 0 && file->extent == 0) {
        file->extent = final_size(patterns, file);
    }
}

/* ---- directories ---- */

static uint64_t scans_of(const struct wio_file_row *file)
{
    return file->scans > file->dir_opens ? file->scans : file->dir_opens;
}

/* Does the operation begin to read the entries of a directory? */
static bool is_scan(unsigned op)
{
    return op == WIO_OP_opendir || op == WIO_OP_fdopendir || op == WIO_OP_scandir ||
           op == WIO_OP_rewinddir;
}

static void see_scan(struct wio_patterns *patterns, const struct wio_event *event,
                     struct wio_file_row *file)
{
    uint64_t before = scans_of(file);

    if (event->error != 0 || (event->flags & WIO_EVENT_CAUSED) != 0) {
        return;
    }
    file->scans += is_scan(event->op);
    file->dir_opens += event->op == WIO_OP_open && (event->arg[0] & O_DIRECTORY) != 0;
    patterns->scans += scans_of(file) - before;
    if (before == 0 && scans_of(file) > 0) {
        patterns->scan_directories++;
        patterns->is_data[event->path] = 0;
    }
}

double wio_patterns_scans(const struct wio_patterns *patterns, uint32_t path)
{
    if (path == WIO_SEVERAL_FILES) {
        return patterns->scan_directories == 0
                   ? 0
                   : (double)patterns->scans / (double)patterns->scan_directories;
    }
    return path < patterns->file_capacity ? (double)scans_of(&patterns->files[path]) : 0;
}

bool wio_patterns_is_directory(const struct wio_patterns *patterns, uint32_t path)
{
    if (path >= patterns->file_capacity || patterns->files[path].ops == 0) {
        return false;
    }
    const struct wio_file_row *file = &patterns->files[path];
    return scans_of(file) > 0 ||
           (file->info != UINT32_MAX &&
            wio_trace_file(patterns->trace, file->info)->type == WIO_FILE_DIRECTORY);
}

/* ---- all of them ---- */

static void see_sync(struct wio_file_row *file, struct wio_step *step)
{
    step->unsynced += file->unsynced;
    file->unsynced = 0;
}

static enum wio_status see_file(struct wio_patterns *patterns, const struct wio_event *event,
                                struct wio_step *step)
{
    const struct wio_op_facts *facts = facts_of(patterns, event->op);
    enum wio_class cls = (enum wio_class)facts->cls;
    struct wio_file_row *file;

    WIO_TRY(find_file(patterns, event->path, &file));
    file->ops++;
    if (cls == WIO_CLASS_OPEN || cls == WIO_CLASS_READDIR) {
        see_scan(patterns, event, file);
    }
    step->repeated += is_repeated(event, cls, file);
    file->looks |= is_look(cls) ? UINT64_C(1) << (event->op & 63) : 0;
    if (patterns->is_data[event->path] != 0) {
        step->data_count++;
        step->data_ns += event->dur_ns;
    }
    if (!facts->is_buffered) {
        file->time_ns += event->dur_ns;
        file->meta_ns += facts->kind == WIO_IO_META ? event->dur_ns : 0;
    }
    if (cls == WIO_CLASS_OPEN) {
        step->created += event->error == 0 && makes_a_file(event);
        see_open(patterns, event, file);
    } else if (cls == WIO_CLASS_SIZE) {
        see_size(event, file);
    } else if (cls == WIO_CLASS_RENAME || cls == WIO_CLASS_UNLINK) {
        return see_names(patterns, event);
    } else if (cls == WIO_CLASS_SYNC) {
        see_sync(file, step);
    } else if (cls == WIO_CLASS_READ || cls == WIO_CLASS_ASYNC_READ) {
        return see_transfer(patterns, event, step, file, true);
    } else if (cls == WIO_CLASS_WRITE || cls == WIO_CLASS_ASYNC_WRITE || cls == WIO_CLASS_COPY) {
        return see_transfer(patterns, event, step, file, false);
    }
    return WIO_OK;
}

enum wio_status wio_patterns_event(struct wio_patterns *patterns, const struct wio_event *event,
                                   uint32_t step)
{
    struct wio_step *row = &patterns->steps->steps[step];
    uint64_t end_ns = event->t_ns + event->dur_ns;
    unsigned kind = facts_of(patterns, event->op)->kind;

    WIO_TRY(wio_descriptors_event(patterns->descriptors, event));
    wio_beside_event(&patterns->beside, event);
    row->count++;
    row->bytes += kind == WIO_IO_READ || kind == WIO_IO_WRITE ? wio_account_bytes(event) : 0;
    row->asked += event->size != WIO_NO_SIZE ? event->size : 0;
    row->errors += event->error != 0;
    row->time_ns += event->dur_ns;
    row->least_ns = event->dur_ns < row->least_ns ? event->dur_ns : row->least_ns;
    row->most_ns = event->dur_ns > row->most_ns ? event->dur_ns : row->most_ns;
    row->first_ns = event->t_ns < row->first_ns ? event->t_ns : row->first_ns;
    row->last_ns = end_ns > row->last_ns ? end_ns : row->last_ns;
    if (event->path == 0 || event->path >= patterns->path_count ||
        patterns->is_not_a_file[event->path] != 0 || kind == WIO_IO_NONE) {
        return WIO_OK;
    }
    return see_file(patterns, event, row);
}
