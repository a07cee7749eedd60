/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads poll: between a look that fails and the one that finds what another thread has made
 * they sleep, or look again and again. A thread that has other work meanwhile, such as one that
 * names what another one is to copy, looks for nothing.
 */
#ifndef WIO_EXPLAIN_PREPARE_POLLS_H
#define WIO_EXPLAIN_PREPARE_POLLS_H

#include "explain/findings/finding.h"

/* By stream: 1 where it polls. The array is the caller's to free, also after an error. Fails with
 * WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_prepare_polls(const struct wio_finding_input *input,
                                                 uint8_t **polls_out);

#endif
