/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorder that is directed by the coordinator (throttle/hosts/remote.h): records its command as
 * part of the coordinator's run, reports the state of all threads, and applies its grants.
 *
 * When the coordinator is gone, or has been silent for too long, all holds end.
 */
#ifndef WIO_THROTTLE_HOSTS_WORKER_H
#define WIO_THROTTLE_HOSTS_WORKER_H

#include "record/record.h"

/* `director`: the value of WHYIO_DIRECTOR, which names the directory: `dir` and `force` of `params`
 * are ignored. As wio_record, but that this process keeps its descriptors. */
WIO_MUST_CHECK enum wio_status wio_agent_record(const struct wio_record_params *params,
                                                const char *director,
                                                struct wio_record_result *result_out,
                                                struct wio_error *err);

#endif
