/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file a name stands for: names are given to other files, and files get other names.
 *
 * A name is a path without symbolic links, on a file system: its number is the string of the path
 * where all hosts see the same file there; names of a host's own file systems have numbers behind
 * those of the strings.
 *
 * A file's id is the first name under which it occurred; in the upper half it has how many files
 * had been named anew before it, so that two files of one name are told apart. Those that were
 * there from the beginning have 0 there.
 */
#ifndef WIO_CAUSAL_INFER_NAME_H
#define WIO_CAUSAL_INFER_NAME_H

#include "causal/infer/infer_internal.h"

/* May one more name below a renamed directory be handled? Names below are handled one by one. No
 * program has so many renames of directories with so many names below; a hostile trace would cost
 * their product. */
bool wio_infer_one_below(struct wio_infer *infer);
WIO_MUST_CHECK enum wio_status wio_infer_names_init(struct wio_infer *infer);
void wio_infer_names_fini(struct wio_infer *infer);

/* The name that a path of the event is; `follows`: of what a symbolic link leads to. */
WIO_MUST_CHECK enum wio_status wio_infer_name(struct wio_infer *infer,
                                              const struct wio_event *event, uint32_t path,
                                              bool follows, uint32_t *name_out);
/* The string of a path without symbolic links. */
uint32_t wio_infer_real(const struct wio_infer *infer, uint32_t path, bool follows);
/* The string of a name, or of the name in a file's id. */
uint32_t wio_infer_name_string(const struct wio_infer *infer, uint32_t name);
/* The file that the path names now. */
WIO_MUST_CHECK enum wio_status wio_infer_named(struct wio_infer *infer,
                                               const struct wio_event *event, uint32_t path,
                                               uint64_t *file_out);
/* The file behind a descriptor of the event's image, which keeps it whatever becomes of its name;
 * the one that the path names where the descriptor is not known. */
WIO_MUST_CHECK enum wio_status wio_infer_opened(struct wio_infer *infer,
                                                const struct wio_event *event, int32_t fd,
                                                uint32_t path, uint64_t *file_out);
/* Every event that succeeded, at its begin: names that stand for another file from now on. */
WIO_MUST_CHECK enum wio_status wio_infer_rename(struct wio_infer *infer,
                                                const struct wio_event *event);

/* What kind of object the path names. */
enum wio_infer_path wio_infer_path_kind(struct wio_infer *infer, uint32_t path);

#endif
