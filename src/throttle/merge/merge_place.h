/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a merged trace is made: in DIR.merging, which becomes DIR by one rename when all of it is
 * there. A merge that is killed leaves DIR.merging; the next one to DIR removes what is in it. A
 * lock tells that from one that is at work.
 */
#ifndef WIO_THROTTLE_MERGE_MERGE_PLACE_H
#define WIO_THROTTLE_MERGE_MERGE_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include <whyio/status.h>

/* Begin with {.dir_fd = -1, .lock_fd = -1}. */
struct wio_merge_place {
    char final[PATH_MAX];
    char work[PATH_MAX + 16];
    int dir_fd; /* of `work` */
    int lock_fd;
    bool has_cleaned; /* a merge that was killed had left files */
};

/* WIO_ERR_USAGE: DIR is there, or DIR.merging holds files that no merge makes. WIO_ERR_BUSY:
 * another merge is at work in it. */
WIO_MUST_CHECK enum wio_status wio_merge_place_begin(struct wio_merge_place *place, const char *dir,
                                                     struct wio_error *err);
/* `work` becomes `final`. */
WIO_MUST_CHECK enum wio_status wio_merge_place_publish(struct wio_merge_place *place,
                                                       struct wio_error *err);
/* Removes what was not published. */
void wio_merge_place_fini(struct wio_merge_place *place);

#endif
