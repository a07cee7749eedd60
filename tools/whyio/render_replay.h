/* SPDX-License-Identifier: Apache-2.0 */
/* How the result of `whyio replay` looks. docs/schema/replay.json describes the JSON. */
#ifndef WHYIO_RENDER_REPLAY_H
#define WHYIO_RENDER_REPLAY_H

#include <stdio.h>

#include <whyio/trace.h>

#include "replay/replay.h"

/* One object with its line end. */
void render_replay_json(const struct wio_trace *trace, const struct wio_replay_result *result,
                        FILE *out);
void render_replay_text(const struct wio_trace *trace, const struct wio_replay_result *result,
                        FILE *out);

/* The mismatches as the text has them: in groups. Nothing where there are none. */
void render_replay_mismatches(const struct wio_trace *trace, const struct wio_replay_result *result,
                              FILE *out);

/* What the trace could not see, and so the replay did not do: kinds as of wio_unseen_key, and how
 * often each. */
uint32_t render_replay_unseen_kinds(const struct wio_trace *trace);
uint64_t render_replay_unseen(const struct wio_trace *trace, uint32_t kind);

#endif
