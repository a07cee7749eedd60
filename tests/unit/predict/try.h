/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts traces made by hand (support/script.h) on a machine whose costs are easy to see: 1 byte
 * a microsecond, so that sizes are microseconds. */
#ifndef WIO_TESTS_PREDICT_TRY_H
#define WIO_TESTS_PREDICT_TRY_H

#include <whyio/status.h>

#include "predict/predict.h"

#define TWO "process 10 rank=0\nprocess 20 rank=1\nstream 0 10\nstream 1 20\n"
#define US 1000 /* ns */

/* Of one test: begun by try_begin with the naive model, released by try_end. */
struct
try {
    struct wio_predict_params params;
    struct wio_predict_result result;
    double ends_s[64];   /* of the operations, in the order of their end */
    const char *written; /* with keep_events: the prediction as a trace */
};
extern struct try try;

int try_begin(void **state);
int try_end(void **state);
#define TRY(function) cmocka_unit_test_setup_teardown(function, try_begin, try_end)

/* Make HOST.json `name` with further members (", \"meta\": .."), or none (""). Valid to the end of
 * the test. */
const char *try_host(const char *name, const char *members);
enum wio_status try_predict(const char *script, struct wio_error *err);
/* Which must succeed; what was there before is released. */
void predict(const char *script);
void assert_us(double seconds, double us);

#endif
