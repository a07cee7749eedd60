/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of whyio record. */
#ifndef WHYIO_RECORD_OPTIONS_H
#define WHYIO_RECORD_OPTIONS_H

#include "options.h"
#include "throttle/rules/throttle.h"

enum { RECORD_TARGETS_MAX = 64 };

struct record_options {
    struct cmd_options common;
    struct wio_record_params record;
    bool is_throttle; /* --causal=throttle */
    bool has_keep;
    struct wio_throttle_params throttle;
    struct wio_throttle_target targets[RECORD_TARGETS_MAX];
};

/* Ends the program on --help and on wrong usage. */
WIO_MUST_CHECK int record_options_parse(int argc, char **argv, struct record_options *options_out);

#endif
