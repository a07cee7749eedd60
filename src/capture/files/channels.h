/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipes, sockets and eventfds: names that tell which two ends belong together. FORMAT.md#channels
 *
 * After the real call; errno may only be read.
 */
#ifndef WIO_CAPTURE_FILES_CHANNELS_H
#define WIO_CAPTURE_FILES_CHANNELS_H

#include <sys/socket.h>

#include "capture/core/capture.h"

/* pipe, socketpair: both descriptors and their names. */
void cap_channel_pair(struct cap_thread *self, struct cap_event *ev, struct cap_ext *ext,
                      const int ends[2]) CAP_HIDDEN;
/* eventfd, socket */
void cap_channel_made(struct cap_thread *self, struct cap_event *ev) CAP_HIDDEN;
/* accept: of ev->result */
void cap_channel_accepted(struct cap_thread *self, struct cap_event *ev,
                          struct cap_ext *ext) CAP_HIDDEN;
void cap_channel_connected(struct cap_thread *self, const struct cap_event *ev, struct cap_ext *ext,
                           const struct sockaddr *address, socklen_t length) CAP_HIDDEN;
void cap_channel_bound(struct cap_thread *self, const struct cap_event *ev,
                       struct cap_ext *ext) CAP_HIDDEN;
/* A message was sent to an address: the first one makes the kernel bind the socket, which is told
 * by an event. */
void cap_channel_sent_to(struct cap_thread *self, const struct cap_event *ev) CAP_HIDDEN;

/* Where a datagram goes: `dgram inet A:PORT`; none where it has no address of its own. */
uint32_t cap_end_of(struct cap_thread *self, int error, const struct sockaddr *address,
                    socklen_t length) CAP_HIDDEN;
uint32_t cap_message_end_of(struct cap_thread *self, int error,
                            const struct msghdr *message) CAP_HIDDEN;

/* The inode of the socket at the other end of a Unix socket that is connected; 0: not known. */
uint32_t cap_channel_peer(int fd) CAP_HIDDEN;

#endif
