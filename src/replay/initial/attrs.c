/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/attrs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"

void rp_attrs_fini(struct rp_attrs *attrs)
{
    free(attrs->items);
    wio_map_fini(&attrs->known);
    *attrs = (struct rp_attrs){0};
}

bool rp_attr_is_data(const char *name)
{
    return strncmp(name, "user.", 5) == 0;
}

static uint32_t at_most(uint64_t bytes)
{
    return bytes < RP_ATTR_BYTES_MAX ? (uint32_t)bytes : RP_ATTR_BYTES_MAX;
}

/* Was it there when the operation began? How large? False: the operation does not tell. */
static bool tells(const struct wio_event *event, struct rp_attr *attr)
{
    switch (event->op) {
    case WIO_OP_getxattr:
    case WIO_OP_lgetxattr:
    case WIO_OP_fgetxattr:
        attr->is_initial = event->error == 0 || event->error == ERANGE;
        attr->bytes = at_most(event->error == ERANGE ? event->size + 1 : (uint64_t)event->result);
        break;
    case WIO_OP_removexattr:
    case WIO_OP_lremovexattr:
    case WIO_OP_fremovexattr:
        attr->is_initial = event->error == 0;
        break;
    case WIO_OP_setxattr:
    case WIO_OP_lsetxattr:
    case WIO_OP_fsetxattr:
        attr->is_initial = event->error == EEXIST;
        break;
    default:
        return false;
    }
    return event->error == 0 || event->error == ERANGE || event->error == EEXIST ||
           event->error == ENODATA;
}

static enum wio_status make_room(struct rp_attrs *attrs)
{
    void *items = attrs->items;
    WIO_TRY(wio_make_room(&items, sizeof(*attrs->items), &attrs->capacity, attrs->count + 1));
    attrs->items = items;
    return WIO_OK;
}

enum wio_status rp_attrs_see(struct rp_attrs *attrs, const struct wio_event *event, uint32_t file,
                             uint32_t name, uint32_t *first)
{
    struct rp_attr attr = {.name = name, .next = *first};
    uint64_t key = (uint64_t)file << 32 | name;
    if (!tells(event, &attr) || wio_map_get(&attrs->known, key) != NULL) {
        return WIO_OK;
    }
    WIO_TRY(make_room(attrs));
    WIO_TRY(wio_map_put(&attrs->known, key, attrs->count));
    attrs->items[attrs->count++] = attr;
    *first = attrs->count;
    return WIO_OK;
}
