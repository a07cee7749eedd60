/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for processes, threads and ranks themselves. */
#ifndef WIO_CAUSAL_THREADS_SYNC_H
#define WIO_CAUSAL_THREADS_SYNC_H

#include "causal/infer/infer_internal.h"

/* Of objects of their kinds. */
static inline struct wio_infer_semaphore *wio_infer_semaphore(const struct wio_infer *infer,
                                                              uint32_t object)
{
    return wio_infer_part(infer, object, WIO_INFER_SEMAPHORE, sizeof(struct wio_infer_semaphore));
}
static inline struct wio_infer_barrier *wio_infer_barrier(const struct wio_infer *infer,
                                                          uint32_t object)
{
    return wio_infer_part(infer, object, WIO_INFER_BARRIER, sizeof(struct wio_infer_barrier));
}
/* `kind`: CONDITION or FUTEX. */
static inline struct wio_infer_wakes *wio_infer_wakes(const struct wio_infer *infer,
                                                      uint32_t object, enum wio_infer_kind kind)
{
    return wio_infer_part(infer, object, kind, sizeof(struct wio_infer_wakes));
}

/* image.c: process images and their threads. */
WIO_MUST_CHECK enum wio_status wio_infer_processes_init(struct wio_infer *infer);
void wio_infer_processes_fini(struct wio_infer *infer);
/* The earliest child of this image that is not born yet; the next one; the one with that pid.
 * WIO_INFER_NONE where there is none. */
uint32_t wio_infer_first_unborn(struct wio_infer *infer, uint32_t image);
uint32_t wio_infer_next_unborn(struct wio_infer *infer, uint32_t child);
uint32_t wio_infer_find_child(struct wio_infer *infer, uint32_t image, int64_t pid);
/* `child` (nothing where it is WIO_INFER_NONE) was made by this call; `is_program`: without what
 * exec closes. */
WIO_MUST_CHECK enum wio_status wio_infer_make_image(struct wio_infer *infer,
                                                    const struct wio_event *event, uint32_t child,
                                                    bool is_program);
/* The image has its pid from here on. */
WIO_MUST_CHECK enum wio_status wio_infer_remember_image(struct wio_infer *infer, uint32_t image);
/* The thread of `stream` was made by this event. */
WIO_MUST_CHECK enum wio_status wio_infer_bear(struct wio_infer *infer,
                                              const struct wio_event *event, uint32_t stream,
                                              enum wio_evidence evidence);
/* All of the thread `stream` is done before `to`. */
WIO_MUST_CHECK enum wio_status wio_infer_after_stream(struct wio_infer *infer,
                                                      const struct wio_event *to, uint32_t stream,
                                                      enum wio_evidence evidence);
/* All threads of the latest image of a pid are done before `to`. */
WIO_MUST_CHECK enum wio_status wio_infer_after_process(struct wio_infer *infer,
                                                       const struct wio_event *to, int64_t pid,
                                                       enum wio_evidence evidence);

/* process.c: fork, exec, wait, threads. */
WIO_MUST_CHECK enum wio_status wio_infer_process_begin(struct wio_infer *infer,
                                                       const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_process_end(struct wio_infer *infer,
                                                     const struct wio_event *event);
/* Every event, after all else: is it the last of its image? */
WIO_MUST_CHECK enum wio_status wio_infer_count_event(struct wio_infer *infer,
                                                     const struct wio_event *event);
/* A process was waited for by a descriptor that stands for it. */
WIO_MUST_CHECK enum wio_status wio_infer_polled(struct wio_infer *infer,
                                                const struct wio_event *event);
/* helper.c: system and popen at their begin, system and pclose at their end. */
WIO_MUST_CHECK enum wio_status wio_infer_helper_begin(struct wio_infer *infer,
                                                      const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_helper_end(struct wio_infer *infer,
                                                    const struct wio_event *event);

/* semaphore.c: semaphores and message queues. */
WIO_MUST_CHECK enum wio_status wio_infer_semaphore_begin(struct wio_infer *infer,
                                                         const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_post_begin(struct wio_infer *infer,
                                                    const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_post_end(struct wio_infer *infer,
                                                  const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_take_begin(struct wio_infer *infer,
                                                    const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_take_end(struct wio_infer *infer,
                                                  const struct wio_event *event);
/* sem_wait_zero.c: waiting until a semaphore is 0. */
WIO_MUST_CHECK enum wio_status wio_infer_zero_begin(struct wio_infer *infer,
                                                    const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_zero_end(struct wio_infer *infer,
                                                  const struct wio_event *event);
/* Units are about to be added to the semaphore: calls that waited for 0 go on if it was empty. */
WIO_MUST_CHECK enum wio_status wio_infer_zero_before(struct wio_infer *infer, uint32_t object,
                                                     uint64_t now_ns);
/* The call that waits puts something back at its end. */
void wio_infer_zero_puts_back(struct wio_infer *infer, const struct wio_event *event,
                              uint32_t object);
/* A take has ended: the thread's last one. */
WIO_MUST_CHECK enum wio_status
wio_infer_note_taking(struct wio_infer *infer, const struct wio_event *event, uint32_t object);
/* The units that are left of those that came before `until_ns`. */
uint64_t wio_infer_units(const struct wio_infer *infer, uint32_t object, uint64_t until_ns);

/* thread.c: locks, conditions, barriers, futexes. One of them begins anew, or ends. */
WIO_MUST_CHECK enum wio_status wio_infer_sync_begin(struct wio_infer *infer,
                                                    const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_thread_begin(struct wio_infer *infer,
                                                      const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_thread_end(struct wio_infer *infer,
                                                    const struct wio_event *event);

/* signal.c */
WIO_MUST_CHECK enum wio_status wio_infer_signals_init(struct wio_infer *infer);
void wio_infer_signals_fini(struct wio_infer *infer);
WIO_MUST_CHECK enum wio_status wio_infer_kill(struct wio_infer *infer,
                                              const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_sigwait(struct wio_infer *infer,
                                                 const struct wio_event *event);
/* The process was ended by this signal: by the first that was sent to it. */
WIO_MUST_CHECK enum wio_status wio_infer_after_kill(struct wio_infer *infer,
                                                    const struct wio_event *event, int64_t pid,
                                                    int signal);
/* Signals are read from a signalfd. */
WIO_MUST_CHECK enum wio_status wio_infer_signals_read(struct wio_infer *infer,
                                                      const struct wio_event *event);

/* timer.c: a timer is set, and read. */
WIO_MUST_CHECK enum wio_status wio_infer_timer_set(struct wio_infer *infer,
                                                   const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_timer_read(struct wio_infer *infer,
                                                    const struct wio_event *event);

/* mpi.c */
WIO_MUST_CHECK enum wio_status wio_infer_mpi_init(struct wio_infer *infer);
void wio_infer_mpi_fini(struct wio_infer *infer);
WIO_MUST_CHECK enum wio_status wio_infer_mpi(struct wio_infer *infer,
                                             const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_mpi_finish(struct wio_infer *infer);

#endif
