/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/program/filters.h"

#include <string.h>
#include <sys/prctl.h>

#include "base/fmt.h"
#include "capture/core/raw.h"

struct filters {
    uint64_t mode;  /* 0 = none, 2 = filters */
    uint64_t count; /* 0 with mode 2: the kernel (before 5.9) does not say */
    bool is_told;   /* by /proc */
    bool is_counted;
};

/* "NAME:\t2" */
static bool read_field(const char *line, const char *name, uint64_t *value_out)
{
    const size_t length = strlen(name);
    if (strncmp(line, name, length) != 0 || line[length] != ':') {
        return false;
    }
    const char *at = line + length + 1;
    at += strspn(at, " \t");
    return wio_scan_u64(&at, value_out);
}

static void read_line(const char *line, struct filters *filters)
{
    (void)read_field(line, "Seccomp", &filters->mode); /* stands before the other */
    filters->is_counted =
        read_field(line, "Seccomp_filters", &filters->count) || filters->is_counted;
}

/* Line by line: that of the groups, which stands before, may be of any length. The rest of the file
 * is of no interest. */
static struct filters read_filters(void)
{
    struct filters filters = {0};
    char piece[2048];
    char line[64];
    size_t used = 0;
    long got;
    long fd = raw_openat(AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
    filters.is_told = fd >= 0;
    while (fd >= 0 && !filters.is_counted && (got = raw_read((int)fd, piece, sizeof(piece))) > 0) {
        for (long i = 0; i < got; i++) {
            if (piece[i] == '\n') {
                line[used] = '\0';
                read_line(line, &filters);
                used = 0;
            } else if (used + 1 < sizeof(line)) {
                line[used++] = piece[i];
            }
        }
    }
    if (fd >= 0) {
        (void)raw_close((int)fd);
    }
    return filters;
}

/* Without /proc only whether there are any can be asked. The loader does not call prctl; a filter
 * that kills a program for that kills it for what recording calls, too. */
static bool are_asked_for(uint64_t known)
{
    long mode = known == 0 ? raw_call3(SYS_prctl, PR_GET_SECCOMP, 0, 0) : 0;
    return mode == 0 || mode == -EINVAL; /* a kernel without filters */
}

bool cap_filters_are_known(const char *known)
{
    uint64_t count = 0;
    if (known == NULL || !wio_scan_u64(&known, &count) || *known != '\0') {
        return true; /* "any": the recorder has some and cannot tell how many */
    }
    const struct filters filters = read_filters();
    if (!filters.is_told) {
        return are_asked_for(count);
    }
    return filters.mode == 0 || (filters.count != 0 && filters.count == count);
}
