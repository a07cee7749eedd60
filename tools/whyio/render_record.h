/* SPDX-License-Identifier: Apache-2.0 */
/* What whyio record says on the standard error. */
#ifndef WHYIO_RENDER_RECORD_H
#define WHYIO_RENDER_RECORD_H

#include "throttle/rules/throttle.h"

/* The closing line; `throttle` is NULL where nothing was held. */
void render_record_json(const struct wio_record_result *result,
                        const struct wio_throttle_result *throttle);
void render_record_text(const struct wio_record_result *result);
void render_throttle_text(const struct wio_throttle_result *throttle);
/* What must be told also with -q: why the result is less than what was asked for. */
void render_record_trouble(const struct wio_record_result *result);
void render_throttle_trouble(const struct wio_throttle_result *throttle);
void render_throttle_news(const struct wio_throttle_news *news);

#endif
