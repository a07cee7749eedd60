/* SPDX-License-Identifier: Apache-2.0 */
/* Waits on descriptors and names: pipes and sockets, locks on files, polls for a file. Names:
 * name.h. */
#ifndef WIO_CAUSAL_FILES_FILES_H
#define WIO_CAUSAL_FILES_FILES_H

#include "causal/infer/infer_internal.h"

/* Of objects of their kinds. */
static inline struct wio_infer_pipe *wio_infer_pipe(const struct wio_infer *infer, uint32_t object)
{
    return wio_infer_part(infer, object, WIO_INFER_PIPE, sizeof(struct wio_infer_pipe));
}
static inline struct wio_infer_socket *wio_infer_socket(const struct wio_infer *infer,
                                                        uint32_t object)
{
    return wio_infer_part(infer, object, WIO_INFER_SOCKET, sizeof(struct wio_infer_socket));
}
static inline struct wio_infer_eventfd *wio_infer_eventfd(const struct wio_infer *infer,
                                                          uint32_t object)
{
    return wio_infer_part(infer, object, WIO_INFER_EVENTFD, sizeof(struct wio_infer_eventfd));
}
static inline struct wio_infer_record_lock *wio_infer_record_lock(const struct wio_infer *infer,
                                                                  uint32_t object)
{
    return wio_infer_part(infer, object, WIO_INFER_RECORD_LOCK,
                          sizeof(struct wio_infer_record_lock));
}

/* fds.c: the descriptor tables. */
WIO_MUST_CHECK enum wio_status wio_infer_files_init(struct wio_infer *infer);
void wio_infer_files_fini(struct wio_infer *infer);
/* Descriptors from this number on are left out. */
#define WIO_INFER_DESCRIPTORS_MAX (1u << 16)
/* A new open file of the event's path, without a descriptor. */
WIO_MUST_CHECK enum wio_status wio_infer_make_file(struct wio_infer *infer,
                                                   const struct wio_event *event, uint32_t object,
                                                   bool can_write, uint32_t *file_out);
/* The entry of a descriptor: 0 where it is closed, else the file's number + 1, with
 * WIO_INFER_CLOEXEC. NULL: the table ends before it. */
uint32_t *wio_infer_fd_slot(struct wio_infer *infer, uint32_t image, int64_t fd);
/* Behind a closed descriptor below WIO_INFER_DESCRIPTORS_MAX there is this file now. */
WIO_MUST_CHECK enum wio_status wio_infer_put_fd(struct wio_infer *infer, uint32_t image, int64_t fd,
                                                uint32_t file, bool cloexec);
/* The file behind a descriptor of the event's image; made where it is not known. */
WIO_MUST_CHECK enum wio_status wio_infer_file(struct wio_infer *infer,
                                              const struct wio_event *event, int32_t fd,
                                              uint32_t *file_out);
/* `child` begins with the descriptors of `parent`; `is_exec`: without those that exec closes. */
WIO_MUST_CHECK enum wio_status wio_infer_inherit(struct wio_infer *infer, uint32_t parent,
                                                 uint32_t child, bool is_exec);
bool wio_infer_closes_on_exec(const struct wio_infer *infer, uint32_t image, int64_t fd);

/* files.c: at the begin of CLOSE, DUP, FCNTL, OPEN and CHANNEL events. */
WIO_MUST_CHECK enum wio_status wio_infer_descriptors(struct wio_infer *infer,
                                                     const struct wio_event *event);
/* The image ends with this event: all its descriptors are closed. */
WIO_MUST_CHECK enum wio_status wio_infer_close_all(struct wio_infer *infer, uint32_t image,
                                                   const struct wio_event *event);

/* writer_close.c */
WIO_MUST_CHECK enum wio_status wio_infer_closings_init(struct wio_infer *infer);
void wio_infer_closings_fini(struct wio_infer *infer);
/* the event closes an end of the object that could be written to. */
WIO_MUST_CHECK enum wio_status wio_infer_note_closing(struct wio_infer *infer, uint32_t object,
                                                      const struct wio_event *event);
/* Forgets the closes of the object: they release no reader. */
void wio_infer_forget_closings(struct wio_infer *infer, uint32_t object);

/* channel.c: one is made, or shut down (CHANNEL). */
WIO_MUST_CHECK enum wio_status wio_infer_channel_begin(struct wio_infer *infer,
                                                       const struct wio_event *event);
/* Through this descriptor, which has this path. */
WIO_MUST_CHECK enum wio_status
wio_infer_write(struct wio_infer *infer, const struct wio_event *event, int32_t fd, uint32_t path);
WIO_MUST_CHECK enum wio_status
wio_infer_read(struct wio_infer *infer, const struct wio_event *event, int32_t fd, uint32_t path);

/* connect.c */
WIO_MUST_CHECK enum wio_status wio_infer_connects_init(struct wio_infer *infer);
void wio_infer_connects_fini(struct wio_infer *infer);
/* connect and accept are done (CHANNEL). */
WIO_MUST_CHECK enum wio_status wio_infer_connect_end(struct wio_infer *infer,
                                                     const struct wio_event *event);

/* fifo.c */
WIO_MUST_CHECK enum wio_status wio_infer_fifos_init(struct wio_infer *infer);
void wio_infer_fifos_fini(struct wio_infer *infer);
/* one is made (MKNOD), opened (begin and end; behind its descriptor), the last
 * descriptor of an opening is closed. */
WIO_MUST_CHECK enum wio_status wio_infer_fifo_made(struct wio_infer *infer,
                                                   const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_fifo_begin(struct wio_infer *infer,
                                                    const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_fifo_end(struct wio_infer *infer,
                                                  const struct wio_event *event);
/* The FIFO that is opened by the call, until wio_infer_fifo_end; 0: none. */
uint32_t wio_infer_fifo_opened(const struct wio_infer *infer, const struct wio_event *event);
void wio_infer_fifo_close(struct wio_infer *infer, uint32_t file, const struct wio_event *event);

/* message.c: sockets that keep messages apart. A socket of this type; is this text the address
 * of one; one that is bound, or connected, to an address; what is written to it and read from it.
 */
bool wio_infer_is_datagram(const struct wio_infer *infer, uint32_t string);
void wio_infer_message_make(struct wio_infer *infer, uint32_t object, int64_t type);
WIO_MUST_CHECK enum wio_status wio_infer_message_bind(struct wio_infer *infer,
                                                      const struct wio_event *event);
WIO_MUST_CHECK enum wio_status
wio_infer_message_write(struct wio_infer *infer, const struct wio_event *event, uint32_t object);
/* A read found none: those that were sent before it have been lost. */
WIO_MUST_CHECK enum wio_status
wio_infer_message_none(struct wio_infer *infer, const struct wio_event *event, uint32_t object);
WIO_MUST_CHECK enum wio_status wio_infer_message_read(struct wio_infer *infer,
                                                      const struct wio_event *event,
                                                      uint32_t object, bool stays);

/* lock.c: flock; the others are passed on. */
WIO_MUST_CHECK enum wio_status wio_infer_lock_begin(struct wio_infer *infer,
                                                    const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_lock_end(struct wio_infer *infer,
                                                  const struct wio_event *event);
/* The last descriptor of the file is closed by this event: the locks that it has are free. */
WIO_MUST_CHECK enum wio_status wio_infer_unlock_file(struct wio_infer *infer, uint32_t file,
                                                     const struct wio_event *event);
/* range.c: locks of fcntl and lockf. */
WIO_MUST_CHECK enum wio_status wio_infer_range_begin(struct wio_infer *infer,
                                                     const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_range_end(struct wio_infer *infer,
                                                   const struct wio_event *event);
/* A descriptor of this file is closed, or the image ends (WIO_INFER_ALL_FILES): its ranges are
 * free.
 */
#define WIO_INFER_ALL_FILES UINT64_MAX
WIO_MUST_CHECK enum wio_status
wio_infer_unlock_ranges(struct wio_infer *infer, const struct wio_event *event, uint64_t file);
/* The open file is closed: the ranges that it has itself are free. */
WIO_MUST_CHECK enum wio_status wio_infer_unlock_file_ranges(struct wio_infer *infer, uint32_t file,
                                                            const struct wio_event *event);
/* exec: the image `next` goes on with the ranges, but for files that exec closes. */
WIO_MUST_CHECK enum wio_status wio_infer_pass_ranges(struct wio_infer *infer,
                                                     const struct wio_event *event, uint32_t next);

/* poll.c: waiting for a file to be there. */
WIO_MUST_CHECK enum wio_status wio_infer_look_begin(struct wio_infer *infer,
                                                    const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_infer_look_end(struct wio_infer *infer,
                                                  const struct wio_event *event);

/* What is kept: message.c, range.c, poll.c */
WIO_MUST_CHECK enum wio_status wio_infer_messages_init(struct wio_infer *infer);
void wio_infer_messages_fini(struct wio_infer *infer);
WIO_MUST_CHECK enum wio_status wio_infer_ranges_init(struct wio_infer *infer);
void wio_infer_ranges_fini(struct wio_infer *infer);
void wio_infer_waits_fini(struct wio_infer *infer);

#endif
