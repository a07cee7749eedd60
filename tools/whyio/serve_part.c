/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "serve_place.h"

static const char *const roles[] = {
    [WIO_SERVE_ALL] = "all", [WIO_SERVE_CATALOGUE] = "catalogue", [WIO_SERVE_TARGET] = "target"};

bool serve_role_find(const char *text, enum wio_serve_role *role_out)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(roles); i++) {
        if (strcmp(roles[i], text) == 0) {
            *role_out = (enum wio_serve_role)i;
            return true;
        }
    }
    return false;
}

const char *serve_role_name(enum wio_serve_role role)
{
    return roles[role];
}

#define USAGE(err, ...) wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, __VA_ARGS__)

static enum wio_status add_address(struct serve_part *part, const char *address,
                                   struct wio_error *err)
{
    if (part->part.count == WIO_SERVE_RANKS_MAX) {
        return USAGE(err, "--targets: expected at most %d addresses", WIO_SERVE_RANKS_MAX);
    }
    WIO_TRY(wio_serve_check_target(address, err));
    for (uint16_t i = 0; i < part->part.count; i++) {
        if (strcmp(part->addresses[i], address) == 0) {
            return USAGE(err, "--targets: '%.300s' is there twice", address);
        }
    }
    part->addresses[part->part.count++] = address;
    return WIO_OK;
}

static enum wio_status read_list(struct serve_part *part, const char *text, struct wio_error *err)
{
    part->list = strdup(text);
    if (part->list == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    char *at = part->list;
    while (at != NULL) {
        WIO_TRY(add_address(part, strsep(&at, ","), err));
    }
    return WIO_OK;
}

static enum wio_status find_place(struct serve_part *part, const char *address,
                                  struct wio_error *err)
{
    for (uint16_t i = 0; address != NULL && i < part->part.count; i++) {
        if (strcmp(part->addresses[i], address) == 0) {
            part->part.index = i;
            return WIO_OK;
        }
    }
    return USAGE(err,
                 "--role=target: expected ADDRESS to be one of --targets, as it is there; found "
                 "'%.300s'",
                 address != NULL ? address : "");
}

enum wio_status serve_part_init(const struct serve_part_options *options, const char *address,
                                struct serve_part *part_out, struct wio_error *err)
{
    *part_out = (struct serve_part){0};
    if (!serve_role_find(options->role, &part_out->part.role)) {
        return USAGE(err, "--role=%.100s: expected all, catalogue or target", options->role);
    }
    if (options->targets == NULL) {
        return USAGE(err, "--role=%s: expected --targets=ADDRESS,ADDRESS..: where all targets are",
                     options->role);
    }
    if (options->servers_key == NULL) {
        return USAGE(err, "--role=%s: expected --servers-key=FILE, the same at all its servers",
                     options->role);
    }
    WIO_TRY(read_list(part_out, options->targets, err));
    if (part_out->part.role == WIO_SERVE_TARGET) {
        WIO_TRY(find_place(part_out, address, err));
    }
    part_out->part.addresses = part_out->addresses;
    return serve_key_read(options->servers_key, &part_out->part.servers_key, err);
}

void serve_part_fini(struct serve_part *part)
{
    free(part->list);
    part->list = NULL;
    wio_link_key_forget(&part->part.servers_key);
}
