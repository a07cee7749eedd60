/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of HOST.json that are not read. Private to host.c. */
#ifndef WIO_MACHINE_HOST_KEYS_H
#define WIO_MACHINE_HOST_KEYS_H

#include "machine/host.h"
#include "machine/host_json.h"

/* The first key of the object that is none of ours, but is like one that could be there and is
 * not; into *first unless there is one already. */
void wio_host_note_misspelt(const struct wio_host_json *json, struct wio_host_misspelt *first);

#endif
