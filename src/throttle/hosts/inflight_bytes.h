/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a program that are in flight between hosts: sent by a TCP socket, and not yet
 * acknowledged by the other end's kernel. While there are any, a sleeping thread may be about to be
 * woken. Bytes that a full receiver keeps from being sent wake no thread before it reads, and are
 * not in flight. Traffic that bypasses the kernel is not seen, nor what a socket has sent that is
 * closed meanwhile.
 */
#ifndef WIO_THROTTLE_HOSTS_INFLIGHT_BYTES_H
#define WIO_THROTTLE_HOSTS_INFLIGHT_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* Has the process of this thread, any that is alive, a TCP socket with such bytes? Yes also where
 * memory does not suffice to find out. */
bool wio_flight_has_bytes(int32_t tid);

/* A line of /proc/PID/net/tcp or tcp6: the socket's inode where bytes are in flight, else 0.
 * Pure. */
uint64_t wio_flight_parse(const char *line);

#endif
