/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the data of two replies of the catalogue consist of: the entries of LIST and the addresses
 * of TARGETS (docs/STORE-PROTOCOL.md#replies). Pure.
 */
#ifndef WIO_STORE_WIRE_ENTRIES_H
#define WIO_STORE_WIRE_ENTRIES_H

#include "base/buf.h"
#include "store/messages.h"

enum { WIO_WIRE_ENTRY_NAME_MAX = 255, WIO_WIRE_ADDRESS_MAX = 299 };

struct wio_wire_entry {
    uint64_t cookie; /* not 0: LIST goes on behind it */
    struct wio_store_stat stat;
    const char *name; /* borrowed, not ended by NUL */
    uint32_t name_size;
};

/* WIO_ERR_USAGE: a name that none may have. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_wire_put_entry(struct wio_blob *out,
                                                  const struct wio_wire_entry *entry);
/* The next one: WIO_END behind the last. WIO_ERR_FORMAT, WIO_ERR_TRUNCATED: no entry, or a name
 * that leads elsewhere. */
WIO_MUST_CHECK enum wio_status wio_wire_get_entry(struct wio_buf *data,
                                                  struct wio_wire_entry *entry_out);

/* Pointers into `data`, at most WIO_STORE_PARTICIPANTS_MAX. WIO_ERR_FORMAT. */
WIO_MUST_CHECK enum wio_status
wio_wire_get_targets(const void *data, size_t size,
                     const char *addresses_out[WIO_STORE_PARTICIPANTS_MAX], uint16_t *count_out);
WIO_MUST_CHECK enum wio_status wio_wire_put_targets(struct wio_blob *out,
                                                    const char *const *addresses, uint16_t count);

#endif
