/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory group (cgroup) that the tasks of a model run in: as every job of a batch system does.
 * Its limit bounds the pages of files in memory, and those that are dirty: in version 2 by dirty
 * limits of its own, as large a part of the group's memory as the machine's are of the machine's;
 * in version 1 by its limit alone, at which the task that needs a page has the flusher write all,
 * and waits for it.
 *
 * Source: behaviour of mdtc_calc_avail and domain_dirty_limits in mm/page-writeback.c, and of
 * shrink_folio_list in mm/vmscan.c ("legacy memcg") of Linux 6.1; docs/MODEL.md#kernel, rule 21.
 */
#ifndef WIO_MODEL_KERNEL_GROUP_H
#define WIO_MODEL_KERNEL_GROUP_H

#include <stdbool.h>

#include "model/model.h"

/* No less is left to files, however much else a group has: bytes. */
#define WIO_GROUP_LEAST 1048576.0

/* Bytes for pages of files: the machine's, or what the group lets. */
double wio_group_room(const struct wio_model_params *params);
/* How many of them may be dirty or under write-back in a group of version 1; else
 * WIO_MODEL_UNLIMITED. */
double wio_group_dirty_room(const struct wio_model_params *params);

struct wio_group_limits {
    double background; /* bytes */
    double hard;
};
/* The dirty limits that hold: the machine's or, in version 2, the group's if they are lower. */
struct wio_group_limits wio_group_limits(const struct wio_model_params *params);

#endif
