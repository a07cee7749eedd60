/* SPDX-License-Identifier: Apache-2.0 */
/* Names of descriptors that the kernel tells apart by a number. Signal safe. */
#ifndef WIO_CAPTURE_FILES_FD_NUMBER_H
#define WIO_CAPTURE_FILES_FD_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/core/attributes.h"

/* What has one name for all of its kind is told apart by a number that the kernel gives behind
 * `key` in /proc/self/fdinfo ("eventfd-id: 12", since Linux 5.2). False where there is none. */
bool cap_fd_number(int fd, const char *key, uint64_t *number_out) CAP_HIDDEN;
/* The name made of that; returns its length. */
size_t cap_fd_numbered_name(const char *head, uint64_t number, const char *tail, char *text,
                            size_t size) CAP_HIDDEN;

#endif
