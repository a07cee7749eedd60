/* SPDX-License-Identifier: Apache-2.0 */
/* How a prediction looks. docs/schema/predict.json describes the JSON. */
#ifndef WHYIO_RENDER_PREDICT_H
#define WHYIO_RENDER_PREDICT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"
#include "predict/predict.h"

/* Of the total and the I/O, with bw_dev higher and lower by its spread. */
struct render_predict_range {
    double low_s;
    double high_s;
    double io_low_s; /* of the I/O */
    double io_high_s;
    double spread; /* relative; 0: not known */
};

struct render_predict {
    FILE *out;
    bool is_json;
    bool has_head; /* the table's */
    struct wio_json json;
    struct render_predict_range range; /* set it before the summary */
};

void render_predict_init(struct render_predict *render, FILE *out, bool is_json);
/* A wio_predict_op_fn: one line; `arg` is the struct render_predict. Stops when `out` fails. */
enum wio_status render_predict_op(void *arg, uint64_t index, const struct wio_model_result *result,
                                  struct wio_error *err);
void render_predict_summary(struct render_predict *render, const struct wio_predict_result *result);

/* --set: a number of HOST.json, its value as it was given and as a number. */
struct render_predict_set {
    const char *key;
    const char *text;
    double value;
};
/* A row of the table; as JSON a summary that has the value besides. */
void render_predict_row(struct render_predict *render, const struct render_predict_set *set,
                        const struct wio_predict_result *result);

#endif
