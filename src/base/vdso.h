/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the kernel maps into every process (vdso(7)), past any library's function of the
 * same name. Signal safe, thread safe, needs nothing of libc's but getauxval. */
#ifndef WIO_BASE_VDSO_H
#define WIO_BASE_VDSO_H

/* The address of the first of `names` (ended by NULL) that is there; NULL where none is. */
void *wio_vdso_find(const char *const *names);

#endif
