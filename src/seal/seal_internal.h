/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of sealing. Rings are sealed one after the other in the order of their start, so that
 * parents come before children; each is read twice: first for what may be defined anywhere
 * (strings, clocks, modules, completions), then for its events, writer by writer.
 */
#ifndef WIO_SEAL_SEAL_INTERNAL_H
#define WIO_SEAL_SEAL_INTERNAL_H

#include <sys/stat.h>

#include "seal/seal.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/system/boot_id.h"
#include "ring/ring_reader.h"
#include "seal/anonymize.h"
#include "seal/rings/raw.h"
#include "seal/ticks.h"
#include "trace/write/segment_internal.h"

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
    char *name;   /* points into path */
    uint32_t dir; /* index into seal->dirs: what it is opened and removed by */
    struct wio_ring_header header;
    uint64_t file_bytes;
    uint64_t order_ns;  /* seal_list.c: what the rings are sorted by */
    uint64_t start_ns;  /* since the segment's base */
    uint32_t process;   /* in the segment */
    uint32_t parent;    /* index of parent_ring, UINT32_MAX = none or not here */
    bool has_children;  /* by parent_ring: its strings are kept */
    bool has_successor; /* another image of the process: an exec ended this one */
    bool is_live;
    bool is_for_strings; /* sealed before; only its strings are wanted (NAME.sealed, or named in
                            WIO_SEALED_AS) */
    bool is_asked;       /* a ring that is sealed now has strings from it */
    bool is_blank;       /* without a header: R-RING-9 */
    uint32_t owner;      /* uid of the file */
    bool is_skipped;     /* live, and not to be taken: left as it is; only its strings are read, for
                            children that have ended */
    /* from the first reading */
    uint32_t *def_places; /* index of def + 1, by id - header.first_string; 0 = not here */
    uint32_t def_room;
    struct wio_map def_index; /* id -> index of def, of ids that lie far beyond the others */
    struct wio_seal_def *defs;
    uint32_t def_count;
    uint32_t def_capacity;
    struct wio_map opened;     /* path id -> flags of its open: R-BOUND-5 */
    struct wio_map kept_opens; /* path id: the event of its open is there */
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
    struct wio_map used;    /* (descriptor, path id): events name them, where the last are kept */
    struct wio_open_fd *opened;
    uint32_t opened_count;
    uint32_t opened_capacity;
    uint64_t evicted; /* events that were overwritten, as the writers' chunks tell */
    uint64_t last_ns; /* end of the last event */
    struct wio_ring_chunk *chunk;
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

/* What a process of the trace did with another one. */
enum wio_seal_kin_kind {
    WIO_KIN_MADE,   /* fork and its like; t_ns is the call's begin */
    WIO_KIN_KILLED, /* sent it a signal; t_ns is the call's begin */
    WIO_KIN_ENDED,  /* was told its end by wait; t_ns is the call's end */
};

struct wio_seal_kin {
    uint64_t other; /* host and pid; pid 0: all of a group that is not known */
    uint64_t t_ns;  /* since the segment's base */
    enum wio_seal_kin_kind kind;
    uint32_t process;
    int32_t pid;
    int status; /* the signal; as of wait(2) */
};

/* Lines for a person: seal_notes.c. */
struct wio_seal_notes {
    struct wio_blob lines;
    bool has_more; /* than there is room for */
};

/* What is no ring of the run: seal_refused.c. */
struct wio_seal_refused {
    char *name;
    uint32_t dir;
    uint32_t owner;
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
    uint32_t calls_hash;            /* of this version */
    char boot_id[WIO_BOOT_ID_ROOM]; /* of this machine, "" = unknown */
    char base_boot_id[40];          /* of the clock of base_mono_ns */
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
    struct wio_seal_kin *kin;      /* seal_kin.c */
    uint32_t kin_count;
    uint32_t kin_capacity;
    struct wio_seal_notes faults;  /* what was damaged */
    struct wio_seal_notes remarks; /* what could not be recorded and why */
    struct wio_strtab remarked;    /* the remarks, each once */
    struct wio_seal_refused *refused;
    uint32_t refused_count;
    uint32_t refused_capacity;
    struct wio_raw raw;
    struct wio_ring_dir *dirs; /* of the rings: raw/ itself first, or the one that was named */
    uint32_t dir_count;
    uint32_t dir_capacity;
    struct {
        struct wio_bound file; /* the last one that was asked for; not open: it is no use */
        uint32_t dir;
        char name[256];
    } bound; /* seal_bound.c */
    struct wio_seal_totals totals;
    uint64_t done_bytes;
    uint64_t total_bytes;
};

/* NAME.ring.sealed: R-RING-5. */
#define WIO_SEALED_ENDING ".sealed"

/* seal.c: the steps of sealing, for seal_on_open.c. A seal that was begun is ended by
 * wio_seal_fini, also after a failure. */
/* Open DIR/raw, lock it if `is_alone`, find the rings. */
WIO_MUST_CHECK enum wio_status wio_seal_begin(struct wio_seal *seal, const char *dir,
                                              const char *ring_dir, bool is_alone,
                                              const struct wio_seal_params *params,
                                              struct wio_error *err);
/* The same of a directory that is open (`at`); `dir` is what messages call it. */
WIO_MUST_CHECK enum wio_status wio_seal_begin_at(struct wio_seal *seal, int at, const char *dir,
                                                 const char *ring_dir, bool is_alone,
                                                 const struct wio_seal_params *params,
                                                 struct wio_error *err);
/* Into DIR/<name>.seg; then the rings are taken away. */
WIO_MUST_CHECK enum wio_status wio_seal_into(struct wio_seal *seal, const char *dir,
                                             const char *name, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_seal_into_memory(struct wio_seal *seal, const char *dir,
                                                    int *fd_out, struct wio_error *err);
void wio_seal_fini(struct wio_seal *seal);
void wio_seal_count(const struct wio_seal *seal, struct wio_seal_survey *survey_out);

/* seal_list.c */
WIO_MUST_CHECK enum wio_status wio_seal_find(struct wio_seal *seal, const char *dir,
                                             const char *ring_dir, struct wio_error *err);

/* seal_ring.c: one file among the rings. */
/* Look at `name` in directory number `dir`: it becomes a ring of the list, or is left out. */
WIO_MUST_CHECK enum wio_status wio_seal_add_ring(struct wio_seal *seal, uint32_t dir,
                                                 const char *name, struct wio_error *err);
void wio_seal_ring_fini(struct wio_seal_ring *ring);

/* seal_blank.c: what the name and the file of a ring without a header tell. False where the name is
 * not that of a ring. */
bool wio_seal_blank_header(const struct wio_seal *seal, const char *name, const struct stat *st,
                           struct wio_ring_header *header_out);

/* seal_owner.c: R-RING-10. Take rings out of the list that are not the run's; these are in order.
 */
WIO_MUST_CHECK enum wio_status wio_seal_judge_owners(struct wio_seal *seal);

/* seal_refused.c */
/* Name what is no ring of the run, and remember it for its removal. WIO_ERR_NOMEM or WIO_OK. */
WIO_MUST_CHECK enum wio_status wio_seal_refuse(struct wio_seal *seal, uint32_t dir,
                                               const char *name, uint32_t owner);
/* Remove what was refused, where the directory is this user's. */
void wio_seal_remove_refused(const struct wio_seal *seal);
void wio_seal_refused_fini(struct wio_seal *seal);
/* Make a ring that stays the directory's owner's: a later sealing may not find what it is judged
 * by. */
void wio_seal_adopt(const struct wio_seal *seal, const struct wio_seal_ring *ring);

/* seal_bound.c */
/* The file of the bound in which chunks of the ring lie; NULL: they lie in the ring alone. Valid
 * until the next question. */
WIO_MUST_CHECK enum wio_status wio_seal_bound(struct wio_seal *seal,
                                              const struct wio_seal_ring *ring,
                                              const struct wio_bound **bound_out,
                                              struct wio_error *err);
/* Remove such files from a directory that has no ring left. */
void wio_seal_remove_bounds(const struct wio_ring_dir *dir);
/* What a ring that is sealed says of the bound of its recording. */
void wio_seal_note_bound(struct wio_seal *seal, const struct wio_seal_ring *ring);
WIO_MUST_CHECK enum wio_status wio_seal_put_bound(struct wio_seal *seal, struct wio_error *err);

/* seal_opened.c */
/* A record of a ring with a bound: what it says of descriptors. First reading. */
WIO_MUST_CHECK enum wio_status wio_seal_note_fds(struct wio_seal_ring *ring,
                                                 struct wio_seal_work *work,
                                                 const union wio_slot *slot);
/* R-BOUND-5: descriptors that events use and whose open was overwritten, into work->opened. After
 * the first reading. */
WIO_MUST_CHECK enum wio_status
wio_seal_find_opened(struct wio_seal *seal, struct wio_seal_ring *ring, struct wio_seal_work *work);

/* seal_live.c: count what is left out because its process still runs. */
void wio_seal_count_live(struct wio_seal *seal);

/* seal_notes.c */
#define WIO_USER_BYTES 64
/* "user 'NAME' (UID)" */
void wio_seal_user(uint32_t uid, char text_out[WIO_USER_BYTES]);
__attribute__((format(printf, 2, 3))) void wio_seal_remark(struct wio_seal *seal,
                                                           const char *format, ...);
/* Append to a fault of a ring whose it is; `ring` may hold its program, too. */
void wio_seal_name_ring(const struct wio_seal *seal, const struct wio_seal_ring *ring,
                        struct wio_error *fault);
/* That a user may not make rings, where the ring tells so. `program` describes its image. */
void wio_seal_remark_refused(struct wio_seal *seal, const struct wio_seal_ring *ring,
                             const struct wio_seal_ring *program);

/* So many bytes more of the rings are done. */
void wio_seal_progress(struct wio_seal *seal, uint64_t bytes);

/* seal_mark.c: R-RING-6, WIO_SEALED_AS in a directory of rings. */
/* Names of the rings of `dir` that segments of the trace have already. */
WIO_MUST_CHECK enum wio_status wio_seal_read_marks(const struct wio_seal *seal,
                                                   const struct wio_ring_dir *dir,
                                                   struct wio_strtab *done);
/* Write down in each directory of rings what goes into DIR/<name>.seg; before that appears. Where
 * it cannot be written (disk full) the rings are sealed all the same: is_marked stays false. */
void wio_seal_mark(struct wio_seal *seal, const char *name);
/* Take the marks away, if no ring is left in the directory; false: something is. */
bool wio_seal_unmark(const struct wio_ring_dir *dir);

/* seal_clear.c */
enum wio_seal_left {
    WIO_SEAL_LEFT_NONE, /* or only what a mark names */
    WIO_SEAL_LEFT_SOME, /* rings that no mark names, so that they are sealed again; others went */
    WIO_SEAL_LEFT_ALL,  /* the same, and no ring has gone or has another name */
};
/* Take away what was sealed; keeps what live rings refer to. */
enum wio_seal_left wio_seal_remove(struct wio_seal *seal, bool is_recorder);

/* seal_ties.c: parent, has_children and has_successor of all rings, which are in order. */
WIO_MUST_CHECK enum wio_status wio_seal_tie(struct wio_seal *seal);

/* seal_scan.c: the first reading. */
WIO_MUST_CHECK enum wio_status wio_seal_scan(struct wio_seal *seal, struct wio_seal_ring *ring,
                                             struct wio_seal_work *work, struct wio_error *err);

/* seal_strings.c */
/* The ring's strings are asked for no more, as long as no ring is its child. */
void wio_seal_forget_defs(struct wio_seal_ring *ring);
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

/* seal_kin.c: how processes ended, by what their parents were told. */
/* Note an event that makes a child, kills a process or tells of an end. */
WIO_MUST_CHECK enum wio_status wio_seal_note_kin(struct wio_seal *seal,
                                                 const struct wio_seal_ring *ring, uint32_t process,
                                                 const struct wio_event *event);
/* All rings are taken: complete the ends of processes, count children that left no ring. */
WIO_MUST_CHECK enum wio_status wio_seal_settle_kin(struct wio_seal *seal);
/* Host and pid in one number: rings of several hosts may be sealed together, and each host counts
 * its processes anew. */
uint64_t wio_seal_pid_key(const char *host, int32_t pid);
/* How a process ended that has this status of wait(2). */
void wio_seal_put_end(int wait_status, struct wio_process_info *info);

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

#endif
