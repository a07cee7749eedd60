/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Balanced trees: the RB_* macros of tree(3bsd), header only. RB_GENERATE_STATIC wants the BSDs'
 * __unused, which glibc does not define.
 */
#ifndef WIO_BASE_TREE_H
#define WIO_BASE_TREE_H

#include <bsd/sys/tree.h>

#ifndef __unused
#define __unused __attribute__((unused)) /* NOLINT(bugprone-reserved-identifier) */
#endif

#endif
