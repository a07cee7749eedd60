/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/meta.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "ops/lookup.h"

/* `op` costs as much as `of` where it has no cost of its own. */
static const struct {
    enum wio_op op;
    enum wio_op of;
} families[] = {
    {WIO_OP_fopen, WIO_OP_open},         {WIO_OP_freopen, WIO_OP_open},
    {WIO_OP_opendir, WIO_OP_open},       {WIO_OP_fclose, WIO_OP_close},
    {WIO_OP_closedir, WIO_OP_close},     {WIO_OP_lstat, WIO_OP_stat},
    {WIO_OP_fstat, WIO_OP_stat},         {WIO_OP_statx, WIO_OP_stat},
    {WIO_OP_access, WIO_OP_stat},        {WIO_OP_euidaccess, WIO_OP_stat},
    {WIO_OP_remove, WIO_OP_unlink},      {WIO_OP_mkdtemp, WIO_OP_mkdir},
    {WIO_OP_ftruncate, WIO_OP_truncate},
};

void wio_meta_init(struct wio_meta *meta)
{
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        meta->op_s[op] = (double)NAN;
    }
    meta->create_s = (double)NAN;
}

bool wio_meta_set(struct wio_meta *meta, const char *name, double seconds)
{
    enum wio_op op = wio_op_find(name);
    if (strcmp(name, "create") == 0) {
        meta->create_s = seconds;
    } else if (op != WIO_OP_unknown) {
        meta->op_s[op] = seconds;
    } else {
        return false;
    }
    return true;
}

double wio_meta_cost(const struct wio_meta *meta, unsigned op, bool makes_file)
{
    if (op >= WIO_OP_COUNT) {
        return (double)NAN;
    }
    if ((makes_file || wio_op_opens_temporary(op)) && !isnan(meta->create_s)) {
        return meta->create_s;
    }
    for (size_t i = 0; isnan(meta->op_s[op]) && i < WIO_ARRAY_SIZE(families); i++) {
        if (families[i].op == op) {
            return meta->op_s[families[i].of];
        }
    }
    return meta->op_s[op];
}
