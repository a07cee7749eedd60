/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/cgroups.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"

#define TEXT_MOST (1u << 20)

/* A line of /proc/PID/cgroup: "NUMBER:CONTROLLERS:GROUP", without controllers in version 2. */
struct line {
    const char *controllers;
    size_t controllers_length;
    const char *group;
    size_t group_length;
};

bool wio_cgroup_read(const struct wio_cgroup *group, const char *name, struct wio_blob *text)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s%.*s/%s", group->root, (int)group->length, group->group,
                     name);
    return n >= 0 && (size_t)n < sizeof(path) &&
           wio_io_read_file(path, TEXT_MOST, text, NULL) == WIO_OK;
}

static bool split(const char *text, size_t length, struct line *line_out)
{
    const char *names = memchr(text, ':', length);
    const char *path =
        names == NULL ? NULL : memchr(names + 1, ':', length - (size_t)(names + 1 - text));
    if (path == NULL) {
        return false;
    }
    const size_t path_length = length - (size_t)(path + 1 - text);
    *line_out = (struct line){.controllers = names + 1,
                              .controllers_length = (size_t)(path - names) - 1,
                              .group = path + 1,
                              .group_length = path_length == 1 ? 0 : path_length}; /* "/" */
    return true;
}

/* Is "memory" among "cpu,memory"? */
static bool has(const struct line *line, const char *controller)
{
    const char *names = line->controllers;
    const char *end = names + line->controllers_length;
    while (names < end) {
        size_t one = strcspn(names, ",:");
        if (one == strlen(controller) && memcmp(names, controller, one) == 0) {
            return true;
        }
        names += one + 1;
    }
    return false;
}

static void go_up(struct wio_cgroup group, wio_cgroup_fn *each, void *context)
{
    while (each(context, &group) && group.length > 0) {
        while (group.length > 0 && group.group[--group.length] != '/') {
        }
    }
}

static void see_line(const struct line *line, const char *root, const char *controller,
                     wio_cgroup_fn *each, void *context)
{
    char below[PATH_MAX];
    struct wio_cgroup group = {.group = line->group, .length = line->group_length};
    const bool is_first = line->controllers_length > 0;
    if (is_first && !has(line, controller)) {
        return;
    }
    if (!is_first) {
        group.root = root;
        group.version = 2;
        go_up(group, each, context);
    }
    int n = snprintf(below, sizeof(below), "%s/%s", root, is_first ? controller : "unified");
    if (n >= 0 && (size_t)n < sizeof(below)) {
        group.root = below;
        group.version = is_first ? 1 : 2;
        go_up(group, each, context);
    }
}

void wio_cgroups_each(const char *cgroups, const char *root, const char *controller,
                      wio_cgroup_fn *each, void *context)
{
    while (*cgroups != '\0') {
        struct line line;
        size_t length = strcspn(cgroups, "\n");
        if (split(cgroups, length, &line)) {
            see_line(&line, root, controller, each, context);
        }
        cgroups += length + (cgroups[length] == '\n');
    }
}
