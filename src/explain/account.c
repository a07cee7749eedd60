/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/account.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "ops/calls.h"

/* MPI_File calls transfer by system calls, which are events of their own. */
enum wio_io_kind wio_account_kind(unsigned op)
{
    const unsigned properties = wio_op_properties(op);
    if ((properties & WIO_DOES_WRITES) != 0) {
        return WIO_IO_WRITE;
    }
    if ((properties & WIO_DOES_READS) != 0) {
        return WIO_IO_READ;
    }
    return (properties & WIO_DOES_META) != 0 ? WIO_IO_META : WIO_IO_NONE;
}

bool wio_account_is_buffered(unsigned op)
{
    return (wio_op_properties(op) & WIO_DOES_STREAM) != 0;
}

uint64_t wio_account_bytes(const struct wio_event *event)
{
    enum wio_io_kind kind = wio_account_kind(event->op);

    if ((kind != WIO_IO_READ && kind != WIO_IO_WRITE) || event->result <= 0 || event->error != 0) {
        return 0;
    }
    return (uint64_t)event->result;
}

bool wio_account_is_terminal(const char *path)
{
    return strncmp(path, "/dev/pts/", 9) == 0 || strncmp(path, "/dev/tty", 8) == 0 ||
           strcmp(path, "/dev/console") == 0 || strcmp(path, "/dev/ptmx") == 0;
}

void wio_account_find_channels(const struct wio_trace *trace, uint8_t *is_channel)
{
    uint32_t strings = wio_trace_string_count(trace);

    for (uint32_t i = 1; i <= strings; i++) {
        const char *text = wio_trace_string(trace, i, NULL);
        is_channel[i] = (text[0] != '/' && text[0] != '\0') || wio_account_is_terminal(text);
    }
    for (uint32_t i = 0; i < wio_trace_file_count(trace); i++) {
        const struct wio_file_info *info = wio_trace_file(trace, i);
        if (info->path <= strings &&
            (info->type == WIO_FILE_FIFO || info->type == WIO_FILE_SOCKET)) {
            is_channel[info->path] = 1;
        }
    }
}

void wio_tally_add(struct wio_tally *tally, const struct wio_event *event)
{
    tally->count++;
    tally->bytes += wio_account_bytes(event);
    tally->time_ns += event->dur_ns;
    tally->errors += event->error != 0;
}

void wio_tally_merge(struct wio_tally *tally, const struct wio_tally *other)
{
    tally->count += other->count;
    tally->bytes += other->bytes;
    tally->time_ns += other->time_ns;
    tally->errors += other->errors;
}
