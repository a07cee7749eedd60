/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What paths of a trace mean beside their text (struct wio_infer_names): where symbolic links lead,
 * which file system of which machine they are on, what lies below a directory.
 */
#ifndef WIO_EDGES_PATHS_H
#define WIO_EDGES_PATHS_H

#include <whyio/trace.h>

#include "base/map.h"
#include "causal/infer/infer.h"

/* links.c: symbolic links, as they were when the run was sealed or as the run made them. One
 * that led elsewhere for a while is not told apart. */
struct wio_join_links {
    struct wio_strtab links; /* paths of links */
    uint32_t *targets;       /* of each: the string of its text */
    uint32_t target_room;
    struct wio_strtab reals; /* paths without links, of those that have some */
    uint32_t *real[2];       /* per string: the string meant; [1]: also if it is a link itself */
    uint32_t *text;          /* per string that stands for such a path: which in `reals` */
};

WIO_MUST_CHECK enum wio_status wio_join_links_init(struct wio_join_links *links,
                                                   const struct wio_trace *trace,
                                                   struct wio_error *err);
void wio_join_links_fini(struct wio_join_links *links);
uint32_t wio_join_links_real(const struct wio_join_links *links, uint32_t string, bool follows);
/* The text of a real string. */
const char *wio_join_links_text(const struct wio_join_links *links, const struct wio_trace *trace,
                                uint32_t string);

/* mounts.c: file systems by host. What is known to be local to a machine has a number, one for
 * each (boot, device, directory that shows); what may be shared over a network has 0. Where the
 * recorders name fewer than two machines all is 0. */
struct wio_join_mounts {
    struct wio_join_mount *items; /* by host */
    uint32_t *first;              /* of each host; host_count + 1 of them; NULL: all is shared */
    uint32_t host_count;
};

WIO_MUST_CHECK enum wio_status wio_join_mounts_init(struct wio_join_mounts *mounts,
                                                    const struct wio_trace *trace,
                                                    const struct wio_infer_process *processes,
                                                    uint32_t hosts);
void wio_join_mounts_fini(struct wio_join_mounts *mounts);
uint32_t wio_join_mounts_find(const struct wio_join_mounts *mounts, uint32_t host,
                              const char *path);

/* below.c: paths by their text. Made when it is first asked for. */
struct wio_join_below {
    uint32_t *sorted;
    uint32_t count;
    bool is_made;
    uint32_t directory; /* that was asked for last .. */
    uint32_t first;     /* .. and the place of the first path below it */
};

void wio_join_below_fini(struct wio_join_below *below);
/* As struct wio_infer_names says; none where there is no memory. */
uint32_t wio_join_below_find(struct wio_join_below *below, const struct wio_trace *trace,
                             uint32_t directory, uint32_t to, size_t i, uint32_t *moved_out);

#endif
