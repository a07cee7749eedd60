/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What capture knows of the process it runs in. Two kinds of memory:
 * struct cap_process lives on in a forked child (configuration, names, what the parent's ring was);
 * struct cap_image is wiped by the kernel in every forked child, however it was made, so that the
 * child begins anew with its first event.
 */
#ifndef WIO_CAPTURE_CORE_PROCESS_H
#define WIO_CAPTURE_CORE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/core/capture.h"
#include "capture/core/ring/clock_pair.h"

#define CAP_PATH_MAX 4096
/* Room on the stack for a text of any length. It may be the stack of a signal handler, so there is
 * none for a whole path: a longer text goes into memory that is mapped for it. */
#define CAP_SHORT_TEXT 256

/* WHYIO_STACKS */
enum cap_stacks { CAP_STACKS_SAMPLED, CAP_STACKS_ALWAYS, CAP_STACKS_NEVER };

struct cap_process {
    uint32_t is_configured; /* atomic: 0 no, 1 in progress, 2 yes */
    bool is_off;    /* nothing is recorded: no directory, set-user-id, a launcher, filters */
    uint8_t stacks; /* enum cap_stacks */
    uint8_t sites;  /* enum cap_pending: what is to be asked of calls by libraries */
    bool has_met_interpreter; /* its lines were looked for */
    bool with_mpi_internals;
    bool is_slow; /* all calls take the slow way: a feature looks at each (cap_on_entered) */
    int32_t rank; /* from the environment, then from MPI; -1 = none */
    int32_t ranks;
    char directory[CAP_PATH_MAX]; /* of the rings */
    char library[CAP_PATH_MAX];   /* this library, as it was preloaded */
    char host[64];
    char job[256];
    char boot_id[40];
    char exe[CAP_SHORT_TEXT]; /* the program; "" = to be asked for, it is longer */

    /* The ring of this image; in a fresh child still the parent's. */
    struct wio_ring_header *header;
    char ring_name[128];
};

extern struct cap_process cap_process CAP_HIDDEN;

enum cap_image_state { CAP_IMAGE_NONE = 0, CAP_IMAGE_BUSY = 1, CAP_IMAGE_READY = 2 };

#define CAP_THREAD_BLOCK 64u /* threads in one block of memory */
#define CAP_THREAD_BLOCKS 1024u

struct cap_image {
    uint32_t state; /* atomic: enum cap_image_state */
    uint32_t module_lock;
    uint32_t calibration_lock;
    uint64_t text_missing; /* atomic: chunk of definitions whose header could not be written, + 1 */
    uint64_t free_threads; /* atomic: count of changes in the high half, index + 1 in the low */
    uint64_t next_key;     /* atomic */
    uint32_t threads_begun; /* atomic */

    CAP_IMAGE_PARTS
};

_Static_assert(sizeof(struct cap_image) <= 4096, "one page");

extern struct cap_image *cap_image CAP_HIDDEN;

/* Read the environment and make the wiped memory, once; false where nothing is to be recorded. */
bool cap_configure(void) CAP_HIDDEN;
/* The image's ring is there and described; false where it cannot be made. */
bool cap_image_begin(void) CAP_HIDDEN;
/* May the caller write as this thread? It may be a child that runs in the thread's memory. */
bool cap_may_write(struct cap_thread *self) CAP_HIDDEN;

/* The ring file. */
bool cap_ring_create(void) CAP_HIDDEN;
/* Our descriptor, checked to be still ours and reopened by name where the program closed it behind
 * our back; -1 where it is lost. */
int cap_ring_fd(void) CAP_HIDDEN;
/* Out of the range that programs look at and dup2 into; the number given where it cannot. */
int cap_move_high(int fd) CAP_HIDDEN;
/* Take real space, so that a store into a mapping can never meet a full disk (SIGBUS). */
bool cap_ring_allocate(int fd, uint64_t offset, uint64_t size) CAP_HIDDEN;
/* The program's own limit on file sizes holds for our file too: beyond it a write is a SIGXFSZ. */
bool cap_ring_is_within_limit(uint64_t end) CAP_HIDDEN;
/* That limit, bytes. */
uint64_t cap_ring_limit(void) CAP_HIDDEN;
/* Write into the ring the user that makes rings in this process now, or after its next exec. */
void cap_ring_note_user(void) CAP_HIDDEN;
/* Before an exec: count the program as unseen where it may not make a ring. */
void cap_ring_check_access(void) CAP_HIDDEN;
/* A chunk for a thread that has none: claimed, filled with zeros, mapped. False = no space. */
bool cap_chunk_attach(struct cap_thread *self) CAP_HIDDEN;
/* Begin writing at slot 0 of the chunk, with a CLOCK record. */
void cap_chunk_begin(struct cap_thread *self, uint8_t reason) CAP_HIDDEN;
/* Put the header's second pair of clocks at this moment. */
void cap_ring_calibrate(const struct cap_moment *now) CAP_HIDDEN;
void cap_clock_record(struct cap_thread *self, uint8_t reason) CAP_HIDDEN;

/* Make the calling thread's state ready (also in a fresh child). */
bool cap_thread_begin(void) CAP_HIDDEN;
/* Records that describe the image: program, arguments, directory, modules. */
void cap_describe_image(struct cap_thread *self) CAP_HIDDEN;
/* Is the program one that calls the kernel by instructions of its own? */
bool cap_makes_own_calls(void) CAP_HIDDEN;

/* A text record of any kind in one piece: two parts of payload. False where it is dropped. */
bool cap_text_record(struct cap_thread *self, const struct wio_slot_text *head, const void *first,
                     size_t first_bytes, const void *second, size_t second_bytes) CAP_HIDDEN;

/* Mapped modules. */
struct cap_module {
    uintptr_t lo;
    uintptr_t hi;
    bool is_internal;    /* an MPI library or a helper of one */
    bool does_mpi_io;    /* the part of it that may act on the program's files */
    bool is_mpi_binding; /* the part that other languages call */
    bool is_interpreter; /* CPython: its conditions hand its lock on, its programs have lines */
    uint8_t kind;        /* enum wio_code_kind: whose code it is */
};
/* The module around an address (a copy); false where there is none. */
bool cap_module_find(struct cap_thread *self, uintptr_t address, struct cap_module *out) CAP_HIDDEN;
/* The same among those that are known. */
bool cap_module_look_up(uintptr_t address, struct cap_module *out) CAP_HIDDEN;
/* Read the maps and write MODULE records of those that are new. */
void cap_modules_read(struct cap_thread *self) CAP_HIDDEN;
/* MODULE records of all that are known, at the beginning of a ring. */
void cap_modules_describe(struct cap_thread *self) CAP_HIDDEN;
void cap_modules_forget(void) CAP_HIDDEN;
/* True where a file name is that of an MPI library. Pure. */
bool cap_module_name_is_mpi(const char *path) CAP_HIDDEN;
/* The same for the parts of it that perform MPI-IO. Pure. */
bool cap_module_name_is_mpi_io(const char *path) CAP_HIDDEN;
/* The same for the parts that stand between a language and MPI. Pure. */
bool cap_module_name_is_mpi_binding(const char *path) CAP_HIDDEN;
/* The same for a library that others use too: MPI's own only where MPI is there. Pure. */
bool cap_module_name_is_mpi_helper(const char *path) CAP_HIDDEN;
/* True where it is that of CPython, as a program or a library. Pure. */
bool cap_module_name_is_interpreter(const char *path) CAP_HIDDEN;

#endif
