/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing of a ring, and reading what came out, which must be a sound trace whatever the ring was.
 * The input is the fixed part of the header, then slots of the first chunk and on; what would
 * refuse every input (magic, hash of the table of calls) is put right.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/trace.h>

#include "base/crc.h"
#include "fuzz_files.h"
#include "ops/calls.h"
#include "ring/ring.h"
#include "seal/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX (3u * WIO_CHUNK_BYTES)

static void repair(struct wio_ring_header *header)
{
    memcpy(header->magic, WIO_RING_MAGIC, sizeof(header->magic));
    header->version = WIO_RING_VERSION;
    header->header_bytes = WIO_RING_HEADER_BYTES;
    header->chunk_bytes = WIO_CHUNK_BYTES;
    header->clock = header->clock % 2 + 1;
    header->calls_hash = wio_calls_hash();
}

/* Half of the texts get the right checksum, so that they are used. */
static void repair_texts(uint8_t *slots, size_t size)
{
    for (size_t at = 0; at + 2 * WIO_SLOT_BYTES <= size; at += WIO_SLOT_BYTES) {
        struct wio_slot_text text;
        memcpy(&text, slots + at, sizeof(text));
        if (text.kind == WIO_SLOT_STRING && text.bytes <= WIO_TEXT_INLINE && text.id % 2 == 1) {
            text.lo = wio_crc32c(0, text.payload, text.bytes);
            memcpy(slots + at, &text, sizeof(text));
        }
    }
}

/* What sealing itself says of a damaged ring, and events that come later than any program's can
 * (one thread in two writers), are in a sound trace; nothing else is. */
static void stop_on_fault(void *arg, const struct wio_error *fault)
{
    (void)arg;
    if (strstr(fault->message, "damaged") == NULL &&
        strstr(fault->message, "to begin at") == NULL) {
        fprintf(stderr, "fuzz_ring: %s\n", fault->message);
        abort();
    }
}

/* The sealed segment as a trace directory of its own. */
static void check_sealed(int fd)
{
    static char bytes[1 << 20];
    char dir[96];
    char name[128];
    ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
    (void)snprintf(dir, sizeof(dir), "%s/out", fuzz_dir);
    (void)snprintf(name, sizeof(name), "%s/a.seg", dir);
    (void)mkdir(dir, 0700); /* fuzz_remove takes it away */
    int out = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (size < 0 || out < 0 || write(out, bytes, (size_t)size) != size || close(out) != 0) {
        perror("fuzz_ring: cannot write");
        abort();
    }
    enum wio_status status = wio_trace_check(dir, stop_on_fault, NULL, NULL);
    if (size < (ssize_t)sizeof(bytes) && status != WIO_OK && status != WIO_END) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wio_ring_header header;
    memset(&header, 0, sizeof(header));
    size_t head = size < sizeof(header) ? size : sizeof(header);
    size_t rest = size - head < INPUT_MAX ? size - head : INPUT_MAX;
    uint8_t *bytes = calloc(1, WIO_RING_HEADER_BYTES + rest);
    if (bytes == NULL) {
        return 0;
    }
    fuzz_make("raw/a.ring");
    if (size > 0) {
        memcpy(&header, data, head);
        memcpy(bytes + WIO_RING_HEADER_BYTES, data + head, rest);
    }
    repair(&header);
    memcpy(bytes, &header, sizeof(header));
    repair_texts(bytes + WIO_RING_HEADER_BYTES, rest);
    fuzz_write(bytes, WIO_RING_HEADER_BYTES + rest);
    free(bytes);
    struct wio_seal_params params = {.struct_size = sizeof(params), .keep_rings = true};
    int fd = -1;
    if (wio_seal_to_fd(fuzz_dir, NULL, &fd, &params, NULL) == WIO_OK) {
        check_sealed(fd);
        (void)close(fd);
    }
    return 0;
}
