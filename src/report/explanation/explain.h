/* SPDX-License-Identifier: Apache-2.0 */
/* Prints an explanation: text, and JSON (docs/schema/explain.json). */
#ifndef WIO_REPORT_EXPLAIN_H
#define WIO_REPORT_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include <whyio/source.h>

#include "explain/explain.h"
#include "report/transactions/transactions.h"

struct wio_report_explain {
    const char *dir;
    bool is_all; /* findings below 1 %, too */
    struct wio_sources *sources;
    double fail_over; /* percent of the run that a finding may cost; negative: not limited */
    const struct wio_report_transactions *transactions; /* NULL: there are none */
};

void wio_report_explain_text(const struct wio_explanation *explanation,
                             const struct wio_report_explain *how, FILE *out);
void wio_report_explain_json(const struct wio_explanation *explanation,
                             const struct wio_report_explain *how, FILE *out);

/* ---- of both ---- */

/* Where a step is in the program. "" and 0: not known. */
struct wio_report_place {
    char function[256]; /* "module+0x1234" without debug information; of an interpreter whose
                           program's lines are not known "sh run.sh (dash+0x1234)" */
    char file[256];
    unsigned line;
    const char *library; /* that has called for it: "HDF5"; "" = the program itself. Static */
    char called[256];    /* .. and its function or line */
};
/* Of "function (file:line)", "file:line" or anything else, which is a function's name; the caller
 * has set `place` to zero and its library to "". */
void wio_report_place_text(const char *text, struct wio_report_place *place);
/* Of frame `frame` of a source, 0 = the innermost. */
void wio_report_place_of(const struct wio_trace *trace, struct wio_sources *sources,
                         uint32_t source, uint32_t frame, struct wio_report_place *place_out);
void wio_report_place(const struct wio_explanation *explanation, struct wio_sources *sources,
                      uint32_t step, struct wio_report_place *place_out);
/* Its function, file and line; null: not known. */
void wio_report_place_json(const struct wio_report_place *place, struct wio_json *json);
/* The change of a finding and what it gains: a line, or nothing. Then how to know more. */
void wio_report_gain(const struct wio_explanation *explanation,
                     const struct wio_report_explain *how, uint32_t at, FILE *out);
void wio_report_how_to_gain(const struct wio_explanation *explanation,
                            const struct wio_report_explain *how, FILE *out);
/* The phases of the page cache, where the run was predicted for a machine. */
void wio_report_page_cache(const struct wio_explanation *explanation, FILE *out);
/* Does the finding name a cause that costs more of the run than is allowed? */
bool wio_report_is_over(const struct wio_finding *finding, const struct wio_report_explain *how);
/* Is the finding shown? One that is over always is. */
bool wio_report_is_shown(const struct wio_finding *finding, const struct wio_report_explain *how);
/* What transactions lost; NULL: there are none. */
const struct wio_txn_findings *wio_report_lost(const struct wio_report_explain *how);
/* The same of a finding about transactions. */
bool wio_report_is_txn_over(const struct wio_txn_finding *finding,
                            const struct wio_report_explain *how);
bool wio_report_is_txn_shown(const struct wio_txn_finding *finding,
                             const struct wio_report_explain *how);
/* Findings of both lists, the longest first, those that are shown alone. Zero-initialise. */
struct wio_report_order {
    uint32_t next;     /* of the explanation's findings */
    uint32_t next_txn; /* of those about transactions */
};
/* The next one: a finding of the explanation (*at_out), or one about transactions. False: there is
 * none. */
bool wio_report_order_next(struct wio_report_order *order,
                           const struct wio_explanation *explanation,
                           const struct wio_report_explain *how, bool *is_txn_out,
                           uint32_t *at_out);
/* How many classes of waits explain 95 % of the waiting. */
uint32_t wio_report_classes(const struct wio_explanation *explanation);
/* Parts of a class that are shown, the largest first, as indices: they account for 95 % of what
 * explains it. Gives their number. */
uint32_t wio_report_parts(const struct wio_wait_class *class, uint32_t *order);
/* What a cause is: "computing", "pwrite". Static. */
const char *wio_report_cause(const struct wio_explanation *explanation, uint32_t cause);
/* The program whose threads have the step, without folders; "" = not known. */
const char *wio_report_program(const struct wio_explanation *explanation, uint32_t step);
/* Of the finding's file on Lustre; "" = none, or not known. */
const char *wio_report_finding_layout(const struct wio_explanation *explanation,
                                      const struct wio_finding *finding);
/* "a.dat", "several files", "" */
const char *wio_report_path(const struct wio_explanation *explanation, uint32_t path);

#endif
