/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a row of transfers that a change gathers: of all files, or of those of an event.
 * Private to the room. */
#ifndef WIO_PREDICT_CHANGES_CHANGE_ENDS_H
#define WIO_PREDICT_CHANGES_CHANGE_ENDS_H

#include "predict/changes/change_work.h"

enum wio_change_end { WIO_CHANGE_ENDS_NOTHING, WIO_CHANGE_ENDS_FILE, WIO_CHANGE_ENDS_ALL };

/* Where a stream is in what other threads wait for. */
struct wio_change_giving {
    uint32_t stream;
    size_t act;
    bool is_alone; /* of the streams of its process */
};

/* The first event of a stream, or a later one: does another thread wait for something that this one
 * gives up to it? Events of one stream after the other. */
bool wio_change_gives(struct wio_change_giving *giving, const struct wio_change_work *work,
                      const struct wio_event *event);
/* An event that is no transfer of the change, behind wio_change_gives for it: locks and syncs end
 * all, others what is gathered of their files. */
enum wio_change_end wio_change_ends(const struct wio_change_giving *giving,
                                    const struct wio_event *event);

#endif
