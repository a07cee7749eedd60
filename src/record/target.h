/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that a command would start, and whether the capture library can be loaded into it.
 */
#ifndef WIO_RECORD_TARGET_H
#define WIO_RECORD_TARGET_H

#include <limits.h>
#include <stdbool.h>

#include <whyio/status.h>

/*
 * Find `name` as execvp does: with a slash as it is, else in the directories of `search` (the
 * value of PATH, NULL = the system's default). Fails with WIO_ERR_IO, telling "not found" from
 * "not executable" as a shell does.
 */
WIO_MUST_CHECK enum wio_status wio_target_find(const char *name, const char *search,
                                               char path_out[PATH_MAX], struct wio_error *err);

/*
 * Check that LD_PRELOAD works for the program `path`: follows #! lines to the interpreter, then
 * expects a 64-bit ELF program of this machine with a dynamic loader of glibc that is not
 * set-user-id. Otherwise WIO_ERR_UNSUPPORTED with the reason and what to use instead. With
 * `trace_static` a statically linked program of this machine will do, too.
 */
WIO_MUST_CHECK enum wio_status wio_target_check(const char *path, bool trace_static,
                                                struct wio_error *err);

#endif
