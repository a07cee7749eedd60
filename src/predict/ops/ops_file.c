/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/ops/ops_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/map.h"
#include "base/utf8.h"
#include "predict/ops/ops_line.h"

#define BUFFER_BYTES (1u << 20) /* and the longest line */

struct wio_ops_file {
    const char *path; /* of the caller */
    int fd;
    bool is_stdin;
    bool is_at_end;
    uint64_t total;   /* bytes of the file, 0 = unknown */
    uint64_t base;    /* offset of buffer[0] in the file */
    uint64_t line;    /* number of the last line */
    uint64_t line_at; /* and where it begins */
    size_t begin;     /* what is read and not used: begin .. end */
    size_t end;
    struct wio_strtab names;
    struct wio_ops_misspelt misspelt;
    char buffer[BUFFER_BYTES];
};

static const char *label_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static enum wio_status open_fd(struct wio_ops_file *file, struct wio_error *err)
{
    struct stat info;
    file->is_stdin = strcmp(file->path, "-") == 0;
    file->fd = file->is_stdin ? STDIN_FILENO : open(file->path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &info) < 0) {
        return wio_error_sys(err, label_of(file->path), "cannot open the operation list");
    }
    file->total = S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    return WIO_OK;
}

enum wio_status wio_ops_file_open(const char *path, struct wio_ops_file **file_out,
                                  struct wio_error *err)
{
    struct wio_ops_file *file = malloc(sizeof(*file));
    *file_out = NULL;
    if (file == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    memset(file, 0, offsetof(struct wio_ops_file, buffer));
    file->path = path;
    enum wio_status status = open_fd(file, err);
    if (status != WIO_OK) {
        wio_ops_file_close(file);
        return status;
    }
    *file_out = file;
    return WIO_OK;
}

void wio_ops_file_close(struct wio_ops_file *file)
{
    if (file == NULL) {
        return;
    }
    if (!file->is_stdin) {
        wio_fd_cleanup(&file->fd);
    }
    wio_strtab_fini(&file->names);
    free(file);
}

/* Read more behind what is there. */
static enum wio_status fill(struct wio_ops_file *file, struct wio_error *err)
{
    size_t left = file->end - file->begin;
    memmove(file->buffer, file->buffer + file->begin, left);
    file->base += file->begin;
    file->begin = 0;
    file->end = left;
    if (left == BUFFER_BYTES) {
        return wio_error_set(err, WIO_ERR_FORMAT, label_of(file->path), file->base,
                             "line %llu: expected a line of less than 1 MiB",
                             (unsigned long long)file->line + 1);
    }
    ssize_t count;
    do {
        count = read(file->fd, file->buffer + file->end, BUFFER_BYTES - file->end);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return wio_error_sys(err, label_of(file->path), "cannot read the operation list");
    }
    file->is_at_end = count == 0;
    file->end += (size_t)count;
    return WIO_OK;
}

/* The next line without its end; WIO_END where there is none. */
static enum wio_status next_line(struct wio_ops_file *file, char **line_out, size_t *bytes_out,
                                 struct wio_error *err)
{
    size_t searched = 0;
    for (;;) {
        char *start = file->buffer + file->begin;
        size_t have = file->end - file->begin;
        char *stop = memchr(start + searched, '\n', have - searched);
        if (stop == NULL && !file->is_at_end) {
            searched = have;
            WIO_TRY(fill(file, err));
            continue;
        }
        if (stop == NULL && have == 0) {
            return WIO_END;
        }
        *line_out = start;
        *bytes_out = stop != NULL ? (size_t)(stop - start) : have;
        file->line++;
        file->line_at = file->base + file->begin;
        file->begin += *bytes_out + (stop != NULL);
        return WIO_OK;
    }
}

/* The first line may begin with a mark, which is none of it. */
static void skip_mark(struct wio_ops_file *file, char **line, size_t *bytes)
{
    size_t mark = file->line == 1 ? wio_utf8_mark(*line, *bytes) : 0;
    *line += mark;
    *bytes -= mark;
    file->line_at += mark;
}

static bool is_blank(const char *line, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r')) {
        i++;
    }
    return i == bytes;
}

static void note_misspelt(struct wio_ops_file *file, const struct wio_ops_line *line)
{
    struct wio_ops_misspelt *first = &file->misspelt;
    if (line->misspelt == NULL || first->lines++ > 0) {
        return;
    }
    first->line = file->line;
    first->meant = line->meant;
    for (size_t i = 0; i < line->misspelt_bytes && i + 1 < sizeof(first->key); i++) {
        bool is_plain = line->misspelt[i] >= ' ' && line->misspelt[i] <= '~';
        first->key[i] = is_plain ? line->misspelt[i] : '?';
    }
}

static enum wio_status parse(struct wio_ops_file *file, char *line, size_t bytes,
                             struct wio_model_op *op_out, struct wio_error *err)
{
    struct wio_ops_line parsed;
    struct wio_error wrong = WIO_ERROR_INIT;
    uint32_t id;
    if (wio_ops_line_parse(line, bytes, &parsed, &wrong) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_FORMAT, label_of(file->path),
                             file->line_at + wrong.offset, "line %llu: %s",
                             (unsigned long long)file->line, wrong.message);
    }
    note_misspelt(file, &parsed);
    *op_out = parsed.op;
    if (wio_strtab_add(&file->names, parsed.file, parsed.file_bytes, &id) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, label_of(file->path), file->line_at,
                             "out of memory for the names of files");
    }
    op_out->file = id;
    return WIO_OK;
}

enum wio_status wio_ops_file_next(struct wio_ops_file *file, struct wio_model_op *op_out,
                                  struct wio_error *err)
{
    char *line;
    size_t bytes;
    do {
        WIO_TRY(next_line(file, &line, &bytes, err));
        skip_mark(file, &line, &bytes);
    } while (is_blank(line, bytes));
    return parse(file, line, bytes, op_out, err);
}

const char *wio_ops_file_name(const struct wio_ops_file *file, uint64_t number)
{
    return wio_strtab_get(&file->names, (uint32_t)number, NULL);
}

void wio_ops_file_progress(const struct wio_ops_file *file, uint64_t *done_out, uint64_t *total_out)
{
    *done_out = file->base + file->begin;
    *total_out = file->total;
}

const struct wio_ops_misspelt *wio_ops_file_misspelt(const struct wio_ops_file *file)
{
    return &file->misspelt;
}

const char *wio_ops_file_label(const struct wio_ops_file *file)
{
    return label_of(file->path);
}

uint64_t wio_ops_file_line(const struct wio_ops_file *file, uint64_t *offset_out)
{
    *offset_out = file->line_at;
    return file->line;
}
