/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding: a pattern of I/O at a place of the program, with what it costs on the critical path.
 *
 * How to add one: a file `<kind>.c` with a `const struct wio_finding_kind wio_finding_<kind>` and a
 * line in kinds.def, before all that are less specific. For each step it says which part of the
 * step's time shows its pattern; a nanosecond that one kind has claimed is not offered to the next.
 * What was claimed is summed by place (or by role), and each sum with time on the critical path is
 * one finding, which the kind puts into words.
 */
#ifndef WIO_EXPLAIN_FINDING_H
#define WIO_EXPLAIN_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/trace.h>

#include "explain/accounts/patterns.h"
#include "explain/accounts/rank_set.h"
#include "explain/accounts/steps.h"
#include "explain/waiting/waiting.h"

struct wio_thresholds {
#define WIO_THRESHOLD(name, value, unit, meaning) double name;
#include "explain/findings/thresholds.def"
#undef WIO_THRESHOLD
};

struct wio_thresholds wio_thresholds_default(void);
/* Lines "name value"; '#' begins a comment. Names file and line of what is wrong. */
WIO_MUST_CHECK enum wio_status
wio_thresholds_read(const char *path, struct wio_thresholds *thresholds, struct wio_error *err);

#define WIO_EVIDENCE_ITEMS 8u
#define WIO_FINDING_TEXT 256u

/* "bytes_per_request": 4096 "B". Key and unit are static texts. */
struct wio_finding_item {
    const char *key;
    double value;
    const char *unit;
};

struct wio_finding {
    const char *kind;
    bool is_general;      /* it says where the time is, and no cause that could be removed */
    double seconds;       /* on the critical path */
    double share;         /* of the run */
    double others_wait_s; /* waiting of other threads that it explains, summed over them */
    uint32_t step;        /* that has most of the seconds: place, operation, file */
    uint32_t *steps;      /* all of them; owned */
    uint32_t step_count;
    uint32_t path; /* string id; 0 = none, WIO_SEVERAL_FILES */
    struct wio_rank_set ranks;
    bool is_alone; /* one rank of several */
    char title[WIO_FINDING_TEXT];
    char detail[WIO_FINDING_TEXT]; /* "" = none */
    struct wio_finding_item evidence[WIO_EVIDENCE_ITEMS];
    uint32_t evidence_count;
    char change[WIO_FINDING_TEXT]; /* "" = none is known */
    char predict_options[64];      /* of `whyio predict`, "" = none says this change .. */
    bool is_removal;               /* .. but it leaves operations away .. */
    double kept;                   /* .. all but this part of them .. */
    bool is_kept_assumed;          /* .. which is what larger requests are taken to cost */
    const char *no_gain;           /* why no simulation tells what the change gains; NULL: one may.
                                      Static text */
};

/* I/O that threads do one after the other (prepare.c). */
struct wio_serial {
    bool is_there;
    uint32_t threads; /* that take turns */
    uint32_t step;    /* where most of them wait */
};

/* What is known when the events have been read. */
struct wio_finding_input {
    const struct wio_trace *trace;
    const struct wio_steps *steps;
    const struct wio_patterns *patterns;
    const struct wio_waiting *waiting;
    const struct wio_thresholds *thresholds;
    uint64_t duration_ns;
    uint32_t ranks; /* of the trace */
    /* of prepare.c: */
    const struct wio_serial *serial;
    const uint8_t *in_turn;    /* by step: I/O of a place where threads take turns */
    const uint8_t *many_files; /* by process: it transfers little data of many files each */
    const uint8_t *maps;       /* by process: it has mapped files */
    const uint64_t *calls;     /* by step: of its thread at its site, of whatever files */
    const uint8_t *polls; /* by stream: it looks for files until they are there (prepare_polls.h) */
    const uint32_t *lines;   /* by place: the first place in the same line (prepare_lines.h) */
    const uint8_t *alone;    /* by step: one rank transfers here, and the others wait for it */
    const float *straggling; /* by step: part of its time beyond that of the median rank */
    /* of prepare_transfers.c, by step: */
    const uint8_t *overlaps; /* its thread computes between its transfers */
    const float *concurrent; /* part of its time with too many transfers at a time */
    const float *best_part;  /* .. and of their time that the best number of them would need */
    const float *amplified;  /* bytes moved per byte that the causing calls asked for, 0 = none */
    const uint8_t *aggregators; /* of collective calls, in which more than a rank of each host .. */
    uint32_t hosts;
    int32_t io_rank; /* that does the I/O of all ranks, -1 = none */
    double io_rank_part;
};

/* Sums over the steps of which a kind has claimed a part. */
struct wio_finding_group {
    uint32_t kind;
    uint64_t key;
    double critical_ns;
    uint32_t *steps; /* all that have offered time */
    uint32_t step_count;
    uint32_t step_capacity;
    uint32_t lead; /* the step with most of it */
    double lead_ns;
    uint64_t count;
    uint64_t bytes;
    uint64_t asked;
    uint64_t errors;
    uint64_t repeated;
    uint64_t time_ns;
    uint64_t unsynced;
    uint64_t opens;      /* of the count */
    uint64_t data_count; /* of the count: on files of file systems that keep data, no directories */
    uint64_t data_ns;    /* .. of time_ns .. */
    uint64_t data_opens; /* .. of the opens */
    uint64_t others_wait_ns;
    bool is_several; /* files */
    uint32_t path;
    struct wio_step_pattern pattern;
    struct wio_rank_set ranks;   /* of all steps */
    struct wio_rank_set on_path; /* of those with time on the critical path */
};

enum wio_finding_by { WIO_BY_PLACE, WIO_BY_ROLE, WIO_BY_SITE };

struct wio_finding_kind {
    const char *kind;
    bool is_general;
    bool is_of_library; /* a library that made the calls may have a change of its own */
    enum wio_finding_by by;
    /* Part of the step's time that shows the pattern, 0 .. 1. */
    double (*claim)(const struct wio_finding_input *input, const struct wio_step *step);
    /* Title, detail, evidence, change. */
    void (*describe)(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding);
};

#define WIO_FINDING(name) extern const struct wio_finding_kind wio_finding_##name;
#include "explain/findings/kinds.def"
#undef WIO_FINDING

/* ---- for kinds ---- */

/* enum wio_class of the step's operation; UNKNOWN of computing .. */
unsigned wio_finding_class(const struct wio_finding_input *input, const struct wio_step *step);
/* The class of the call that it was made in. */
unsigned wio_finding_outer_class(const struct wio_finding_input *input,
                                 const struct wio_step *step);
/* Made by a call of stdio, for the buffer of its stream. */
bool wio_finding_is_of_stream(const struct wio_finding_input *input, const struct wio_step *step);
const struct wio_site *wio_finding_site(const struct wio_finding_input *input,
                                        const struct wio_step *step);
/* A call of MPI-IO that all ranks of a communicator make. */
bool wio_finding_is_collective_io(unsigned op);
/* The part of the step's time in which its writes into the page cache stood for write-back; 0: none
 * did, or a single one, or too few bytes were written. */
double wio_finding_stalled(const struct wio_finding_input *input, const struct wio_step *step);
/* a / b, 0 where b is. */
double wio_finding_part(uint64_t a, uint64_t b);
int32_t wio_finding_rank(const struct wio_finding_input *input, const struct wio_step *step);
/* `ranks` becomes a copy of `from`, where there is memory for one. */
struct wio_rank_set wio_finding_copy_ranks(const struct wio_rank_set *from,
                                           struct wio_rank_set ranks);
bool wio_finding_is_io(const struct wio_finding_input *input, const struct wio_step *step);
/* The change leaves these operations away, but for a part, which is 0 .. 1. */
void wio_finding_removes(struct wio_finding *finding, double kept);
void wio_finding_item(struct wio_finding *finding, const char *key, double value, const char *unit);
/* "4.00 KiB", "1.20 ms", "1,024": in a ring of texts of the caller, WIO_TEXT_MAX each. */
#define WIO_FINDING_WORDS 8u
struct wio_finding_words {
    char text[WIO_FINDING_WORDS][32];
    uint32_t at;
};
const char *wio_finding_size(struct wio_finding_words *words, double bytes);
const char *wio_finding_time(struct wio_finding_words *words, double ns);
const char *wio_finding_count(struct wio_finding_words *words, uint64_t count);
/* "read" or "write" with what most findings about requests say: count, mean size, mean time. */
void wio_finding_requests(const struct wio_finding_group *group, struct wio_finding *finding);
const char *wio_finding_verb(const struct wio_finding_input *input,
                             const struct wio_finding_group *group);

/* requests/larger.c: change and gain by larger requests, where the options of `whyio predict` do
 * not make them. False: they do. */
bool wio_finding_larger(const struct wio_finding_input *input,
                        const struct wio_finding_group *group, struct wio_finding *finding);

/* A buffer in front of system calls; texts are static. */
struct wio_library_buffer {
    const char *owner;  /* as struct wio_code_owner has it */
    const char *name;   /* "C++ streams" */
    const char *size;   /* by default */
    const char *larger; /* how it becomes larger and is used to the full */
};
/* Of the library or language whose code made the requests of the group's lead; NULL = none. */
const struct wio_library_buffer *wio_finding_buffer(const struct wio_finding_input *input,
                                                    const struct wio_finding_group *group);

/* The change that the library of the group's lead has for what its calls cost, in the place of the
 * kind's own; NULL: none is known. Static. */
const char *wio_finding_library_change(const struct wio_finding_input *input,
                                       const struct wio_finding_group *group);

/* ---- the list ---- */

struct wio_findings {
    struct wio_finding *items; /* by seconds, the longest first */
    uint32_t count;
    double claimed_io_ns;    /* of the I/O on the critical path .. */
    double claimed_wait_ns;  /* .. of waiting .. */
    double claimed_slept_ns; /* .. and of standing between operations */
};

/* Takes critical_ns of the steps as it is. Release with wio_findings_fini. */
WIO_MUST_CHECK enum wio_status wio_findings_find(const struct wio_finding_input *input,
                                                 struct wio_findings *findings);
void wio_findings_fini(struct wio_findings *findings);

#endif
