/* SPDX-License-Identifier: Apache-2.0 */
/* What the state of a thread has of files: features.def. */
#ifndef WIO_CAPTURE_FILES_FILES_THREAD_H
#define WIO_CAPTURE_FILES_FILES_THREAD_H

#include <stdint.h>

struct cap_files_thread {
    uint32_t left_cwd; /* the directory that the chdir under way leaves, 0 = none */
};

#endif
