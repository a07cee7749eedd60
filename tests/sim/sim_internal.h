/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the simulation: sim.c has events, nodes.c processes, conns.c and disk.c their
 * parts. */
#ifndef WIO_TESTS_SIM_INTERNAL_H
#define WIO_TESTS_SIM_INTERNAL_H

#include "sim/sim.h"

enum { SIM_NAME = 512, SIM_SECTOR = 512 };

struct sim_event {
    uint64_t at_ns;
    uint64_t order; /* of events at one time: as they were made */
    void (*call)(void *context);
    void *context;
    const char *what;            /* for log and hash */
    struct sim_process *process; /* that it comes to; NULL: to none, or however busy it is */
};

/* All things of the simulation are kept until its end, unless they are dropped before: an event may
 * come for what has gone. */
struct sim_kept {
    struct sim_kept *next;
    struct sim_kept *before;
    void *memory; /* that this is in */
};

/* A file or directory of a disk; several names in a row may have been its. */
struct sim_inode {
    struct sim_kept kept;
    struct sim_inode *next; /* of the same disk */
    struct wio_sim_node *node;
    bool is_dir;
    bool is_removed;
    uint8_t *now;     /* as every process sees it */
    uint8_t *durable; /* as a crash leaves it, at the least */
    uint8_t *dirty;   /* one per sector of the larger one */
    size_t capacity;
    uint64_t now_bytes;
    uint64_t durable_bytes;
};

struct sim_name {
    char name[SIM_NAME];
    struct sim_inode *inode;
};

struct sim_names {
    struct sim_name *list;
    size_t count;
    size_t capacity;
};

struct sim_disk {
    struct sim_inode *inodes;
    struct sim_names now;
    struct sim_names *history; /* after each change since the last sync, oldest first */
    size_t history_count;
    struct sim_names durable;
    uint64_t used_bytes;
};

struct wio_sim_node {
    struct sim_kept kept;
    struct wio_sim *sim;
    struct wio_sim_node *next;
    char name[64];
    struct sim_disk disk;
    struct sim_process *processes;
    int64_t jump_ns;
    unsigned slow;
    bool has_user;
    uint32_t uid;
    uint32_t gid;
};

struct sim_process {
    struct wio_io io; /* first */
    struct sim_kept kept;
    struct wio_sim_node *node;
    struct sim_process *next;
    struct wio_io_conn *conns;
    struct wio_io_listener *listeners;
    uint64_t busy_until_ns; /* wio_sim_spend */
    bool is_dead;
};

struct sim_part {
    const struct wio_sim_node *a;
    const struct wio_sim_node *b;
};

enum { SIM_PARTS = 32 };

struct wio_sim {
    struct wio_sim_options options;
    uint64_t chance;
    uint64_t now_ns;
    uint64_t steps;
    uint64_t hash;
    uint64_t order;
    struct sim_event *heap;
    size_t events;
    size_t heap_capacity;
    struct sim_kept *kept;
    struct wio_sim_node *nodes;
    struct sim_part parts[SIM_PARTS];
    unsigned part_count;
    wio_sim_middle *middle;
    void *middle_context;
    struct wio_io_ops ops;
    struct wio_sim_counts counts;
};

static inline struct sim_process *sim_process_of(struct wio_io *io)
{
    return (struct sim_process *)io;
}

/* sim.c. Zeroed memory that lives as long as the simulation; `kept_at` is the offset of its struct
 * sim_kept. Tests end where there is none. */
void *sim_keep(struct wio_sim *sim, size_t size, size_t kept_at);
#define SIM_KEEP(sim, type) ((type *)sim_keep((sim), sizeof(type), offsetof(type, kept)))
/* Give it back before: its struct sim_kept is first. */
void sim_drop(struct wio_sim *sim, struct sim_kept *kept);
void *sim_alloc(size_t size);
void sim_at(struct wio_sim *sim, uint64_t after_ns, const char *what, void (*call)(void *context),
            void *context);
/* The same for what comes to the loop of a process: not before it has done what it does. The time
 * is counted from the clock of that process. */
void sim_at_process(struct sim_process *process, uint64_t after_ns, const char *what,
                    void (*call)(void *context), void *context);
uint64_t sim_process_now_ns(const struct sim_process *process);
void sim_note(struct wio_sim *sim, const char *what, const char *node, uint64_t value);
uint64_t sim_below(struct wio_sim *sim, uint64_t limit);
_Noreturn void sim_out_of_memory(void);

/* conns.c */
void sim_conn_ops(struct wio_io_ops *ops);
/* The process is gone; `silently`: the other ends may hear nothing of it. */
void sim_conns_break(struct sim_process *process, bool silently);
void sim_conns_healed(struct sim_process *process);
void sim_conns_free(struct sim_process *process);
bool sim_is_parted(const struct wio_sim *sim, const struct wio_sim_node *a,
                   const struct wio_sim_node *b);
/* disk.c */
void sim_disk_ops(struct wio_io_ops *ops);
void sim_disk_crash(struct wio_sim_node *node);
void sim_disk_free(struct sim_disk *disk);
/* nodes.c */
void sim_node_ops(struct wio_io_ops *ops);

#endif
