/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <sodium.h>

#include "admit/mac.h"

_Static_assert(crypto_shorthash_KEYBYTES == 16, "the key of SipHash-2-4");

uint64_t wio_mac64(const uint8_t key[16], const void *data, size_t size)
{
    unsigned char hash[crypto_shorthash_BYTES];
    (void)crypto_shorthash(hash, data, size, key); /* always 0 */
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(hash); i++) {
        value |= (uint64_t)hash[i] << (8 * i);
    }
    return value;
}
