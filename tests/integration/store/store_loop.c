/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that writes numbers, and looks for them again.
 *
 *     store_loop write ADDRESS FIRST     1 number after the other, printed when it is committed
 *     store_loop check ADDRESS LAST      all up to LAST were printed: they are there, as a whole
 *     store_loop check ADDRESS /FILE     the same of the numbers in the file, which were printed
 *     store_loop fill ADDRESS            until ENOSPC; prints the bytes that were taken
 *
 * Number i is written to slot i % SLOTS twice: in one stable transaction over both targets, and by
 * a stable write of its own. So a slot holds the last number of its class that was printed, or one
 * that was under way.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/store.h>

enum { SLOTS = 64, UNIT = 4096, FULL = 1 << 20 };

struct files {
    struct wio_store *store;
    struct wio_store_file *pair;   /* two segments, one at each target */
    struct wio_store_file *single; /* one segment */
};

struct pair_write {
    struct wio_store_file *file;
    uint64_t slot;
    uint64_t number;
};

static int fail(const char *what, const struct wio_error *err)
{
    fprintf(stderr, "store_loop: %s: %s (%s)\n", what, err->message, strerror(err->sys_errno));
    return 3;
}

static struct wio_store_file *open_file(struct files *files, const char *path, uint32_t segments)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_file *file = NULL;
    const struct wio_store_open_params how = {.struct_size = sizeof(how),
                                              .flags = O_RDWR | O_CREAT,
                                              .mode = 0600,
                                              .view = WIO_VIEW_INDEPENDENT,
                                              .segments = segments,
                                              .stripe_unit = UNIT,
                                              .is_stable = true};
    if (wio_store_file_open(files->store, path, &how, &file, &err) != WIO_OK) {
        exit(fail(path, &err));
    }
    return file;
}

static void begin(struct files *files, const char *address)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_store_params params = {.struct_size = sizeof(params), .address = address};
    if (wio_store_connect(&params, &files->store, &err) != WIO_OK) {
        exit(fail(address, &err));
    }
    files->pair = open_file(files, "/pair", 2);
    files->single = open_file(files, "/single", 1);
}

static void end(struct files *files)
{
    wio_store_file_close(files->pair);
    wio_store_file_close(files->single);
    wio_store_disconnect(files->store);
}

/* ---- write --------------------------------------------------------------------------------- */

static enum wio_status write_pair(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    const struct pair_write *write = context;
    enum wio_status status =
        wio_store_pwrite(write->file, txn, &write->number, 8, write->slot * 8, err);
    return status != WIO_OK
               ? status
               : wio_store_pwrite(write->file, txn, &write->number, 8, UNIT + write->slot * 8, err);
}

/* A number whose outcome is not known is left: the next one is written. */
static int write_numbers(struct files *files, uint64_t first)
{
    const struct wio_store_txn_params stable = {.struct_size = sizeof(stable), .is_stable = true};
    for (uint64_t i = first;; i++) {
        struct pair_write pair = {files->pair, i % SLOTS, i};
        struct wio_error err = WIO_ERROR_INIT;
        if (wio_store_transact(files->store, &stable, write_pair, &pair, &err) != WIO_OK ||
            wio_store_pwrite(files->single, NULL, &i, 8, i % SLOTS * 8, &err) != WIO_OK) {
            fprintf(stderr, "store_loop: %" PRIu64 ": %s\n", i, err.message);
            continue;
        }
        printf("%" PRIu64 "\n", i);
        (void)fflush(stdout);
    }
    return 0;
}

/* ---- check --------------------------------------------------------------------------------- */

static uint64_t read_at(struct wio_store_file *file, uint64_t offset)
{
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t number = 0;
    size_t got = 0;
    if (wio_store_pread(file, NULL, &number, 8, offset, &got, &err) != WIO_OK) {
        exit(fail("read", &err));
    }
    return got == 8 ? number : 0;
}

/* Of each slot the last number that was printed. */
static void all_up_to(uint64_t last, uint64_t least[SLOTS])
{
    for (uint64_t slot = 0; slot < SLOTS; slot++) {
        uint64_t number = last / SLOTS * SLOTS + slot;
        number -= number > last ? SLOTS : 0;
        least[slot] = (int64_t)number > 0 ? number : 0;
    }
}

static void those_in(const char *path, uint64_t least[SLOTS])
{
    FILE *file = fopen(path, "re");
    char line[64];
    if (file == NULL) {
        perror(path);
        exit(3);
    }
    while (fgets(line, sizeof(line), file) != NULL && strchr(line, '\n') != NULL) {
        uint64_t number = strtoull(line, NULL, 10);
        least[number % SLOTS] = number;
    }
    (void)fclose(file);
}

static int check(struct files *files, const char *printed)
{
    uint64_t least[SLOTS] = {0};
    int faults = 0;
    if (printed[0] == '/') {
        those_in(printed, least);
    } else {
        all_up_to(strtoull(printed, NULL, 10), least);
    }
    for (uint64_t slot = 0; slot < SLOTS; slot++) {
        uint64_t one = read_at(files->pair, slot * 8);
        uint64_t two = read_at(files->pair, UNIT + slot * 8);
        uint64_t single = read_at(files->single, slot * 8);
        if (one != two || one < least[slot] || single < least[slot] ||
            (one != 0 && one % SLOTS != slot)) {
            printf("slot %" PRIu64 ": expected %" PRIu64 " or later, found %" PRIu64 ", %" PRIu64
                   " and %" PRIu64 "\n",
                   slot, least[slot], one, two, single);
            faults++;
        }
    }
    return faults > 0;
}

/* ---- fill ---------------------------------------------------------------------------------- */

static int fill(struct files *files)
{
    static char data[FULL];
    struct wio_store_file *file = open_file(files, "/full", 1);
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t taken = 0;
    while (wio_store_pwrite(file, NULL, data, sizeof(data), taken, &err) == WIO_OK) {
        taken += sizeof(data);
    }
    wio_store_file_close(file);
    printf("%" PRIu64 " %s\n", taken, err.sys_errno == ENOSPC ? "ENOSPC" : err.message);
    return 0;
}

int main(int argc, char **argv)
{
    struct files files;
    uint64_t number = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    int result = 2;
    if (argc < 3) {
        return result;
    }
    begin(&files, argv[2]);
    if (strcmp(argv[1], "write") == 0) {
        result = write_numbers(&files, number);
    } else if (strcmp(argv[1], "check") == 0) {
        result = check(&files, argc > 3 ? argv[3] : "0");
    } else if (strcmp(argv[1], "fill") == 0) {
        result = fill(&files);
    }
    end(&files);
    return result;
}
