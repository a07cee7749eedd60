/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing of a ring whose chunks lie in the file of a bound. The input is that file: the header (of
 * which what would refuse every input is put right), one page of states, then places.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <whyio/trace.h>

#include "fuzz_files.h"
#include "ops/calls.h"
#include "ring/bound.h"
#include "seal/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD (WIO_BOUND_HEADER_BYTES + 4096u)
#define INPUT_MAX (3u * WIO_CHUNK_BYTES)
#define BOOT "11111111-2222-3333-4444-555555555555"

static void write_ring(void)
{
    static uint8_t bytes[WIO_RING_HEADER_BYTES];
    struct wio_ring_header header = {
        .version = WIO_RING_VERSION,
        .header_bytes = WIO_RING_HEADER_BYTES,
        .chunk_bytes = WIO_CHUNK_BYTES,
        .clock = WIO_CLOCK_MONOTONIC_NS,
        .pid = 7,
        .pid_start = 7,
        .rank = -1,
        .start_mono_ns = 7,
        .calls_hash = wio_calls_hash(),
        .keep = WIO_BOUND_LAST,
        .max_bytes = WIO_BOUND_MIN_BYTES,
        .host = "node1",
        .boot_id = BOOT,
    };
    memcpy(header.magic, WIO_RING_MAGIC, sizeof(header.magic));
    memcpy(bytes, &header, sizeof(header));
    fuzz_make("raw/a.ring");
    fuzz_write(bytes, sizeof(bytes));
    (void)snprintf(fuzz_file, sizeof(fuzz_file), "%s/raw/" BOOT ".%u" WIO_BOUND_ENDING, fuzz_dir,
                   (unsigned)geteuid());
}

/* Half of the inputs keep the place where their data begin. */
static void repair(struct wio_bound_header *header)
{
    memcpy(header->magic, WIO_BOUND_MAGIC, sizeof(header->magic));
    header->version = WIO_BOUND_VERSION;
    if (header->data_offset % 2 == 0) {
        header->data_offset = HEAD;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wio_bound_header header;
    const size_t rest = size < INPUT_MAX ? size : INPUT_MAX;
    const size_t head = size < sizeof(header) ? size : sizeof(header);
    uint8_t *bytes = calloc(1, HEAD + INPUT_MAX);
    if (bytes == NULL) {
        return 0;
    }
    if (fuzz_dir[0] == '\0') {
        write_ring();
    }
    memset(&header, 0, sizeof(header));
    if (rest > 0) {
        memcpy(&header, data, head);
        memcpy(bytes + WIO_BOUND_HEADER_BYTES, data + head, rest - head);
    }
    repair(&header);
    memcpy(bytes, &header, sizeof(header));
    fuzz_write(bytes, WIO_BOUND_HEADER_BYTES + rest);
    free(bytes);
    struct wio_seal_params params = {.struct_size = sizeof(params), .keep_rings = true};
    int fd = -1;
    if (wio_seal_to_fd(fuzz_dir, NULL, &fd, &params, NULL) == WIO_OK) {
        (void)close(fd);
    }
    return 0;
}
