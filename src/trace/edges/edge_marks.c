/* SPDX-License-Identifier: Apache-2.0 */
/* Which segments, and which file of held edges, a file of edges was made with: R-EDGE-7, R-HELD-3.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "base/fmt.h"
#include "base/io.h"
#include "trace/edges/edge_internal.h"
#include "trace/read/trace_internal.h"

/* Header and trailer hold checksums of their own: the checksum of all their bytes is the same for
 * all. */
enum { CRC_BYTES = 4, TRAILER_SUMMED = 16, REST_BYTES = 64 /* of a line, behind the name */ };

#define HELD_BYTES_MAX (UINT64_C(4) << 30)
#define LINE_END "\\x0a" /* as it stands in names */

enum wio_status
wio_edge_segment_ends(const struct wio_reader_segment *segment,
                      uint8_t ends_out[WIO_SEGMENT_HEADER_BYTES + WIO_SEGMENT_TRAILER_BYTES],
                      struct wio_error *err)
{
    const struct wio_block_file *file = &segment->file;
    WIO_TRY(wio_io_pread(file->fd, file->name, ends_out, WIO_SEGMENT_HEADER_BYTES, 0, err));
    return wio_io_pread(file->fd, file->name, ends_out + WIO_SEGMENT_HEADER_BYTES,
                        WIO_SEGMENT_TRAILER_BYTES, file->size - WIO_SEGMENT_TRAILER_BYTES, err);
}

const char *wio_edge_segment_name(const struct wio_reader_segment *segment)
{
    const char *slash = strrchr(segment->name, '/');
    return slash == NULL ? segment->name : slash + 1;
}

/* The segment's name; a line end in it would make two lines of one. */
static enum wio_status put_name(struct wio_blob *out, const struct wio_reader_segment *segment)
{
    const char *name = wio_edge_segment_name(segment);
    for (size_t bytes; name[bytes = strcspn(name, "\n")] != '\0'; name += bytes + 1) {
        WIO_TRY(wio_blob_put(out, name, bytes));
        WIO_TRY(wio_blob_put(out, LINE_END, strlen(LINE_END)));
    }
    return wio_blob_put(out, name, strlen(name));
}

/* Header, trailer and name of one segment. R-EDGE-1. */
static enum wio_status put_segment(struct wio_blob *out, const struct wio_reader_segment *segment,
                                   struct wio_error *err)
{
    uint8_t ends[WIO_SEGMENT_HEADER_BYTES + WIO_SEGMENT_TRAILER_BYTES];
    const struct wio_block_file *file = &segment->file;
    WIO_TRY(wio_edge_segment_ends(segment, ends, err));
    char text[REST_BYTES];
    int length = snprintf(text, sizeof(text), " %" PRIu64 " %08" PRIx32 "\n", file->size,
                          wio_crc32c(0, ends, sizeof(ends)));
    if (put_name(out, segment) != WIO_OK || wio_blob_put(out, text, (size_t)length) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, file->name, WIO_ERROR_NO_OFFSET, "no memory");
    }
    return WIO_OK;
}

enum wio_status wio_edge_segments_text(const struct wio_trace *trace, char **text_out,
                                       struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        WIO_TRY(put_segment(&text, &trace->segments[i], err));
    }
    if (wio_blob_u8(&text, 0) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET, "no memory");
    }
    *text_out = (char *)text.data;
    text = (struct wio_blob){0};
    return WIO_OK;
}

/* What `expected`, of R-HELD-3, says; UINT64_MAX: nothing. */
static uint64_t length_in(const char *expected)
{
    uint64_t length = 0;
    return expected != NULL && wio_scan_u64(&expected, &length) ? length : UINT64_MAX;
}

/* The checksum of a file that is open, and its length. Where that is not the one of `expected`, the
 * checksum would tell no more: it is left 0. */
static enum wio_status sum_file(int fd, const char *name, const char *expected, uint64_t *size_out,
                                uint32_t *crc_out, struct wio_error *err)
{
    uint8_t bytes[16384];
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return wio_error_set(err, WIO_ERR_FORMAT, name, WIO_ERROR_NO_OFFSET,
                             "expected a file of held edges, found something that is no file");
    }
    *size_out = (uint64_t)st.st_size;
    *crc_out = 0;
    if (expected != NULL && length_in(expected) != *size_out) {
        return WIO_OK;
    }
    if (*size_out > HELD_BYTES_MAX) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, name, WIO_ERROR_NO_OFFSET,
                             "expected a file of held edges of at most 4 GiB");
    }
    for (uint64_t at = 0; at < *size_out; at += sizeof(bytes)) {
        size_t more = *size_out - at < sizeof(bytes) ? (size_t)(*size_out - at) : sizeof(bytes);
        WIO_TRY(wio_io_pread(fd, name, bytes, more, at, err));
        *crc_out = wio_crc32c(*crc_out, bytes, more);
    }
    return WIO_OK;
}

enum wio_status wio_edge_held_text(const struct wio_trace *trace, const char *expected,
                                   char **text_out, struct wio_error *err)
{
    char *name = NULL;
    uint64_t size = 0;
    uint32_t crc = 0;
    if (asprintf(&name, "%s/%s", trace->path, WIO_HELD_NAME) < 0) {
        return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET, "no memory");
    }
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = openat(trace->dir, WIO_HELD_NAME, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    enum wio_status status = WIO_OK;
    if (fd >= 0) {
        status = sum_file(fd, name, expected, &size, &crc, err);
    } else if (errno != ENOENT) {
        status = wio_error_sys(err, name, "cannot open the file of held edges");
    }
    free(name);
    WIO_TRY(status);
    int length = fd >= 0 ? asprintf(text_out, "%" PRIu64 " %08" PRIx32, size, crc)
                         : asprintf(text_out, "%s", "");
    return length >= 0
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET, "no memory");
}

static enum wio_status put_mark(struct wio_blob *out, const struct wio_reader_segment *segment,
                                struct wio_error *err)
{
    uint8_t ends[WIO_SEGMENT_HEADER_BYTES + WIO_SEGMENT_TRAILER_BYTES];
    char text[REST_BYTES];
    WIO_TRY(wio_edge_segment_ends(segment, ends, err));
    uint32_t crc = wio_crc32c(0, ends, WIO_SEGMENT_HEADER_BYTES - CRC_BYTES);
    crc = wio_crc32c(crc, ends + WIO_SEGMENT_HEADER_BYTES, TRAILER_SUMMED);
    int length = snprintf(text, sizeof(text), " %" PRIu64 " %08" PRIx32 " %" PRIu32 "\n",
                          segment->file.size, crc, segment->stream_count);
    WIO_TRY(put_name(out, segment));
    return wio_blob_put(out, text, (size_t)length);
}

enum wio_status wio_edge_marks_text(const struct wio_trace *trace, char **text_out,
                                    struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    enum wio_status status = WIO_OK;
    for (uint32_t i = 0; i < trace->segment_count && status == WIO_OK; i++) {
        status = put_mark(&text, &trace->segments[i], err);
    }
    status = status == WIO_OK ? wio_blob_u8(&text, 0) : status;
    if (status != WIO_OK) {
        return status == WIO_ERR_NOMEM
                   ? wio_error_set(err, status, trace->path, WIO_ERROR_NO_OFFSET, "no memory")
                   : status;
    }
    *text_out = (char *)text.data;
    text = (struct wio_blob){0};
    return WIO_OK;
}
