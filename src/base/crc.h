/* SPDX-License-Identifier: Apache-2.0 */
/* CRC32C (Castagnoli, reflected polynomial 0x82f63b78), as iSCSI (RFC 3720) and ext4 use it. */
#ifndef WIO_BASE_CRC_H
#define WIO_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC of `size` bytes; continue by giving the former result as `crc` (start with 0). Pure; uses
 * the CPU's instruction where there is one. Signal safe. */
uint32_t wio_crc32c(uint32_t crc, const void *data, size_t size);

/* The same without the CPU's instruction: what other machines run, here for tests to compare. */
uint32_t wio_crc32c_portable(uint32_t crc, const void *data, size_t size);

#endif
