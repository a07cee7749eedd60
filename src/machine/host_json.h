/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and tables out of a JSON object of HOST.json. Private to host.c. */
#ifndef WIO_MACHINE_HOST_JSON_H
#define WIO_MACHINE_HOST_JSON_H

#include <stdbool.h>

#include <jansson.h>

#include <whyio/status.h>

#include "machine/host.h"
#include "machine/meta.h"
#include "model/model.h"

/* Where in HOST.json something is, for errors. */
struct wio_host_json {
    const char *file;
    const char *device; /* NULL: of the machine */
    const json_t *object;
    struct wio_error *err;
};

/* WIO_ERR_FORMAT that names file, device and parameter. */
enum wio_status wio_host_refuse(const struct wio_host_json *json, const char *name,
                                const char *expected);
/* The same of a parameter that a model refused. */
enum wio_status wio_host_refuse_as(const struct wio_host_json *json, const struct wio_error *wrong);
/* The member, NULL where it is missing; null is as good as not there. */
const json_t *wio_host_find(const struct wio_host_json *json, const char *name);
/* All parameters and tables that are there; the others stay as they are. Those of the machine are
 * refused in a device. */
WIO_MUST_CHECK enum wio_status wio_host_params(const struct wio_host_json *json,
                                               struct wio_model_params *params);
/* The members "trusted" and "doubts". */
WIO_MUST_CHECK enum wio_status wio_host_trust_read(const struct wio_host_json *json,
                                                   struct wio_host_trust *out);
/* The member "meta"; names that are no operations are for information. */
WIO_MUST_CHECK enum wio_status wio_host_meta(const struct wio_host_json *json,
                                             struct wio_meta *meta);

/* The member "store"; without it targets are 0. */
WIO_MUST_CHECK enum wio_status wio_host_store_read(const struct wio_host_json *json,
                                                   struct wio_host_store *out);

#endif
