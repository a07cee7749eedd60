/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/grants.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum { TOLD_BYTES = WIO_GRANT_BYTES - WIO_LINK_KEY_BYTES };

/* R-GRANT-1: the last 32 bytes of a grant. */
static void derive(const struct wio_link_key *key, const uint8_t told[TOLD_BYTES],
                   struct wio_link_key *seal_out)
{
    wio_link_key_derive(key, "whyio store grant", told, TOLD_BYTES, seal_out);
}

static void put(uint8_t *bytes, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

void wio_grant_make(const struct wio_link_key *key, const struct wio_grant *grant,
                    uint8_t bytes_out[WIO_GRANT_BYTES])
{
    struct wio_link_key seal;
    put(bytes_out, grant->file, 8);
    put(bytes_out + 8, grant->client, 8);
    put(bytes_out + 16, grant->uid, 4);
    put(bytes_out + 20, grant->rights, 4);
    derive(key, bytes_out, &seal);
    memcpy(bytes_out + TOLD_BYTES, seal.bytes, sizeof(seal.bytes));
}

static enum wio_status read_told(struct wio_buf bytes, struct wio_grant *grant_out)
{
    WIO_TRY(wio_buf_u64(&bytes, &grant_out->file));
    WIO_TRY(wio_buf_u64(&bytes, &grant_out->client));
    WIO_TRY(wio_buf_u32(&bytes, &grant_out->uid));
    return wio_buf_u32(&bytes, &grant_out->rights);
}

bool wio_grant_read(const struct wio_link_key *key, const void *data, size_t size,
                    struct wio_grant *grant_out)
{
    const uint8_t *bytes = data;
    struct wio_link_key seal;
    if (size != WIO_GRANT_BYTES) {
        return false;
    }
    derive(key, bytes, &seal);
    return wio_link_key_is(&seal, bytes + TOLD_BYTES) &&
           read_told(wio_buf_of(data, size), grant_out) == WIO_OK;
}

/* Of data there is a right to write, of the byte of flock(2) there is none. */
static uint32_t rights_to_lock(const struct wio_store_request *request)
{
    if (request->offset >= WIO_GRANT_LOCKS_FROM) {
        return WIO_GRANT_READ | WIO_GRANT_WRITE;
    }
    return request->mode == WIO_LOCK_SHARED ? WIO_GRANT_READ : WIO_GRANT_WRITE;
}

bool wio_grant_allows(uint32_t rights, const struct wio_store_request *request)
{
    const uint32_t both = WIO_GRANT_READ | WIO_GRANT_WRITE;
    switch (request->op) {
    case WIO_STORE_READ:
        return (rights & WIO_GRANT_READ) != 0;
    case WIO_STORE_WRITE:
        return (request->flags & WIO_STORE_FLAG_INCREMENT) != 0 ? (rights & both) == both
                                                                : (rights & WIO_GRANT_WRITE) != 0;
    case WIO_STORE_TRUNCATE:
        return (rights & WIO_GRANT_WRITE) != 0;
    case WIO_STORE_SIZE:
        return (rights & (both | WIO_GRANT_SIZE)) != 0;
    case WIO_STORE_DROP:
        return (rights & WIO_GRANT_DROP) != 0;
    case WIO_STORE_LOCK:
        return (rights & rights_to_lock(request)) != 0;
    case WIO_STORE_UNLOCK:
    case WIO_STORE_POINTER:
        return (rights & both) != 0;
    default: /* of no file */
        return true;
    }
}

void wio_shown_fini(struct wio_shown *grants)
{
    wio_map_fini(&grants->rights);
    wio_map_fini(&grants->older);
}

static enum wio_status keep(struct wio_shown *grants, uint64_t file, uint64_t rights)
{
    if (grants->rights.hash.count >= WIO_GRANTS_KEPT) {
        wio_map_fini(&grants->older);
        grants->older = grants->rights;
        grants->rights = (struct wio_map){0};
    }
    return wio_map_put(&grants->rights, file, rights);
}

uint32_t wio_shown_get(struct wio_shown *grants, uint64_t file)
{
    const uint64_t *rights = wio_map_get(&grants->rights, file);
    if (rights != NULL) {
        return (uint32_t)*rights;
    }
    rights = wio_map_get(&grants->older, file);
    uint32_t found = rights != NULL ? (uint32_t)*rights : 0;
    if (found != 0) {
        (void)!keep(grants, file, found); /* without memory it stays where it is */
    }
    return found;
}

enum wio_status wio_shown_add(struct wio_shown *grants, const struct wio_grant *grant)
{
    return keep(grants, grant->file, wio_shown_get(grants, grant->file) | grant->rights);
}
