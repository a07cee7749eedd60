/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "lock/lock.h"

static const char *name_of(const char *const *names, size_t count, unsigned value)
{
    return value < count ? names[value] : "?";
}

const char *wio_lock_policy_name(enum wio_lock_policy policy)
{
    static const char *const names[] = {"wound-wait", "time-out", "no-wait", "wait-die"};
    return name_of(names, WIO_ARRAY_SIZE(names), policy);
}

const char *wio_lock_mode_name(enum wio_lock_mode mode)
{
    static const char *const names[] = {"shared", "exclusive", "increment"};
    return name_of(names, WIO_ARRAY_SIZE(names), mode);
}

const char *wio_lock_role_name(enum wio_lock_role role)
{
    static const char *const names[] = {"holder", "queued ahead", "prepared", "dead lease"};
    return name_of(names, WIO_ARRAY_SIZE(names), role);
}

const char *wio_lock_reason_name(enum wio_lock_reason reason)
{
    static const char *const names[] = {"none", "conflict", "died", "time-out", "limit"};
    return name_of(names, WIO_ARRAY_SIZE(names), reason);
}
