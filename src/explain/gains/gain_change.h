/* SPDX-License-Identifier: Apache-2.0 */
/* The change of a finding, as its options of `whyio predict` say it. Private to the room. */
#ifndef WIO_EXPLAIN_GAIN_CHANGE_H
#define WIO_EXPLAIN_GAIN_CHANGE_H

#include <stdbool.h>

#include "predict/changes/change.h"
#include "predict/predict.h"

struct wio_gain_change {
    bool is_setting;                  /* of the machine or of all writes: `whatif` .. */
    struct wio_predict_whatif whatif; /* (nothing else is set in it) */
    struct wio_change change;         /* .. else this, without a scope */
};

/* "--fsync-every=16", "--balance", "--sync=off", "--bf=1M" ..; false: it is none of these, and what
 * the change is then is not defined. */
bool wio_gain_change_read(const char *options, struct wio_gain_change *change_out);

/* The operations are left away, but for this part of them. */
void wio_gain_change_remove(double kept, struct wio_gain_change *change_out);

/* The setting in another what-if, beside what is there. */
void wio_gain_change_set(const struct wio_gain_change *change, struct wio_predict_whatif *whatif);

#endif
