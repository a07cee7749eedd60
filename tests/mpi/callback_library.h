/* SPDX-License-Identifier: Apache-2.0 */
/* Two libraries: callback_library.c and async_library.c. */
#ifndef WIO_TESTS_MPI_CALLBACK_LIBRARY_H
#define WIO_TESTS_MPI_CALLBACK_LIBRARY_H

#include <stdbool.h>

/* Opens the file and NAME.log; both get their last bytes when MPI_Finalize calls back, then
 * FILE.new is made and renamed to FILE.index. */
bool callback_open(const char *name);

/* Does the kernel allow io_uring here? */
bool async_is_possible(void);
/* Requests on the file by io_submit and, where the kernel allows it, io_uring: by liburing where
 * this was built with it, by syscall(), of registered files. How many; 0 where one failed. */
unsigned async_write(const char *name);
/* The same by a ring that no function is called for, and that stays open. */
unsigned async_write_hidden(const char *name);

#endif
