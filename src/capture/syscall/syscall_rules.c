/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of syscall(2) that are recorded, as src/ops/calls.def names them
 * (scripts/gen_syscalls.py). */
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/core/program/seccomp.h"
#include "capture/files/files_numbers.h"
#include "capture/mmap/mmap_numbers.h"
#include "capture/process/process_numbers.h"
#include "capture/syscall/syscall.h"

enum rule_number {
    RULE_NONE,
#define RULE(number, symbol, ...) RULE_##number,
#include "ops/syscall_rules_gen.h"
    RULE_COUNT
};

_Static_assert(RULE_COUNT <= CAP_SYSCALL_CLONE, "rules and special values share a byte");

const struct wio_raw_rule cap_syscall_rules[] = {
    {0},
#define RULE(number_, symbol, ...)                                                                 \
    {.number = SYS_##number_, .call = WIO_CALL_##symbol, __VA_ARGS__},
#include "ops/syscall_rules_gen.h"
};

/* Our own wrappers; those that return do so with a long. */
enum own_number {
#define OWN(number, function) OWN_##number,
#include "ops/syscall_rules_gen.h"
    OWN_COUNT
};

_Static_assert(CAP_SYSCALL_TAILS + OWN_COUNT <= 256, "they, too");

cap_function *const cap_syscall_tails[] = {
#define OWN(number, function) (cap_function *)(function),
#include "ops/syscall_rules_gen.h"
};

const uint8_t cap_syscall_index[WIO_SYSCALL_NUMBERS] = {
#define RULE(number, symbol, ...) [SYS_##number] = RULE_##number,
#define OWN(number, function) [SYS_##number] = CAP_SYSCALL_TAILS + OWN_##number,
#define CLONE(number) [SYS_##number] = CAP_SYSCALL_CLONE,
#include "ops/syscall_rules_gen.h"
};
