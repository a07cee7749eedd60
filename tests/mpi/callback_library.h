/* SPDX-License-Identifier: Apache-2.0 */
/* Two libraries: callback_library.c and async_library.c. */
#ifndef WIO_TESTS_MPI_CALLBACK_LIBRARY_H
#define WIO_TESTS_MPI_CALLBACK_LIBRARY_H

#include <stdbool.h>

/* Opens the file and NAME.log; both get their last bytes when MPI_Finalize calls back, then
 * FILE.new is made and renamed to FILE.index. */
bool callback_open(const char *name);

/* Writes 4 bytes by each of io_submit and, where this was built with liburing, io_uring. */
bool async_write(const char *name);

#endif
