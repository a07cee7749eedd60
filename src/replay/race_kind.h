/* SPDX-License-Identifier: Apache-2.0 */
/* What an operation changes of a file, and which such change explains a mismatch. Pure. */
#ifndef WIO_REPLAY_RACE_KIND_H
#define WIO_REPLAY_RACE_KIND_H

#include <stdbool.h>

#include <whyio/event.h>

#include "replay/replay.h"

enum rp_race_kind { RP_RACE_SIZE = 0, RP_RACE_NAMES, RP_RACE_ENTRIES, RP_RACE_MODE, RP_RACE_NONE };
#define RP_RACE_KINDS 4u /* without RP_RACE_NONE */
#define RP_RACE_IN(kind) (1u << (kind))

/* The kinds of change that it makes, as RP_RACE_IN; names stand for the entries of their
 * directories, too. `has_two_out`: both paths of the event are changed. */
unsigned rp_race_changes(const struct wio_event *event, bool *has_two_out);

/* The kind of change that would explain it; RP_RACE_NONE: errors of the target (EIO, EFBIG, ..), or
 * results that do not depend on what others do. A length is only that where both worked. */
enum rp_race_kind rp_race_kind_of(const struct wio_replay_mismatch *mismatch);

#endif
