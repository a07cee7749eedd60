/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the seeds of fuzz_store_log and fuzz_store_root.
 *
 *     store_log_seeds tests/data/corpus
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/log/log.h"
#include "store/storage/root.h"
#include "support/store/disk.h"

static void stop(const char *what)
{
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

static void save(const char *dir, const char *name, const void *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *file = fopen(path, "we");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        stop(path);
    }
}

/* Two batches, of which the second has two records, with changes of each kind. */
static void fill(struct disk *disk, struct wio_log *log)
{
    static const uint16_t participants[] = {0, 1, 2};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_blob redo = {0};
    for (unsigned kind = 1; kind < WIO_CHANGE_KINDS; kind++) {
        struct wio_redo_change change = {(uint8_t)kind, {kind, 1}, kind * 4096, "seed", 4};
        if (wio_change_encode(&redo, &change) != WIO_OK) {
            stop("memory");
        }
    }
    struct wio_log_record records[] = {
        {WIO_LOG_COMMIT, {1, 2, 3, 4}, NULL, 0, redo.data, (uint32_t)redo.size},
        {WIO_LOG_PREPARED, {1, 3, 4, 1}, participants, 3, redo.data, (uint32_t)redo.size},
        {WIO_LOG_COMMITTED, {1, 3, 4, 1}, NULL, 0, NULL, 0}};
    for (unsigned i = 0; i < 2; i++) {
        uint64_t lsn = 0;
        if (wio_log_append(log, &records[i], 1 + i, &lsn, &err) != WIO_OK ||
            wio_log_flushed(log, NULL, &err) != WIO_OK) {
            stop("append");
        }
        disk_turn(disk);
    }
    wio_blob_fini(&redo);
}

int main(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct disk *disk = disk_create(1);
    struct wio_log *log = NULL;
    struct wio_log_config config = {
        .io = disk_io(disk), .segment_bytes = WIO_LOG_SEGMENT_MIN, .may_create = true};
    char text[WIO_STORE_VERSION_MAX];
    char dir[4000];
    size_t size = 0;
    if (argc != 2 || wio_log_open_own(&config, &log, &err) != WIO_OK) {
        stop(argc == 2 ? "opening the log" : "usage: store_log_seeds DIR");
    }
    fill(disk, log);
    snprintf(dir, sizeof(dir), "%s/store_log", argv[1]);
    const uint8_t *data = disk_bytes(disk, "log/000000.redo", &size);
    save(dir, "two-batches", data, 5 * 4096);
    save(dir, "half-a-batch", data, 3 * 4096 + 100);
    snprintf(dir, sizeof(dir), "%s/store_root", argv[1]);
    data = disk_bytes(disk, "log/super", &size);
    save(dir, "super", data, size);
    wio_store_version_encode(&(struct wio_store_root){.log = WIO_LOG_OWN}, text);
    save(dir, "version", text, strlen(text));
    wio_log_close(log);
    disk_destroy(disk);
    return 0;
}
