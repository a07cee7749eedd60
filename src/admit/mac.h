/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-2-4 of `size` bytes under a key of 16, as a number of 64 bits: libsodium's where it is
 * there (mac_sodium.c), else this room's own (mac_own.c); both give the same.
 *
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, appendix A.
 */
#ifndef WIO_ADMIT_MAC_H
#define WIO_ADMIT_MAC_H

#include <stddef.h>
#include <stdint.h>

uint64_t wio_mac64(const uint8_t key[16], const void *data, size_t size);

#endif
