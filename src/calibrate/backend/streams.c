/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/backend/streams.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define BUFFER (1u << 20)

/* It is about what comes before the file. */
static const char nowhere[] = "/dev/null";

enum wio_status wio_stream_open(struct wio_stream *stream, struct wio_error *err)
{
    *stream = (struct wio_stream){.file = fopen(nowhere, "we")};
    if (stream->file == NULL) {
        return wio_error_sys(err, nowhere, "cannot open");
    }
    stream->buffer = malloc(BUFFER);
    if (stream->buffer == NULL || setvbuf(stream->file, stream->buffer, _IOFBF, BUFFER) != 0) {
        return wio_error_set(err, WIO_ERR_NOMEM, nowhere, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    return WIO_OK;
}

void wio_stream_close(struct wio_stream *stream)
{
    if (stream->file != NULL) {
        (void)fclose(stream->file);
    }
    free(stream->buffer);
    *stream = (struct wio_stream){0};
}

static enum wio_status write_word(FILE *file, const char *path, struct wio_error *err)
{
    const uint64_t word = 0;
    if (fwrite(&word, sizeof(word), 1, file) != 1) {
        return wio_error_sys(err, path, "cannot write to a stream");
    }
    return WIO_OK;
}

enum wio_status wio_stream_fwrite(const struct wio_stream *stream, unsigned calls, uint64_t *ns_out,
                                  struct wio_error *err)
{
    rewind(stream->file); /* to the beginning of the buffer */
    uint64_t begin_ns = wio_clock_mono_ns();
    for (unsigned i = 0; i < calls; i++) {
        WIO_TRY(write_word(stream->file, nowhere, err));
    }
    *ns_out = wio_clock_mono_ns() - begin_ns;
    return WIO_OK;
}

static enum wio_status open_all(FILE *files[], size_t count, const char *path,
                                struct wio_error *err)
{
    for (size_t i = 0; i < count; i++) {
        files[i] = fopen(path, "we");
        if (files[i] == NULL) {
            return wio_error_sys(err, path, "cannot open");
        }
    }
    return WIO_OK;
}

static enum wio_status write_firsts(FILE *const files[], size_t count, const char *path,
                                    uint64_t *ns_out, struct wio_error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t begin_ns = wio_clock_mono_ns();
        WIO_TRY(write_word(files[i], path, err));
        ns_out[i] = wio_clock_mono_ns() - begin_ns;
    }
    return WIO_OK;
}

/* What is in a stream's buffer when it is closed goes to the file. */
enum wio_status wio_streams_first(const char *path, size_t count, uint64_t *ns_out,
                                  struct wio_error *err)
{
    FILE **files = calloc(count, sizeof(FILE *));
    if (files == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    enum wio_status status = open_all(files, count, path, err);
    if (status == WIO_OK) {
        status = write_firsts(files, count, path, ns_out, err);
    }
    for (size_t i = 0; i < count && files[i] != NULL; i++) {
        (void)fclose(files[i]);
    }
    free(files);
    return status;
}
