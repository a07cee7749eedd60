/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of docs/MODEL.md#cawl a second time, as plainly as possible: one array of blocks, every
 * question a scan. What src/model/cawl.c is compared with.
 */
#ifndef WIO_TESTS_CAWL_REFERENCE_H
#define WIO_TESTS_CAWL_REFERENCE_H

#include "model/model.h"

struct reference;

struct reference *reference_create(const struct wio_model_params *params);
void reference_destroy(struct reference *reference);
void reference_step(struct reference *reference, const struct wio_model_op *op,
                    struct wio_model_result *result);

#endif
