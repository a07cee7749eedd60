/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name space of the traced program, as far as its operations tell: names (nodes) and files
 * behind them. It follows creation, renames, links and removal through the run, so that each
 * observation can be laid to the file as it was *before* the run.
 *
 *                names (struct rp_node)                files (struct rp_file)
 *     / --- home --- u --- in.dat  ------------------> existed, 4096 bytes, read 0..4096
 *                     \--- out.tmp  -- absent now  --> made in the run
 *                      \-- out.dat  ----------------->  (the same: it was renamed)
 *
 * Pure apart from memory. Indices stay valid, pointers only until the next lookup.
 */
#ifndef WIO_REPLAY_INITIAL_NAMESPACE_H
#define WIO_REPLAY_INITIAL_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "base/map.h"
#include "replay/initial/attrs.h"
#include "replay/initial/extent.h"
#include "replay/warm.h"

#define RP_NONE UINT32_MAX

enum rp_state {
    RP_STATE_UNKNOWN = 0, /* nothing was seen of it yet */
    RP_STATE_PRESENT,
    RP_STATE_ABSENT,  /* an operation found it missing */
    RP_STATE_REMOVED, /* the run took it away */
};

enum rp_origin {
    RP_ORIGIN_UNKNOWN = 0, /* looked up, never found or missed */
    RP_ORIGIN_INITIAL,     /* was there before the run */
    RP_ORIGIN_MAYBE,       /* opened with O_CREAT: made, unless more is seen of it */
    RP_ORIGIN_MADE         /* made in the run */
};

struct rp_file {
    uint32_t path;   /* initial path: id in the space's texts */
    uint32_t target; /* text of a symbolic link, id in the space's texts, 0 = unknown */
    uint8_t origin;  /* enum rp_origin */
    uint8_t type;    /* enum wio_file_type */
    bool has_mode;
    bool has_size;     /* `size` is what it was before the run */
    bool is_truncated; /* what it holds now says nothing about before */
    bool is_altered;   /* removed, renamed, or its attributes changed by the run */
    bool may_execute;  /* access found that it may be executed */
    bool is_not_empty; /* a directory that could not be removed because of entries that no operation
                          showed */
    uint32_t mode;     /* permission bits */
    uint32_t attrs;    /* first in the space's attrs: index + 1, 0 = none */
    uint64_t size;
    uint64_t size_min;       /* at least so long before the run */
    uint64_t wrote_end;      /* end of the last byte written in the run */
    uint64_t wrote;          /* bytes written, also more than once */
    uint64_t copied;         /* bytes read by copies that do not tell where, since the begin */
    struct rp_warm warm;     /* where it was read from */
    struct rp_extents reads; /* ranges read */
};

struct rp_node {
    uint32_t parent;
    uint32_t name;  /* id in the space's texts */
    uint32_t child; /* first, RP_NONE */
    uint32_t next;  /* sibling */
    uint32_t file;
    uint8_t state;    /* enum rp_state */
    bool was_present; /* at any time: also names that were only there during the run */
};

/* Zero-initialise, then rp_space_init; release with rp_space_fini. Node 0 is the root. */
struct rp_space {
    struct rp_node *nodes;
    uint32_t node_count;
    uint32_t node_capacity;
    struct rp_file *files;
    uint32_t file_count;
    uint32_t file_capacity;
    struct wio_strtab texts;
    struct wio_strtab past;  /* paths that were there for a while, before a directory was renamed */
    struct wio_map children; /* (parent, name) -> node */
    struct rp_attrs attrs;   /* extended attributes of the files */
    uint64_t epoch;          /* counts changes of names: what a lookup gave holds until then */
    uint64_t moved;          /* names below renamed directories, of all renames together */
};

WIO_MUST_CHECK enum wio_status rp_space_init(struct rp_space *space);
void rp_space_fini(struct rp_space *space);

/* The node of an absolute path, made if it is new. Links that are known are followed; the last
 * one only if `follow`. RP_NONE where the path cannot be looked up (a ring of links). */
WIO_MUST_CHECK enum wio_status rp_space_lookup(struct rp_space *space, const char *path,
                                               bool follow, uint32_t *node_out);

/* The node was found (it was there before the run, unless the run has made it) ... */
void rp_space_found(struct rp_space *space, uint32_t node);
/* ... or found missing. */
void rp_space_missed(struct rp_space *space, uint32_t node);
/* Can a lookup of the node have met a file where it needed a directory? Not if all names on the way
 * are known to be directories, or missing. */
bool rp_space_may_meet_file(const struct rp_space *space, uint32_t node);
/* It did: the first name on the way that is not known is a file. After the last event, which may
 * tell more of the names. */
void rp_space_met_file(struct rp_space *space, uint32_t node);
/* The run makes it: a new file of this type. */
WIO_MUST_CHECK enum wio_status rp_space_make(struct rp_space *space, uint32_t node,
                                             enum wio_file_type type);
/* Opened with O_CREAT and not O_EXCL: made, or there before. */
WIO_MUST_CHECK enum wio_status rp_space_open_or_make(struct rp_space *space, uint32_t node);
void rp_space_remove(struct rp_space *space, uint32_t node);
/* Is anything in this directory, as far as is known? Linear in the names that were looked up there.
 */
bool rp_space_has_entry(const struct rp_space *space, uint32_t node);
/* `to` becomes another name of the same file. */
void rp_space_link(struct rp_space *space, uint32_t from, uint32_t to);
/* WIO_ERR_UNSUPPORTED: more names below directories were moved before than any program moves. */
WIO_MUST_CHECK enum wio_status rp_space_rename(struct rp_space *space, uint32_t from, uint32_t to);
WIO_MUST_CHECK enum wio_status rp_space_exchange(struct rp_space *space, uint32_t a, uint32_t b);
WIO_MUST_CHECK enum wio_status rp_space_set_target(struct rp_space *space, uint32_t node,
                                                   const char *text);

static inline struct rp_file *rp_space_file(const struct rp_space *space, uint32_t node)
{
    return &space->files[space->nodes[node].file];
}

/* Current path of a node into `buffer`; NULL if it does not fit. */
const char *rp_space_path(const struct rp_space *space, uint32_t node, char *buffer, size_t size);

#endif
