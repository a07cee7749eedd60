/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of a store with one planted cause each, by which their transactions lose time, and the
 * same with the cause mended.
 *
 *     planted KIND planted|mended ADDRESS [SEGMENTS STRIPE_UNIT]
 *
 * Processes begin together; each is a client of the store. Call sites are named by the line that
 * opens the file. Prints the attempts that were begun again.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <whyio/store.h>

enum { UNIT = 64 << 10, LARGE = 1 << 20, RECORDS = LARGE / UNIT, FILLED = 11, OPEN = 6 };

struct client {
    unsigned number;
    bool is_mended;
    unsigned segments;
    unsigned stripe_unit;
    struct wio_store *store;
    struct wio_store_file *shared; /* records that all may use */
    struct wio_store_file *own;
    uint8_t *data;
};

static void fail(const char *what, const struct wio_error *err)
{
    fprintf(stderr, "planted: %s: %s (%s)\n", what, err->message, strerror(err->sys_errno));
    _exit(3);
}

#define TEXT(line) #line
#define LINE(line) TEXT(line)
/* The call site, as the store tells others. */
#define HERE(function) function " (planted.c:" LINE(__LINE__) ")"

static struct wio_store_file *open_file(struct client *client, const char *path, bool is_stable,
                                        const char *source)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_file *file = NULL;
    const struct wio_store_open_params how = {.struct_size = sizeof(how),
                                              .flags = O_RDWR | O_CREAT,
                                              .mode = 0600,
                                              .view = WIO_VIEW_INDEPENDENT,
                                              .segments = client->segments,
                                              .stripe_unit = client->stripe_unit,
                                              .is_stable = is_stable,
                                              .source = source};
    if (wio_store_file_open(client->store, path, &how, &file, &err) != WIO_OK) {
        fail(path, &err);
    }
    return file;
}

static void open_own(struct client *client, bool is_stable, const char *source)
{
    char path[32];
    (void)snprintf(path, sizeof(path), "/own%u", client->number);
    client->own = open_file(client, path, is_stable, source);
}

static enum wio_status write_at(struct client *client, struct wio_store_file *file,
                                struct wio_store_txn *txn, size_t bytes, uint64_t offset,
                                struct wio_error *err)
{
    return wio_store_pwrite(file, txn, client->data, bytes, offset, err);
}

/* `count` records of the own file, in small requests. */
static enum wio_status write_own(struct client *client, struct wio_store_txn *txn, unsigned count,
                                 struct wio_error *err)
{
    enum wio_status status = WIO_OK;
    for (unsigned i = 0; i < count && status == WIO_OK; i++) {
        status = write_at(client, client->own, txn, UNIT, (uint64_t)i * UNIT, err);
    }
    return status;
}

/* The last write of a transaction waits for its next call (<whyio/store.h>): the lock is taken now.
 */
static enum wio_status read_back(struct client *client, struct wio_store_file *file,
                                 struct wio_store_txn *txn, uint64_t offset, struct wio_error *err)
{
    size_t got = 0;
    return wio_store_pread(file, txn, client->data, 1, offset, &got, err);
}

static void transact(struct client *client, wio_store_body *body)
{
    struct wio_error err = WIO_ERROR_INIT;
    if (wio_store_transact(client->store, NULL, body, client, &err) != WIO_OK) {
        fail("transaction", &err);
    }
}

/* ---- kinds --------------------------------------------------------------------------------- */

/* One record for both, in the middle of transactions that move much more. */
static enum wio_status data_body(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    struct client *client = context;
    uint64_t record = client->is_mended ? client->number : 0;
    enum wio_status status = write_at(client, client->own, txn, UNIT, 0, err);
    if (status == WIO_OK) {
        status = write_at(client, client->shared, txn, UNIT, record * UNIT, err);
    }
    return status == WIO_OK ? write_own(client, txn, 4 * RECORDS, err) : status;
}

static void data(struct client *client)
{
    client->shared = open_file(client, "/shared", false, HERE("data"));
    open_own(client, false, HERE("data"));
    for (unsigned i = 0; i < 60; i++) {
        transact(client, data_body);
    }
}

/* A reader asks for far more than there is; a writer appends where nothing was. */
static enum wio_status tail_body(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    struct client *client = context;
    size_t got = 0;
    size_t bytes = client->is_mended ? UNIT : LARGE;
    enum wio_status status =
        wio_store_pread(client->shared, txn, client->data, bytes, 0, &got, err);
    return status == WIO_OK ? write_own(client, txn, 4 * RECORDS, err) : status;
}

static void read_tail(struct client *client)
{
    client->shared = open_file(client, "/log", false, HERE("read_tail"));
    open_own(client, false, HERE("read_tail"));
    for (unsigned i = 0; i < 60; i++) {
        transact(client, tail_body);
    }
}

/* The file is as short as before when others see it: they never touch what is written here. */
static enum wio_status append_body(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    struct client *client = context;
    enum wio_status status = write_at(client, client->shared, txn, 512, LARGE - 512, err);
    return status == WIO_OK ? wio_store_truncate(client->shared, txn, UNIT, err) : status;
}

static void append(struct client *client)
{
    struct wio_error err = WIO_ERROR_INIT;
    client->shared = open_file(client, "/log", false, HERE("append"));
    if (write_at(client, client->shared, NULL, UNIT, 0, &err) != WIO_OK) {
        fail("append", &err);
    }
    for (unsigned i = 0; i < 300; i++) {
        transact(client, append_body);
    }
}

static void false_conflict(struct client *client)
{
    if (client->number == 0) {
        read_tail(client);
    } else {
        append(client);
    }
}

/* Many write one record first, one behind the other. */
static enum wio_status queue_body(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    struct client *client = context;
    uint64_t record = client->is_mended ? client->number : 0;
    enum wio_status status = write_at(client, client->shared, txn, UNIT, record * UNIT, err);
    return status == WIO_OK ? write_own(client, txn, RECORDS, err) : status;
}

static void queue(struct client *client)
{
    client->shared = open_file(client, "/shared", false, HERE("queue"));
    open_own(client, false, HERE("queue"));
    for (unsigned i = 0; i < 60; i++) {
        transact(client, queue_body);
    }
}

/* Two records, by one in this order, by the other in that. */
static enum wio_status order_body(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    struct client *client = context;
    unsigned first = client->is_mended ? 0 : client->number % 2;
    enum wio_status status =
        write_at(client, client->shared, txn, UNIT, (uint64_t)first * UNIT, err);
    if (status == WIO_OK) {
        status = write_own(client, txn, RECORDS, err);
    }
    if (status == WIO_OK) {
        status = write_at(client, client->shared, txn, UNIT, (uint64_t)(1 - first) * UNIT, err);
    }
    return status;
}

static void deadlock(struct client *client)
{
    client->shared = open_file(client, "/shared", false, HERE("deadlock"));
    open_own(client, false, HERE("deadlock"));
    for (unsigned i = 0; i < 200; i++) {
        transact(client, order_body);
    }
}

/* A lock is held while the client computes. */
static enum wio_status think_body(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    struct client *client = context;
    enum wio_status status = write_at(client, client->shared, txn, UNIT, 0, err);
    if (status == WIO_OK && !client->is_mended) {
        status = read_back(client, client->shared, txn, 0, err);
        (void)usleep(20000);
    }
    return status;
}

static void think(struct client *client)
{
    client->shared = open_file(client, "/shared", false, HERE("think"));
    for (unsigned i = 0; i < 15; i++) {
        transact(client, think_body);
        if (client->is_mended) {
            (void)usleep(20000);
        }
    }
}

/* False: a server is too busy for it. */
static bool fill(struct client *client, struct wio_store_txn *txn, unsigned number)
{
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = WIO_OK;
    for (unsigned i = 0; i < FILLED && status == WIO_OK; i++) {
        status = write_at(client, client->own, txn, LARGE, (uint64_t)(number * FILLED + i) * LARGE,
                          &err);
    }
    if (status != WIO_OK && status != WIO_ERR_BUSY) {
        fail("fill", &err);
    }
    return status == WIO_OK;
}

/* What is turned away at its commit, with the last write, is given up. */
static void commit_all(struct wio_store_txn **txns, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct wio_error err = WIO_ERROR_INIT;
        enum wio_status status = txns[i] != NULL ? wio_store_commit(txns[i], &err) : WIO_OK;
        if (status != WIO_OK && status != WIO_ERR_BUSY) {
            fail("commit", &err);
        }
        wio_store_end(txns[i]);
        txns[i] = NULL;
    }
}

/* Transactions of one client stay open beside each other: more is written before commits than one
 * server keeps for all. What is turned away ten times waits for others no more, or all would wait
 * for each other. */
static void contention(struct client *client)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_txn *txns[OPEN] = {NULL};
    open_own(client, false, HERE("contention"));
    for (unsigned i = 0; i < OPEN; i++) {
        if (wio_store_begin(client->store, NULL, &txns[i], &err) != WIO_OK) {
            fail("begin", &err);
        }
        for (unsigned tries = 1; !fill(client, txns[i], i); tries++) {
            if (tries % 10 == 0) {
                commit_all(txns, i);
            }
            if (wio_store_restart(txns[i], &err) != WIO_OK) {
                fail("restart", &err);
            }
        }
    }
    (void)usleep(20000);
    commit_all(txns, OPEN);
}

/* Each write is durable when it is answered. */
static void slow_disk(struct client *client)
{
    struct wio_error err = WIO_ERROR_INIT;
    open_own(client, true, HERE("slow_disk"));
    for (unsigned i = 0; i < 10; i++) {
        if (write_at(client, client->own, NULL, 4096, (uint64_t)i * 4096, &err) != WIO_OK) {
            fail("slow_disk", &err);
        }
    }
}

static const struct kind {
    const char *name;
    void (*run)(struct client *client);
    unsigned processes;
    unsigned segments_mended; /* 0: as planted, 1 */
} kinds[] = {
    {"data", data, 2, 0},           {"false", false_conflict, 2, 0},
    {"queue", queue, 6, 0},         {"deadlock", deadlock, 2, 0},
    {"think", think, 3, 0},         {"contention", contention, 10, 4},
    {"slow_disk", slow_disk, 2, 0},
};

/* ---- processes ----------------------------------------------------------------------------- */

static void run(const struct kind *kind, struct client *client, const char *address, int go)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_store_params params = {
        .struct_size = sizeof(params), .address = address, .job = "planted", .timeout_ns = 50e9};
    struct wio_store_info info = {.struct_size = sizeof(info)};
    char byte = 0;
    client->data = calloc(1, LARGE);
    if (client->data == NULL || wio_store_connect(&params, &client->store, &err) != WIO_OK) {
        fail(address, &err);
    }
    (void)!read(go, &byte, 1);
    kind->run(client);
    wio_store_get_info(client->store, &info);
    printf("%" PRIu64 "\n", info.attempts);
    wio_store_file_close(client->own);
    wio_store_file_close(client->shared);
    wio_store_disconnect(client->store);
    free(client->data);
}

int main(int argc, char **argv)
{
    const struct kind *kind = kinds;
    const struct kind *end = kinds + sizeof(kinds) / sizeof(kinds[0]);
    int go[2];
    int result = 0;
    while (argc >= 4 && kind < end && strcmp(kind->name, argv[1]) != 0) {
        kind++;
    }
    if ((argc != 4 && argc != 6) || kind == end || pipe(go) != 0) {
        fprintf(stderr, "usage: planted KIND planted|mended ADDRESS [SEGMENTS STRIPE_UNIT]\n");
        return 2;
    }
    bool is_mended = strcmp(argv[2], "mended") == 0;
    unsigned segments = is_mended && kind->segments_mended > 0 ? kind->segments_mended : 1;
    unsigned unit = LARGE;
    if (argc == 6) {
        segments = (unsigned)strtoul(argv[4], NULL, 10);
        unit = (unsigned)strtoul(argv[5], NULL, 10);
    }
    for (unsigned i = 0; i < kind->processes; i++) {
        struct client client = {
            .number = i, .is_mended = is_mended, .segments = segments, .stripe_unit = unit};
        pid_t child = fork();
        if (child == 0) {
            (void)close(go[1]);
            run(kind, &client, argv[3], go[0]);
            return 0;
        }
    }
    (void)close(go[0]);
    (void)usleep(200000); /* all are connected, mostly */
    (void)close(go[1]);
    for (int status = 0; wait(&status) > 0;) {
        result |= WIFEXITED(status) ? WEXITSTATUS(status) : 3;
    }
    return result;
}
