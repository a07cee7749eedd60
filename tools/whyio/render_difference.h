/* SPDX-License-Identifier: Apache-2.0 */
/* Where two runs of one program part. */
#ifndef WHYIO_RENDER_DIFFERENCE_H
#define WHYIO_RENDER_DIFFERENCE_H

#include "base/json.h"
#include "throttle/rules/differ.h"

/* The field "difference" of an object; NULL: there is none. */
void render_difference_json(struct wio_json *json, const struct wio_difference *difference);
/* On the standard error. */
void render_difference_text(const struct wio_difference *difference);

#endif
