/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions of a store: several processes move units between the numbers of a file, and the sum
 * stays what it was. Run it a few times at once:
 *
 *     WHYIO_SERVER=unix:/tmp/store ./store_transfer 1000
 *
 *     cc store_transfer.c $(pkg-config --cflags --libs whyio) -o store_transfer
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include <whyio/store.h>

enum { ACCOUNTS = 16, START = 100 };

struct transfer {
    struct wio_store_file *file;
    unsigned from;
    unsigned to;
};

/* One attempt. It is called again where another transaction was in the way. */
static enum wio_status move(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    const struct transfer *transfer = context;
    int64_t balance[2] = {0, 0};
    const uint64_t at[2] = {transfer->from * sizeof(int64_t), transfer->to * sizeof(int64_t)};
    size_t got;
    enum wio_status status = WIO_OK;
    for (int i = 0; i < 2 && status == WIO_OK; i++) {
        status =
            wio_store_pread(transfer->file, txn, &balance[i], sizeof(int64_t), at[i], &got, err);
    }
    balance[0]--;
    balance[1]++;
    for (int i = 0; i < 2 && status == WIO_OK; i++) {
        status = wio_store_pwrite(transfer->file, txn, &balance[i], sizeof(int64_t), at[i], err);
    }
    return status;
}

/* The first process fills the file: O_EXCL says which one that is, and the others wait for the
 * last number. */
static enum wio_status open_accounts(struct wio_store *store, struct wio_store_file **file_out,
                                     struct wio_error *err)
{
    int64_t balances[ACCOUNTS];
    uint64_t size = 0;
    struct wio_store_open_params how = {.struct_size = sizeof(how),
                                        .flags = O_RDWR | O_CREAT | O_EXCL,
                                        .mode = 0644,
                                        .view = WIO_VIEW_INDEPENDENT,
                                        .stripe_unit = sizeof(int64_t)};
    for (int i = 0; i < ACCOUNTS; i++) {
        balances[i] = START;
    }
    enum wio_status status = wio_store_file_open(store, "/accounts", &how, file_out, err);
    if (status == WIO_OK) {
        return wio_store_pwrite(*file_out, NULL, balances, sizeof(balances), 0, err);
    }
    if (err->sys_errno != EEXIST) {
        return status;
    }
    how.flags = O_RDWR;
    status = wio_store_file_open(store, "/accounts", &how, file_out, err);
    while (status == WIO_OK && size < sizeof(balances)) {
        status = wio_store_size(*file_out, NULL, &size, err);
    }
    return status;
}

static enum wio_status run(struct wio_store *store, int rounds, struct wio_error *err)
{
    struct transfer transfer = {NULL, 0, 0};
    int64_t balances[ACCOUNTS] = {0};
    int64_t sum = 0;
    size_t got = 0;
    enum wio_status status = open_accounts(store, &transfer.file, err);
    for (int i = 0; i < rounds && status == WIO_OK; i++) {
        transfer.from = (unsigned)(rand() % ACCOUNTS);
        transfer.to = (transfer.from + 1 + (unsigned)(rand() % (ACCOUNTS - 1))) % ACCOUNTS;
        status = wio_store_transact(store, NULL, move, &transfer, err);
    }
    if (status == WIO_OK) {
        status = wio_store_pread(transfer.file, NULL, balances, sizeof(balances), 0, &got, err);
    }
    for (int i = 0; i < ACCOUNTS; i++) {
        sum += balances[i];
    }
    if (status == WIO_OK) {
        printf("%d transfers, sum %lld\n", rounds, (long long)sum);
    }
    wio_store_file_close(transfer.file);
    return status;
}

int main(int argc, char **argv)
{
    const struct wio_store_params params = {.struct_size = sizeof(params)};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store *store = NULL;
    char text[2048];
    srand((unsigned)(argc > 2 ? atoi(argv[2]) : 1));
    enum wio_status status = wio_store_connect(&params, &store, &err);
    if (status == WIO_OK) {
        status = run(store, argc > 1 ? atoi(argv[1]) : 100, &err);
    }
    if (status != WIO_OK) {
        wio_error_format(&err, text, sizeof(text));
        fprintf(stderr, "%s\n", text);
    }
    wio_store_disconnect(store);
    return wio_status_exit(status);
}
