/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all commands share: -q, --format, how a failure is told.
 *
 *     struct args { struct cmd_options common; const char *dir; };
 *
 *     static error_t parse(int key, char *arg, struct argp_state *state)
 *     {
 *         struct args *args = state->input;
 *         switch (key) {
 *         case ARGP_KEY_INIT:
 *             state->child_inputs[0] = &args->common;
 *             return 0;
 *         ...
 *     static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
 *     static const struct argp argp = {options, parse, "DIR", "What foo does.", children, 0, 0};
 *     struct args args = {0};
 *     int status = cmd_parse(&argp, argc, argv, 0, &args);
 *     if (status != 0) {
 *         return status;
 *     }
 *
 * argp prints and exits by itself on --help (0) and on wrong usage (2); what is left is told by
 * cmd_parse.
 */
#ifndef WHYIO_OPTIONS_H
#define WHYIO_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include <whyio/status.h>

enum cmd_format {
    CMD_FORMAT_DEFAULT = 0, /* --format was not given: text, but for dump JSON lines */
    CMD_FORMAT_TEXT,
    CMD_FORMAT_JSON,
    CMD_FORMAT_CSV /* of commands that set has_csv */
};

struct cmd_options {
    bool quiet; /* no progress, no closing remarks; results and errors are printed all the same */
    enum cmd_format format;
    bool has_csv; /* set by the command, before its arguments are read */
};

/* Child of each command's argp; its input is a struct cmd_options. */
extern const struct argp cmd_options_argp;

/* For commands that read one trace: the same and the argument DIR. Its input is a struct
 * cmd_trace_args; a command without options of its own has it as only child and no parser. */
struct cmd_trace_args {
    struct cmd_options common;
    const char *dir;
};
extern const struct argp cmd_trace_argp;

/* argp_parse; gives the exit status of the command where the arguments could not be read (no
 * memory), which is told, 0 where they were. */
WIO_MUST_CHECK int cmd_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                             void *input);

/* Before a command opens traces: a trace has a file open for each of its segments, and there is one
 * for each recorder of a large job. Raises the soft limit of open files to the hard one. Not in
 * record or replay: their child processes would inherit the changed limit. */
void cmd_expect_many_files(void);

/* Numbers of long options that have no letter start here; each command counts on from it. */
enum { CMD_OPTION_FIRST = 0x200 };

/* Print `err` as one line "whyio: ..." on stderr; gives the exit status that belongs to it. */
int cmd_fail(const struct wio_error *err);

/* A remark for a person: "whyio: ..." on stderr. */
void cmd_say(const char *fmt, ...) WIO_PRINTF(1, 2);

#endif
