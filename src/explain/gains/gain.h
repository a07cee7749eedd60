/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a change would gain: the run with the change of a finding goes through the simulation of
 * `predict`, beside the run as it was, on the machine of HOST.json; without it, and on network file
 * systems, whose page cache is not that of the model, with costs that are fitted from the trace
 * itself (predict/fit.h). These are a range.
 *
 *     gain = (predicted run - predicted run with the change) / predicted run * recorded run
 *
 * where a run lasts from the begin of its first operation to the end of its last.
 *
 * The change is restricted to what the finding is about (gain_scope.h), but for changes of the
 * machine's settings and of the distribution over ranks, which are of the whole program. A change
 * that leaves operations away is that of REMOVE, with the part that stays. Where no gain can be
 * computed it is NaN, and the text says why.
 */
#ifndef WIO_EXPLAIN_GAIN_H
#define WIO_EXPLAIN_GAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "explain/cache_phases.h"

enum wio_gain_basis { WIO_GAIN_NONE, WIO_GAIN_TRACE, WIO_GAIN_HOST };
const char *wio_gain_basis_name(enum wio_gain_basis basis);

struct wio_gain_params {
    const char *host; /* HOST.json, NULL = the trace; borrowed until the gains are released */
    uint32_t count;   /* so many findings that name a cause, the dearest, get one */
};

#define WIO_GAIN_TEXT 256

/* Seconds. NaN: not known. */
struct wio_gain {
    enum wio_gain_basis basis; /* NONE: there is no gain */
    double gain_s;             /* TRACE: NaN where only the range is known */
    double low_s;        /* TRACE: what is gained at least, negative where that is a loss .. */
    double high_s;       /* .. and at most */
    double with_s;       /* if the changes of the findings before are made as well; only
                              looked for where gain_s is far below the finding's seconds */
    double predicted_s;  /* the run with the change, on that basis */
    bool is_assumed;     /* TRACE: what the bytes of larger requests cost is, see predict/fit.h */
    const char *network; /* type of the network file system of its files, "" = none; static text */
    char why[WIO_GAIN_TEXT]; /* why there is none; "" where it was not asked for */
};

enum wio_gain_remark { WIO_GAIN_DOUBTED, WIO_GAIN_MISSPELT, WIO_GAIN_UNLIKE, WIO_GAIN_REMARKS };

struct wio_gains {
    enum wio_gain_basis basis;
    const char *host;              /* borrowed from the parameters */
    double predicted_s;            /* the run as it was, on this basis; NaN: not known */
    double recorded_s;             /* the same run as recorded; NaN: not known */
    struct wio_cache_phases cache; /* HOST: of the run as it was */
    struct wio_gain *items;        /* of each finding; owned */
    uint32_t count;
    char remarks[WIO_GAIN_REMARKS][WIO_GAIN_TEXT]; /* about HOST.json; "" = none */
};

struct wio_findings;
struct wio_steps;

/* All borrowed. */
struct wio_gain_input {
    const struct wio_trace *trace;
    const struct wio_steps *steps;
    const struct wio_findings *findings;
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit); /* may be NULL */
    void *progress_arg;
    uint64_t progress_done; /* what it was told before, of as much */
    uint64_t looked_ns;     /* waits for children by looking at times whether they have ended */
};

/*
 * A gain for each finding. The trace is read once for all predictions, and once for each change.
 * WIO_ERR_FORMAT and WIO_ERR_IO for a HOST.json that is wrong or cannot be read, also where no
 * finding has a change; a run that cannot be simulated is no error. Release with wio_gains_fini,
 * also after an error. Thread safe: nothing is shared between calls.
 */
WIO_MUST_CHECK enum wio_status wio_gains_find(const struct wio_gain_input *input,
                                              const struct wio_gain_params *params,
                                              struct wio_gains *gains, struct wio_error *err);
void wio_gains_fini(struct wio_gains *gains);

#endif
