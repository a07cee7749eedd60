/* SPDX-License-Identifier: Apache-2.0 */
/* Results of requests and the errno values that mean the same. Pure. */
#ifndef WIO_STORE_WIRE_RESULTS_H
#define WIO_STORE_WIRE_RESULTS_H

#include "store/messages.h"

/* 0 for WIO_STORE_OK. Never 0 for another one. */
int wio_store_result_errno(enum wio_store_result result);
/* WIO_STORE_IO where there is no other one. */
enum wio_store_result wio_store_result_of(int sys_errno);
/* "the storage failed" and so on; never NULL, also of numbers that are no result. */
const char *wio_store_result_text(enum wio_store_result result);

#endif
