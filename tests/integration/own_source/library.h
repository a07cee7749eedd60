/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WIO_TESTS_OWN_SOURCE_LIBRARY_H
#define WIO_TESTS_OWN_SOURCE_LIBRARY_H

#ifdef __cplusplus
extern "C"
#endif
    long
    H5Dwrite(int fd, const void *data, unsigned long bytes);

#endif
