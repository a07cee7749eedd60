/* SPDX-License-Identifier: Apache-2.0 */
/* VERSION and the superblock of the log: what is accepted is exactly what would be written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "store/log/redo_super.h"
#include "store/storage/root.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void try_version(const uint8_t *data, size_t size)
{
    struct wio_store_root root;
    struct wio_error err = WIO_ERROR_INIT;
    char again[WIO_STORE_VERSION_MAX];
    if (wio_store_version_decode((const char *)data, size, "VERSION", &root, &err) == WIO_OK) {
        wio_store_version_encode(&root, again);
        require(strlen(again) == size && memcmp(again, data, size) == 0);
    } else {
        require(err.message[0] != '\0');
    }
}

static void try_super(const uint8_t *data, size_t size)
{
    struct redo_super super;
    struct redo_super back;
    struct wio_error err = WIO_ERROR_INIT;
    uint8_t block[REDO_BLOCK];
    if (redo_super_choose(data, size, "super", &super, &err) == WIO_OK) {
        redo_super_encode(&super, block);
        require(redo_super_decode(block, sizeof(block), &back));
        require(back.generation == super.generation && back.redo_from == super.redo_from);
        require(super.segment_bytes >= WIO_LOG_SEGMENT_MIN);
    } else {
        require(err.message[0] != '\0');
    }
}

/* Both blocks with the checksum that they should have. */
static void try_repaired(const uint8_t *data, size_t size)
{
    uint8_t copy[2 * REDO_BLOCK] = {0};
    size = size < sizeof(copy) ? size : sizeof(copy);
    memcpy(copy, data, size);
    for (size_t at = 0; at < sizeof(copy); at += REDO_BLOCK) {
        uint32_t crc = wio_crc32c(0, copy + at, 40);
        memcpy(copy + at + 40, &crc, sizeof(crc));
    }
    try_super(copy, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_version(data, size);
    try_super(data, size);
    try_repaired(data, size);
    return 0;
}
