/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log that many processes share: lines of standard input are appended to a file of a store at the
 * pointer that all of them have in common, so that no line is torn or written over. With -r the log
 * is read: each reader of a group gets lines that no other one gets.
 *
 *     dmesg | WHYIO_SERVER=@job.store ./store_log /log
 *     WHYIO_SERVER=@job.store ./store_log -r /log
 *
 *     cc store_log.c $(pkg-config --cflags --libs whyio) -o store_log
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <whyio/store.h>

enum { RECORD = 256, WRITERS = 0, READERS = 1 };

/* Records have one size: padded by blanks, ended by a newline. */
static enum wio_status append(struct wio_store_file *file, struct wio_error *err)
{
    char line[RECORD];
    enum wio_status status = WIO_OK;
    while (status == WIO_OK && fgets(line, sizeof(line), stdin) != NULL) {
        char record[RECORD];
        size_t bytes = strcspn(line, "\n");
        memset(record, ' ', sizeof(record));
        memcpy(record, line, bytes);
        record[RECORD - 1] = '\n';
        status = wio_store_write(file, NULL, record, sizeof(record), err);
    }
    return status;
}

static enum wio_status print(struct wio_store_file *file, struct wio_error *err)
{
    char record[RECORD];
    size_t got = 0;
    enum wio_status status = wio_store_read(file, NULL, record, sizeof(record), &got, err);
    while (status == WIO_OK && got == sizeof(record)) {
        fwrite(record, 1, got, stdout);
        status = wio_store_read(file, NULL, record, sizeof(record), &got, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    const struct wio_store_params params = {.struct_size = sizeof(params)};
    struct wio_store_open_params how = {.struct_size = sizeof(how),
                                        .flags = O_RDWR | O_CREAT,
                                        .mode = 0644,
                                        .view = WIO_VIEW_GLOBAL,
                                        .source = "store_log"};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store *store = NULL;
    struct wio_store_file *file = NULL;
    int is_reader = argc == 3 && strcmp(argv[1], "-r") == 0;
    char text[2048];
    if (argc != 2 && !is_reader) {
        fprintf(stderr, "usage: store_log [-r] PATH\n");
        return 2;
    }
    how.group = is_reader ? READERS : WRITERS;
    enum wio_status status = wio_store_connect(&params, &store, &err);
    if (status == WIO_OK) {
        status = wio_store_file_open(store, argv[argc - 1], &how, &file, &err);
    }
    if (status == WIO_OK) {
        status = is_reader ? print(file, &err) : append(file, &err);
    }
    if (status != WIO_OK) {
        wio_error_format(&err, text, sizeof(text));
        fprintf(stderr, "%s\n", text);
    }
    wio_store_file_close(file);
    wio_store_disconnect(store);
    return wio_status_exit(status);
}
