/* SPDX-License-Identifier: Apache-2.0 */
/* Sources, files and servers of transactions, as text and JSON. */
#include <inttypes.h>

#include "report/line.h"
#include "report/transactions/transactions.h"

const char *wio_report_parafile(const struct wio_aborts *aborts, uint64_t file, char *text,
                                size_t size)
{
    const struct wio_txn_file *known =
        aborts->cursor == NULL ? NULL : wio_txn_cursor_file(aborts->cursor, file);
    if (known != NULL && known->path[0] != '\0') {
        return known->path;
    }
    (void)snprintf(text, size, "file %" PRIu64, file);
    return text;
}

const char *wio_report_store_server(const struct wio_aborts *aborts, uint32_t server, char *text,
                                    size_t size)
{
    uint32_t number = wio_attempts_server(&aborts->attempts, server);
    const struct wio_txn_server *known =
        aborts->cursor == NULL ? NULL : wio_txn_cursor_server(aborts->cursor, number);
    if (known != NULL && known->name[0] != '\0') {
        return known->name;
    }
    (void)snprintf(text, size, "server %" PRIu32, number);
    return text;
}

void wio_report_txn_source(const struct wio_aborts *aborts, uint32_t index, FILE *out)
{
    char text[64];
    if (index == WIO_NO_SOURCE) {
        (void)fputs("a transaction that is not recorded", out);
        return;
    }
    const struct wio_abort_source *source = &aborts->sources.rows[index];
    wio_print_plain(out, wio_abort_sources_place_text(&aborts->sources, source->place));
    (void)fputs(" of ", out);
    wio_print_plain(out, wio_abort_sources_application(&aborts->sources, source->application));
    for (uint32_t i = 0; i < source->file_count; i++) {
        (void)fputs(i == 0 ? " on " : ", ", out);
        wio_print_plain(out, wio_report_parafile(aborts, source->files[i], text, sizeof(text)));
    }
    (void)fputs(source->has_more_files ? " .." : "", out);
}

void wio_report_txn_source_json(struct wio_json *json, const char *key,
                                const struct wio_aborts *aborts, uint32_t index)
{
    char text[64];
    if (index == WIO_NO_SOURCE) {
        wio_json_null(json, key);
        return;
    }
    const struct wio_abort_source *source = &aborts->sources.rows[index];
    wio_json_object_begin(json, key);
    wio_json_string(json, "application",
                    wio_abort_sources_application(&aborts->sources, source->application));
    wio_json_string(json, "place", wio_abort_sources_place_text(&aborts->sources, source->place));
    wio_json_array_begin(json, "files");
    for (uint32_t i = 0; i < source->file_count; i++) {
        wio_json_string(json, NULL,
                        wio_report_parafile(aborts, source->files[i], text, sizeof(text)));
    }
    wio_json_array_end(json);
    wio_json_object_end(json);
}

void wio_report_txn_range_json(struct wio_json *json, const struct wio_aborts *aborts,
                               const struct wio_txn_range *range)
{
    char text[64];
    wio_json_object_begin(json, "example");
    wio_json_string(json, "file", wio_report_parafile(aborts, range->file, text, sizeof(text)));
    wio_json_u64(json, "segment", range->segment & ~(3u << 30));
    wio_json_u64(json, "from", range->from);
    wio_json_u64(json, "to", range->to);
    wio_json_object_end(json);
}
