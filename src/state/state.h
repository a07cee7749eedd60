/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a traced program at a moment of its trace: which processes exist and which call made
 * them, what is behind descriptor 7, which file a name means. A cursor that goes forward: fed with
 * every event in order of begin, asked about now.
 *
 *     struct wio_state *state;
 *     if (wio_state_create(&params, &state) != WIO_OK) ...
 *     while (wio_cursor_next(cursor, &event, &err) == WIO_OK) {
 *         if (wio_state_event(state, event) != WIO_OK) ...
 *         wio_state_file_of(state, event, &file);    // of event->fd, else of event->path
 *     }
 *     wio_state_destroy(state);
 *
 * "Before the run": what an event tells of a file as it was at first (wio_state_file.origin) is
 * known once that event was fed; numbers of files depend on the events only, so a first pass over a
 * trace answers it for all files of a second one.
 *
 * What was not recorded (a descriptor without an open, a fork without its call) is taken from the
 * first event that uses it.
 *
 * Pure: memory comes from params.alloc. Memory: names, files and descriptors that the events name,
 * whatever their number. Thread safety: one thread per object.
 */
#ifndef WIO_STATE_STATE_H
#define WIO_STATE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

#include "base/alloc.h"
#include "base/memory.h"

/* A process image, as in struct wio_process_info. */
struct wio_state_process {
    int32_t pid;
    uint32_t host;   /* 0, 1, 2 ..: the same for images of one host */
    uint32_t parent; /* image that made this one by fork, spawn or exec; WIO_NO_INDEX = none */
    uint64_t start_ns;
};

/* A thread of an image, as in struct wio_stream_info. */
struct wio_state_stream {
    uint32_t process;
    uint64_t events;
};

struct wio_state_params {
    struct wio_alloc alloc;
    const struct wio_state_process *processes; /* parents before their children */
    uint32_t process_count;
    const struct wio_state_stream *streams;
    uint32_t stream_count;
    uint32_t string_count; /* ids of strings are below it */
    /* The text of a string id; lives as long as the state. */
    const char *(*text)(void *context, uint32_t string);
    /* Which file system the path is on: 0 where all hosts see the same file under it, else a number
     * that tells file systems of single hosts apart. May be NULL: all hosts see the same files. */
    uint32_t (*file_system)(void *context, uint32_t host, uint32_t path);
    void *context;
};

/* What the events so far say of a file before the run. */
enum wio_state_origin {
    WIO_STATE_UNKNOWN, /* nothing yet */
    WIO_STATE_INITIAL, /* it was there */
    WIO_STATE_MAYBE,   /* opened with O_CREAT, not O_EXCL: there, or made by it */
    WIO_STATE_MADE,    /* made in the run */
};

/* Behind a name or a descriptor. */
struct wio_state_file {
    uint32_t file; /* its number, 0, 1, 2 ..: the same through renames, links and its removal;
                      WIO_NO_INDEX = no file (no path, no such descriptor) */
    uint32_t path; /* string id of the path under which it was met first */
    enum wio_state_origin origin;
    int32_t flags;   /* of open(2), as fcntl has changed them; 0 for a name */
    bool has_name;   /* it can be found by some name now */
    bool is_there;   /* the name means an existing file, as far as events tell */
    bool is_cloexec; /* of a descriptor */
};

struct wio_state;

/* WIO_ERR_NOMEM. The caller owns the object; params and its arrays must outlive it. */
WIO_MUST_CHECK enum wio_status wio_state_create(const struct wio_state_params *params,
                                                struct wio_state **state_out);
/* Accepts NULL. */
void wio_state_destroy(struct wio_state *state);

/* A symbolic link that was there before the run, and its text (string ids). Before the first
 * event. */
WIO_MUST_CHECK enum wio_status wio_state_initial_link(struct wio_state *state, uint32_t path,
                                                      uint32_t target);

/* The next event in order of begin: its effect on processes, descriptors and names. Calls that
 * failed tell of names only. */
WIO_MUST_CHECK enum wio_status wio_state_event(struct wio_state *state,
                                               const struct wio_event *event);

/* The next event, if it only moves bytes of a known open descriptor, as most do: true, and the file
 * behind that. Else nothing has happened, and wio_state_event comes. Quicker than the questions. */
bool wio_state_moves(struct wio_state *state, const struct wio_event *event,
                     struct wio_state_file *file_out);

/* What is behind the descriptor of the event, or, where it has none, behind its path. After
 * wio_state_event of it: a close or unlink has taken its file away by then, an open has given it;
 * ask for those of before with wio_state_fd and wio_state_name first. */
WIO_MUST_CHECK enum wio_status wio_state_file_of(struct wio_state *state,
                                                 const struct wio_event *event,
                                                 struct wio_state_file *file_out);
/* Behind descriptor `fd` of an image; file WIO_NO_INDEX where it is closed or was never seen. */
void wio_state_fd(const struct wio_state *state, uint32_t process, int64_t fd,
                  struct wio_state_file *file_out);
/* What a path means to an image now; `follows`: the file that a symbolic link leads to. */
WIO_MUST_CHECK enum wio_status wio_state_name(struct wio_state *state, uint32_t process,
                                              uint32_t path, bool follows,
                                              struct wio_state_file *file_out);
/* Does the path of the event mean an existing file now, as far as events tell? Unlike
 * wio_state_name it gives no number to a file that has none. */
WIO_MUST_CHECK enum wio_status
wio_state_is_there(struct wio_state *state, const struct wio_event *event, bool *is_there_out);

/* Which image a call has made, or an exec has gone on in; WIO_NO_INDEX: none that is in the trace.
 * After wio_state_event of that call. */
uint32_t wio_state_made_by(const struct wio_state *state, const struct wio_event *event);
/* The image that has this pid now on the host of `process`; WIO_NO_INDEX: none. */
uint32_t wio_state_process_of_pid(const struct wio_state *state, uint32_t process, int64_t pid);
/* False before its making and after its last event. */
bool wio_state_is_alive(const struct wio_state *state, uint32_t process);

#endif
