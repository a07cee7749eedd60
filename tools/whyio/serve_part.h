/* SPDX-License-Identifier: Apache-2.0 */
/* `whyio serve --role=..`: which part of a store the process is. */
#ifndef WHYIO_SERVE_PART_H
#define WHYIO_SERVE_PART_H

#include "store/serve/serve.h"

struct serve_part_options {
    const char *role;        /* NULL: all */
    const char *targets;     /* of --targets; NULL: none */
    const char *servers_key; /* a file; NULL: none */
};

struct serve_part {
    struct wio_serve_part part;
    char *list; /* the text that `addresses` point into */
    const char *addresses[WIO_SERVE_RANKS_MAX];
};

/* "all", "catalogue" or "target". */
bool serve_role_find(const char *text, enum wio_serve_role *role_out);
const char *serve_role_name(enum wio_serve_role role);
/*
 * The list of --targets, the place of `address` in it where the role is target, and the key of the
 * store's servers. WIO_ERR_USAGE: what is wrong with the options, by their names. The caller calls
 * serve_part_fini, also after an error.
 */
WIO_MUST_CHECK enum wio_status serve_part_init(const struct serve_part_options *options,
                                               const char *address, struct serve_part *part_out,
                                               struct wio_error *err);
void serve_part_fini(struct serve_part *part);

#endif
