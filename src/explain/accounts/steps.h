/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: what a thread spends its time with, as dense numbers.
 *
 *     place   a line of the program (places.h)
 *     site    place, operation, and the operation that it was made in (fwrite, MPI_File_write ..)
 *     step    stream, site, file: the unit of all accounts
 *     cause   role, site, file: what steps of equal threads have in common; files whose paths
 *             differ in digits alone ("out.0", "out.17") are one. Computing is one cause, before
 *             any line, and so are waiting for a processor and standing between operations
 *
 * The first WIO_STEP_FILES files of a site are told apart; those that come later are one file,
 * WIO_SEVERAL_FILES: memory is bounded by streams and places, not by the number of files.
 *
 * Thread safety: none.
 */
#ifndef WIO_EXPLAIN_STEPS_H
#define WIO_EXPLAIN_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "base/map.h"
#include "explain/accounts/places.h"
#include "explain/accounts/speakers.h"
#include "explain/accounts/step_kind.h"

#define WIO_STEP_FILES 16u
#define WIO_LEVELS 8u /* 1, 2, 3 to 4, 5 to 8 .. transfers at a time, and all that are more */
#define WIO_SEVERAL_FILES UINT32_MAX
#define WIO_NO_STEP UINT32_MAX

/* Operations that are none of ops.def; above all of them. */
enum wio_step_op {
    WIO_OP_COMPUTE = 0x8000,
    WIO_OP_CPU_WAIT,
    WIO_OP_SLEPT,
    WIO_OP_START, /* from the begin of the run, or of the thread that made it, to its first event */
    WIO_OP_CHAIN  /* a chain of waits that is longer than what is followed */
};
/* `outer` of a site, where it is no operation. */
enum wio_step_outer {
    WIO_OUTER_CHANNEL = 0x4000, /* data of pipes and sockets */
    WIO_OUTER_POLL,             /* looking for a file until it is there */
    WIO_OUTER_SHADOW = 0x5000   /* + enum wio_evidence; collectives: + WIO_EVIDENCE_COUNT */
};
/* "computing", "waiting for a processor" ..; the name of the operation else. Static text. */
const char *wio_step_op_name(uint32_t op);

struct wio_site {
    uint32_t place;
    uint16_t op;    /* enum wio_op or wio_step_op */
    uint16_t outer; /* the call that it was made in, 0 = none; or enum wio_step_outer */
    uint8_t kind;   /* enum wio_step_kind */
    uint32_t files; /* that are told apart */
};

/* Of data operations on files; counts, bytes and ns over the whole run. */
struct wio_step_pattern {
    uint64_t small;    /* requests below the limit of small requests .. */
    uint64_t small_ns; /* .. and their time */
    uint64_t random;   /* that begin elsewhere than the one before in the file ended */
    uint64_t random_ns;
    uint64_t partial; /* writes of parts of blocks inside of the file */
    uint64_t partial_ns;
    uint64_t misaligned;  /* that begin or end inside of a block */
    uint64_t again_bytes; /* read before by the same thread */
    uint64_t again_ns;
    uint64_t others_bytes; /* read before by another thread, for the first time by this one */
    uint64_t others_ns;
    uint64_t own_bytes; /* written before by the same thread */
    uint64_t own_ns;
    uint64_t own_turns; /* .. with no other transfer on the file since that write */
    uint64_t sync;      /* by a descriptor with O_SYNC or O_DSYNC */
    uint64_t sync_ns;
    uint64_t direct;  /* with O_DIRECT */
    uint64_t stalled; /* that took far longer than the usual ones before */
    uint64_t stalled_ns;
    uint64_t usual;
    uint64_t usual_ns;
    uint64_t overlaps;    /* whose thread had computed for half their time since its last one .. */
    uint64_t overlap_ns;  /* .. and the time of all, as far as it had */
    uint64_t computed_ns; /* by its thread between these transfers */
    struct wio_level {    /* by how many were under way at a time, in the mean .. */
        uint64_t count;
        uint64_t bytes;
        uint64_t ns;
    } levels[WIO_LEVELS]; /* .. of those that are not short */
};

struct wio_step {
    uint32_t stream;
    uint32_t site;
    uint32_t path;  /* string id; 0 = none, WIO_SEVERAL_FILES */
    uint32_t cause; /* index of the role's step */
    uint32_t gap;   /* the step of computing before it, WIO_NO_STEP = not looked for yet */
    uint64_t count;
    uint64_t bytes; /* that were transferred */
    uint64_t asked; /* bytes */
    uint64_t errors;
    uint64_t time_ns; /* sum of the events' durations */
    uint64_t
        data_count;    /* of the events: on files of file systems that keep data, no directories */
    uint64_t data_ns;  /* .. and of time_ns */
    uint64_t created;  /* opens that certainly make a new file */
    uint64_t repeated; /* opens, closes and looks at a file that had one of the kind before */
    uint64_t self_ns;  /* on its thread, without what is nested */
    uint64_t held_ns;  /* of self_ns: in stretches that another thread waited for, once for each
                          that waited; SHADOW: of all its waits */
    uint64_t critical_ns;
    uint64_t least_ns; /* of one event, UINT64_MAX = none */
    uint64_t most_ns;
    uint64_t poll_ns;  /* of self_ns: while it looked for a file again and again */
    uint64_t unsynced; /* SYNC: bytes that were written to the file since the sync before, summed */
    uint64_t first_ns; /* begin of the first and .. */
    uint64_t last_ns;  /* .. end of the last event */
    uint32_t open_next; /* while a stream adds: the next of its open ones */
    uint64_t open_ns;
    struct wio_step_pattern *pattern; /* NULL where no data was transferred */
};

/* Zero-initialise, set places.trace, release with wio_steps_fini. */
struct wio_steps {
    struct wio_places places;
    struct wio_speakers speakers;
    struct wio_site *sites;
    uint32_t site_count;
    uint32_t site_capacity;
    struct wio_step *steps;
    uint32_t count;
    uint32_t capacity;
    uint32_t *roles; /* of each stream */
    uint32_t role_count;
    struct wio_map role_index;
    struct wio_map site_index;  /* place, op, outer -> site */
    struct wio_map file_index;  /* site, path -> number of the file at the site */
    struct wio_map step_index;  /* stream, site, file -> step */
    struct wio_map cause_index; /* role, site, alike paths -> the first step with it */
    struct wio_map alike;       /* path -> alike paths */
    struct wio_strtab alike_names;
    struct wio_strtab exes;
    struct wio_step_cached *cache;
};

/* Reads the trace's tables. */
WIO_MUST_CHECK enum wio_status wio_steps_init(struct wio_steps *steps,
                                              const struct wio_trace *trace);
void wio_steps_fini(struct wio_steps *steps);

struct wio_step_key {
    uint32_t stream;
    uint32_t source;
    uint32_t path;
    uint16_t op;
    uint16_t outer;
    uint8_t kind; /* of a site that is new */
};
WIO_MUST_CHECK enum wio_status wio_steps_find(struct wio_steps *steps,
                                              const struct wio_step_key *key, uint32_t *step_out);

/* The operation of a cause: computing where that is what the thread began with, since both are one
 * cause. */
uint16_t wio_steps_cause_op(const struct wio_steps *steps, uint32_t cause);

/* The counters of data operations of a step; makes them. NULL where memory is short. */
struct wio_step_pattern *wio_step_pattern(struct wio_step *step);

#endif
