/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a Python program: the frames of CPython's own stack, read where they lie. A call for
 * I/O has mostly given the interpreter's lock away, so nothing of the interpreter's is called that
 * would need it: what a thread's frames and their code objects hold does not change while the
 * thread is in that call, until the interpreter ends. Layouts are those of CPython 3.8 to 3.13;
 * another version has no lines.
 *
 * Source: the headers pystate.h, frameobject.h, pycore_frame.h, code.h, unicodeobject.h of these
 * versions.
 */
#ifndef WIO_CAPTURE_SCRIPT_PYTHON_H
#define WIO_CAPTURE_SCRIPT_PYTHON_H

#include "capture/core/capture.h"

struct cap_python_frame {
    const uint8_t *code;        /* the code object */
    const uint8_t *instruction; /* where it is: an address, or an index before 3.11 */
    const uint8_t *file;        /* name of its file: an object */
    const uint8_t *name;        /* and its own */
    uint32_t first_line;
};

/* Text of an object; data NULL where it is not one of ASCII characters. */
struct cap_python_text {
    const char *data;
    size_t bytes;
};

/* Is an interpreter of a known version in this process? Looks for it each time. */
bool cap_python_find(void) CAP_HIDDEN;
/* The calling thread's frames, the innermost first; at most `max`. 0: it is in none. */
unsigned cap_python_frames(struct cap_python_frame *frames, unsigned max) CAP_HIDDEN;
/* From 1; 0: not known. */
unsigned cap_python_line(const struct cap_python_frame *frame) CAP_HIDDEN;
struct cap_python_text cap_python_file(const struct cap_python_frame *frame) CAP_HIDDEN;
struct cap_python_text cap_python_function(const struct cap_python_frame *frame) CAP_HIDDEN;

#endif
