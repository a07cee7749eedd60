/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of sealing. Rings are sealed one after the other in the order of their start, so that
 * parents come before children; each is read twice: first for what may be defined anywhere
 * (strings, clocks, modules, completions), then for its events, writer by writer.
 */
#ifndef WIO_TRACE_SEAL_INTERNAL_H
#define WIO_TRACE_SEAL_INTERNAL_H

#include "trace/seal.h"

#include "base/buf.h"
#include "base/map.h"
#include "trace/hide.h"
#include "trace/ring_reader.h"
#include "trace/segment_internal.h"
#include "trace/ticks.h"

/* A string as the program gave it. */
struct wio_seal_def {
    uint32_t base;
    uint32_t bytes;
    size_t at;        /* in the ring's text */
    uint32_t path;    /* id in seal->paths once composed, 0 = not yet */
    uint32_t literal; /* id in the segment of the text itself */
};

struct wio_seal_module {
    uint64_t low;
    uint64_t high;
    uint64_t file_offset; /* of `low` */
    uint32_t image;       /* index into seal->elf */
};

struct wio_seal_completion {
    uint64_t key;
    uint64_t ticks;
    int64_t result;
    bool is_used;
};

/* One ring file, from the listing until everything is sealed. */
struct wio_seal_ring {
    char *path;
    char *name; /* points into path */
    struct wio_ring_header header;
    uint64_t file_bytes;
    uint64_t start_ns;  /* since the segment's base */
    uint32_t process;   /* in the segment */
    uint32_t parent;    /* index of parent_ring, UINT32_MAX = none or not here */
    bool has_children;  /* by parent_ring: its strings are kept */
    bool has_successor; /* another image of the process: an exec ended this one */
    bool is_live;
    bool is_for_strings; /* sealed before; only its strings are wanted (NAME.sealed, or named in
                            WIO_SEALED_AS) */
    bool is_asked;       /* a ring that is sealed now has strings from it */
    bool is_skipped;     /* live, and not to be taken: left as it is; only its strings are read, for
                            children that have ended */
    /* from the first reading */
    struct wio_map def_index; /* id -> index of def */
    struct wio_seal_def *defs;
    uint32_t def_count;
    uint32_t def_capacity;
    struct wio_blob text;
    struct wio_blob exe;
    struct wio_blob argv;
    struct wio_blob cwd;
};

struct wio_seal_cpu_record {
    uint64_t from; /* ticks */
    uint64_t to;   /* 0: none */
    uint64_t cpu_ns;
    uint64_t last_end; /* of the thread's events before the record; 0: none */
    bool has_slept;
};

/* Processor times of a writer's thread that are yet to find their events: seal_cpu.c. */
struct wio_seal_cpu {
    struct wio_seal_cpu_record records[2];
    uint64_t last_end; /* ticks: of the thread's events so far; 0: none */
};

/* What is needed of the ring at hand only. */
struct wio_seal_work {
    struct wio_ring file;
    struct wio_ticks ticks;
    struct wio_seal_module *modules;
    uint32_t module_count;
    uint32_t module_capacity;
    uint32_t initial_modules; /* of the first reading: where each writer starts */
    struct wio_map sources;   /* address -> source of the segment */
    struct wio_map stacks;    /* stack id -> source */
    struct wio_seal_completion *completions;
    uint32_t completion_count;
    uint32_t completion_capacity;
    struct wio_map streams; /* (process, tid, thread) -> stream */
    struct wio_map vfork;   /* pid -> process that shares this ring */
    uint64_t dropped;       /* sum of the writers' own counts */
    uint64_t lost;          /* records that are damaged */
    uint64_t last_ns;       /* end of the last event */
    struct wio_chunk *chunk;
};

struct wio_elf_load {
    uint64_t offset;
    uint64_t bytes;
    uint64_t address;
};

/* A program or library that was mapped. */
struct wio_elf_image {
    char build_id[2 * 64 + 1]; /* hex, "" = none */
    char *name;                /* as it goes into the trace */
    struct wio_elf_load *loads;
    uint32_t load_count;
};

/* What is known of the counter of a boot. */
struct wio_seal_rate {
    uint64_t span_ns; /* measured over; 0 = not known */
    double ns_per_tick;
};

struct wio_seal {
    const struct wio_seal_params *params;
    struct wio_segment *segment;
    struct wio_seal_ring *rings;
    uint32_t ring_count;
    uint32_t ring_capacity;
    struct wio_strtab paths; /* real paths: what they are called before anonymisation */
    uint32_t *path_ids;      /* paths id -> string id of the segment */
    uint32_t path_capacity;
    bool is_hiding; /* names */
    bool is_held;   /* a recorder is at work */
    uint8_t key[WIO_HIDE_KEY_BYTES];
    char boot_id[40];      /* of this machine, "" = unknown */
    char base_boot_id[40]; /* of the clock of base_mono_ns */
    uint64_t base_unix_ns;
    uint64_t base_mono_ns;
    struct wio_strtab machines;  /* by boot: each has a counter */
    struct wio_seal_rate *rates; /* by id of machine */
    uint32_t rate_capacity;
    struct wio_elf_image *elf;
    uint32_t elf_count;
    uint32_t elf_capacity;
    struct wio_strtab elf_names;   /* id - 1 = index of elf */
    struct wio_map processes;      /* (host, pid) -> its latest process image, in order of start */
    struct wio_map images;         /* (boot, pid, pid_start) -> latest process image */
    struct wio_map process_starts; /* process -> pid_start of its ring */
    struct wio_blob faults;        /* lines: what was damaged */
    bool has_more_faults;          /* than there is room for */
    int *locks;                    /* on the directories below raw/ */
    uint32_t lock_count;
    uint32_t lock_capacity;
    struct wio_seal_totals totals;
    uint64_t done_bytes;
    uint64_t total_bytes;
};

/* seal_list.c */
WIO_MUST_CHECK enum wio_status wio_seal_find(struct wio_seal *seal, const char *dir,
                                             const char *ring_dir, struct wio_error *err);
void wio_seal_unlock(struct wio_seal *seal);
void wio_seal_ring_fini(struct wio_seal_ring *ring);

/* seal_clear.c */
/* Write down in each directory of rings what goes into DIR/<name>.seg; before that appears. Where
 * it cannot be written (disk full) the rings are sealed all the same. */
void wio_seal_mark(const struct wio_seal *seal, const char *name);
/* Take away what was sealed; keeps what live rings refer to. */
void wio_seal_remove(struct wio_seal *seal, const char *dir, const char *ring_dir);

/* seal_ties.c: parent, has_children and has_successor of all rings, which are in order. */
WIO_MUST_CHECK enum wio_status wio_seal_tie(struct wio_seal *seal);

/* seal_scan.c: the first reading. */
WIO_MUST_CHECK enum wio_status wio_seal_scan(struct wio_seal *seal, struct wio_seal_ring *ring,
                                             struct wio_seal_work *work, struct wio_error *err);

/* seal_strings.c */
WIO_MUST_CHECK enum wio_status wio_seal_define(struct wio_seal_ring *ring,
                                               const union wio_slot *slot);
/* Id in the segment of path `id` of the ring; 0 where it is not defined. */
WIO_MUST_CHECK enum wio_status wio_seal_path(struct wio_seal *seal, struct wio_seal_ring *ring,
                                             uint32_t id, uint32_t *path_out);
/* The same for a text that is no path. */
WIO_MUST_CHECK enum wio_status wio_seal_literal(struct wio_seal *seal, struct wio_seal_ring *ring,
                                                uint32_t id, uint32_t *text_out);
/* Id in the segment of a real path, its name hidden if asked for. */
WIO_MUST_CHECK enum wio_status wio_seal_path_text(struct wio_seal *seal, const char *text,
                                                  size_t bytes, uint32_t *path_out);

/* path_text.c. Pure, but for the question whether a path is a symbolic link. */
typedef bool wio_is_link_fn(void *arg, const char *path);
/* R-STRING-1: normalise an absolute path in place; returns its new length. */
size_t wio_path_normalise(char *path, size_t bytes, wio_is_link_fn *is_link, void *arg);
/* Replace each component by a keyed hash; keeps depth, extension, and names of the system. */
WIO_MUST_CHECK enum wio_status wio_path_anonymise(const uint8_t *key, const char *path,
                                                  size_t bytes, struct wio_blob *out);

/* seal_modules.c */
WIO_MUST_CHECK enum wio_status wio_seal_module(struct wio_seal *seal, struct wio_seal_work *work,
                                               const union wio_slot *slot);
WIO_MUST_CHECK enum wio_status wio_seal_source(struct wio_seal *seal, struct wio_seal_work *work,
                                               uint64_t address, uint32_t *source_out,
                                               struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_seal_stack(struct wio_seal *seal, struct wio_seal_work *work,
                                              const union wio_slot *slot, struct wio_error *err);
void wio_elf_fini(struct wio_elf_image *image);
/* elf_image.c: build-id and segments of a file; an image without either where it is no ELF file
 * that can be read. */
WIO_MUST_CHECK enum wio_status wio_elf_read(const char *path, struct wio_elf_image *image);

/* seal_processes.c */
WIO_MUST_CHECK enum wio_status wio_seal_process(struct wio_seal *seal, struct wio_seal_ring *ring,
                                                struct wio_seal_work *work, struct wio_error *err);
/* A child made by vfork that writes into its parent's ring. */
WIO_MUST_CHECK enum wio_status wio_seal_vfork_child(struct wio_seal *seal,
                                                    struct wio_seal_ring *ring,
                                                    struct wio_seal_work *work,
                                                    const struct wio_slot_clock *clock,
                                                    uint32_t *process_out, struct wio_error *err);

/* seal_events.c: the second reading. */
WIO_MUST_CHECK enum wio_status wio_seal_events(struct wio_seal *seal, struct wio_seal_ring *ring,
                                               struct wio_seal_work *work, struct wio_error *err);

/* seal_cpu.c: R-CPU-1. A record comes before the event that it belongs to. */
void wio_seal_cpu_record(struct wio_seal_cpu *cpu, const struct wio_slot_cpu *slot);
/* Another event of the thread: what has been told of it. */
void wio_seal_cpu_event(struct wio_seal_cpu *cpu, const struct wio_ticks *ticks,
                        const struct wio_slot_event *slot, struct wio_event *event);

/* seal_files.c: the state of every path, and links on the way to them. */
WIO_MUST_CHECK enum wio_status wio_seal_files(struct wio_seal *seal, struct wio_error *err);

/* Note a fault that does not stop the sealing. */
void wio_seal_fault(struct wio_seal *seal, const struct wio_error *fault);
/* seal_clock.c: base and rates, once the rings are known. */
WIO_MUST_CHECK enum wio_status wio_seal_find_clock(struct wio_seal *seal, struct wio_error *err);
/* The best known rate of the counter that the ring's ticks are of; 0 = not known. */
double wio_seal_ns_per_tick(const struct wio_seal *seal, const struct wio_seal_ring *ring);
/* Nanoseconds of the ring's clock -> time since the segment's base. */
uint64_t wio_seal_time(const struct wio_seal *seal, const struct wio_seal_ring *ring,
                       uint64_t mono_ns);
void wio_seal_progress(struct wio_seal *seal, uint64_t bytes);

#endif
