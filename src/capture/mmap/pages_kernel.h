/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel offers to learn which pages were written: userfaultfd and PAGEMAP_SCAN, with what
 * the headers of older systems lack. Sources: linux/userfaultfd.h, linux/fs.h of Linux 6.7.
 */
#ifndef WIO_CAPTURE_MMAP_PAGES_KERNEL_H
#define WIO_CAPTURE_MMAP_PAGES_KERNEL_H

#include <linux/userfaultfd.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "capture/core/raw.h"

enum {
    CAP_UFFD_USER_MODE_ONLY = 1,
    CAP_UFFD_WP_HUGETLBFS_SHMEM = 1 << 12,
    CAP_UFFD_WP_UNPOPULATED = 1 << 13,
    CAP_UFFD_WP_ASYNC = 1 << 15,
    CAP_PAGE_IS_WRITTEN = 1 << 1,
    CAP_SCAN_WP_MATCHING = 1 << 0,
    CAP_SCAN_CHECK_WPASYNC = 1 << 1,
};

struct cap_page_region {
    uint64_t start;
    uint64_t end;
    uint64_t categories;
};

struct cap_page_scan {
    uint64_t size;
    uint64_t flags;
    uint64_t start;
    uint64_t end;
    uint64_t walk_end;
    uint64_t vec;
    uint64_t vec_len;
    uint64_t max_pages;
    uint64_t category_inverted;
    uint64_t category_mask;
    uint64_t category_anyof_mask;
    uint64_t return_mask;
};

#define CAP_PAGEMAP_SCAN _IOWR('f', 16, struct cap_page_scan)

_Static_assert(sizeof(struct cap_page_region) == 24, "as the kernel has it");
_Static_assert(sizeof(struct cap_page_scan) == 96, "as the kernel has it");

static inline long raw_ioctl(int fd, unsigned long request, void *argument)
{
    return raw_call3(SYS_ioctl, fd, (long)request, (long)argument);
}

#endif
