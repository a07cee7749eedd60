/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of whyio predict. */
#ifndef WHYIO_TOOLS_PREDICT_OPTIONS_H
#define WHYIO_TOOLS_PREDICT_OPTIONS_H

#include <stdbool.h>

#include "options.h"
#include "predict/changes/change.h"
#include "predict/predict.h"

#define PREDICT_HOSTS_MAX 1024
#define PREDICT_DIRS_MAX 256
#define PREDICT_CHANGES_MAX 16
#define PREDICT_VALUES_MAX 256

/* Texts are borrowed from the command line. */
struct predict_options {
    struct cmd_options common;
    const char *dirs[PREDICT_DIRS_MAX]; /* these .. */
    size_t dir_count;
    const char *ops; /* .. or this */
    const char *out; /* -o */
    struct wio_predict_params params;
    struct wio_predict_host
        hosts[PREDICT_HOSTS_MAX];                   /* of params; their texts are the arguments' */
    struct wio_change changes[PREDICT_CHANGES_MAX]; /* of params, as given */
    const char *values[PREDICT_VALUES_MAX];         /* of params.whatif.key */
    size_t value_count;                             /* 0: --set is not given */
    bool per_op;
};

/* A number, also one with K, M, G or T behind it. */
bool predict_options_value(const char *text, double *out);

/* `args` holds the defaults. The exit status of the command where the command line could not be
 * read; a wrong one ends the process with exit status 2. */
WIO_MUST_CHECK int predict_options_parse(int argc, char **argv, struct predict_options *args);

#endif
