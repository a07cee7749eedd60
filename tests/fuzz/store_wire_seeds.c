/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the seeds of fuzz_store_wire: `store_wire_seeds tests/data/corpus/store_wire` after a
 * change of the protocol. One request and one reply of each operation, and the other messages.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "store/wire/message.h"
#include "store/wire/session.h"

static void write_seed(const char *dir, const char *kind, const char *name, struct wio_blob *bytes)
{
    char path[4096];
    struct wio_error err = WIO_ERROR_INIT;
    snprintf(path, sizeof(path), "%s/%s%s", dir, kind, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || wio_io_write(fd, path, bytes->data, bytes->size, &err) != WIO_OK ||
        close(fd) != 0) {
        perror(path);
        exit(1);
    }
    wio_blob_clear(bytes);
}

static void require(enum wio_status status)
{
    if (status != WIO_OK) {
        fprintf(stderr, "%s\n", wio_status_text(status));
        exit(1);
    }
}

static struct wio_lock_blocker blocker(void)
{
    return (struct wio_lock_blocker){.txn = {7, 8, 9, 2},
                                     .job = 3,
                                     .source = 4,
                                     .range = {.file = 5, .segment = 1, .from = 0, .to = 4096},
                                     .mode = WIO_LOCK_EXCLUSIVE};
}

static void write_request(const char *dir, struct wio_blob *bytes, uint16_t op, const char *name)
{
    static const uint16_t participants[] = {0, 1};
    struct wio_store_request request = {.op = op,
                                        .flags = WIO_STORE_FLAG_SINGLE,
                                        .number = 1,
                                        .txn = {1, 2, 3, 1},
                                        .file = 5,
                                        .size = 100,
                                        .offset = 4096,
                                        .path = "/a/b",
                                        .path_size = 4,
                                        .path2 = "/a/c",
                                        .path2_size = 4,
                                        .data = (const uint8_t *)"data",
                                        .data_size = 4,
                                        .segments = 2};
    uint32_t data_bytes = 0;
    if (op == WIO_STORE_PREPARE || op == WIO_STORE_WRITE) {
        request.flags = WIO_STORE_FLAG_PREPARE;
        request.participants = participants;
        request.participant_count = 2;
    }
    require(wio_wire_put_request(bytes, &request, &data_bytes));
    require(wio_blob_put(bytes, "data", data_bytes));
    write_seed(dir, "request-", name, bytes);
}

static void write_reply(const char *dir, struct wio_blob *bytes, uint16_t op, const char *name)
{
    struct wio_store_reply reply = {.op = op,
                                    .number = 1,
                                    .txn = {1, 2, 3, 1},
                                    .received_ns = 10,
                                    .sent_ns = 20,
                                    .data = (const uint8_t *)"data",
                                    .data_size = 4,
                                    .blockers = {.count = 9, .listed = 1, .list = {blocker()}}};
    uint32_t data_bytes = 0;
    require(wio_wire_put_reply(bytes, &reply, &data_bytes));
    require(wio_blob_put(bytes, "data", data_bytes));
    write_seed(dir, "reply-", name, bytes);
}

static void write_session(const char *dir, struct wio_blob *bytes)
{
    const struct wio_wire_hello hello = {.auth = WIO_WIRE_AUTH_KEY,
                                         .client = 1,
                                         .job = "slurm 1",
                                         .host = "node1",
                                         .executable = "/usr/bin/a.out"};
    const struct wio_wire_challenge challenge = {.auth = WIO_WIRE_AUTH_KEY};
    const struct wio_wire_proof_text proof = {(const uint8_t *)"MUNGE:x:", 8};
    const struct wio_wire_welcome welcome = {.server = 1, .frame_max = 1 << 20};
    const struct wio_wire_job job = {.job = 1, .name = "slurm 1"};
    const struct wio_store_push push = {
        .op = WIO_STORE_WOUND, .txn = {1, 2, 3, 1}, .because = blocker()};
    require(wio_wire_put_hello(bytes, &hello));
    write_seed(dir, "", "hello", bytes);
    require(wio_wire_put_challenge(bytes, &challenge));
    write_seed(dir, "", "challenge", bytes);
    require(wio_wire_put_proof(bytes, &proof));
    write_seed(dir, "", "proof", bytes);
    require(wio_wire_put_welcome(bytes, &welcome));
    write_seed(dir, "", "welcome", bytes);
    require(wio_wire_put_job(bytes, &job));
    write_seed(dir, "", "job", bytes);
    require(wio_wire_put_push(bytes, &push));
    write_seed(dir, "", "wound", bytes);
    const struct wio_store_push window = {.op = WIO_STORE_WINDOW, .window = 3};
    require(wio_wire_put_push(bytes, &window));
    write_seed(dir, "", "window", bytes);
}

/* With what admission adds. */
static void write_admission(const char *dir, struct wio_blob *bytes)
{
    const struct wio_ticket ticket = {.sequence = 1, .mac = 2, .incarnation = 3, .retries = 4};
    const struct wio_store_request request = {.op = WIO_STORE_READ,
                                              .flags = WIO_STORE_FLAG_ADMIT,
                                              .number = 1,
                                              .size = 100,
                                              .asks = {.remaining_ns = 5, .ticket = ticket}};
    const struct wio_store_reply reply = {.op = WIO_STORE_READ,
                                          .result = WIO_STORE_BUSY,
                                          .number = 1,
                                          .has_told = true,
                                          .told = {.reason = 1, .hint = 2, .ticket = ticket}};
    uint32_t data_bytes = 0;
    require(wio_wire_put_request(bytes, &request, &data_bytes));
    write_seed(dir, "", "admit-request", bytes);
    require(wio_wire_put_reply(bytes, &reply, &data_bytes));
    write_seed(dir, "", "admit-reply", bytes);
}

int main(int argc, char **argv)
{
    struct wio_blob bytes = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: store_wire_seeds CORPUS/store_wire\n");
        return 2;
    }
#define X(name, request, reply)                                                                    \
    write_request(argv[1], &bytes, WIO_STORE_##name, #name);                                       \
    write_reply(argv[1], &bytes, WIO_STORE_##name, #name);
#include "store/wire/fields.def"
#undef X
    write_session(argv[1], &bytes);
    write_admission(argv[1], &bytes);
    wio_blob_fini(&bytes);
    return 0;
}
