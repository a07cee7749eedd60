/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recorded event is to a simulation: an operation whose cost the model says, one that takes
 * a measured or its recorded time, or a point in the thread's order.
 */
#ifndef WIO_PREDICT_CONVERT_H
#define WIO_PREDICT_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/trace.h>

#include "model/model.h"
#include "predict/predict.h"
#include "predict/used_files.h"

enum wio_convert_kind {
    WIO_CONVERT_PASS,  /* takes no time of its own: what lies behind it says how long it took */
    WIO_CONVERT_TIMED, /* takes the time that the machine has for it, or as recorded */
    WIO_CONVERT_OP,    /* `op` */
    WIO_CONVERT_COPY,  /* `op`, after a read of `read` */
    WIO_CONVERT_ASYNC  /* `op` begins; the thread goes on */
};

/* What becomes of the files that an event names. */
enum wio_convert_change {
    WIO_CONVERT_NO_CHANGE,
    WIO_CONVERT_CUTS,    /* it ends at op.offset now; or was made just now, empty */
    WIO_CONVERT_REMOVES, /* it is gone */
    WIO_CONVERT_FORGETS, /* what is in memory of it may leave: `op` */
    WIO_CONVERT_CLOSES,  /* a process that had it open has it no more */
    WIO_CONVERT_RENAMES  /* the file that had the new name, if there was one, is gone: `op` cuts it
                          */
};

enum wio_convert_makes { WIO_CONVERT_FINDS, WIO_CONVERT_MAY_MAKE, WIO_CONVERT_MAKES };

struct wio_converted {
    enum wio_convert_kind kind;
    enum wio_convert_change change;
    enum wio_convert_makes makes; /* an open: does it make the file? */
    bool has_offset;              /* else it goes on where the file's last operation ended */
    bool is_metadata;             /* its time is in the machine's `meta`, if anywhere: TIMED; of
                                     OP (a close that flushes) what comes behind it */
    bool is_everywhere;           /* OP: at the same time on all devices of the host */
    uint32_t path;                /* string id: under which the file of `op` was named */
    struct wio_model_op op;       /* its file: a number of struct wio_event_files */
    struct wio_model_op read;
};

struct wio_converter {
    const struct wio_used_files *files;
    const struct wio_predict_whatif *whatif;
};

/* `on`: the files of the event. `caller`: the class of the thread's last call, of which an event
 * with flag CAUSED is a part. What moves more bytes than models take at once, or bytes that lie
 * behind what they have, takes its recorded time. */
void wio_convert(const struct wio_converter *converter, const struct wio_event *event,
                 const struct wio_event_files *on, enum wio_class caller,
                 struct wio_converted *out);

#endif
