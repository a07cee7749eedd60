/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers that libraries and languages have in front of system calls, told by whose code made
 * the request. */
#include <stdbool.h>
#include <string.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"
#include "ops/code_owner.h"

#define MAX_FRAMES 32u

static const struct wio_library_buffer buffers[] = {
    {"libstdc++", "C++ streams", "8 KiB", "rdbuf()->pubsetbuf before open, and no endl between"},
    {"libc++", "C++ streams", "4 KiB", "rdbuf()->pubsetbuf before open, and no endl between"},
    {"Python", "Python", "8 KiB or a block", "open(.., buffering=1 << 20), and no flush between"},
    {"Java", "Java", "8 KiB, or none",
     "new BufferedOutputStream or BufferedInputStream(.., 1 << 20), and no flush between"},
};

static const struct wio_library_buffer *buffer_of(const char *owner)
{
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        if (strcmp(buffers[i].owner, owner) == 0) {
            return &buffers[i];
        }
    }
    return NULL;
}

/* libc, and code of no file, stand between a library and the system. */
static bool is_between(struct wio_code_owner owner)
{
    return owner.kind == WIO_CODE_LIBRARY &&
           (owner.name[0] == '\0' || strcmp(owner.name, "libc") == 0);
}

/* Name of the library or language whose code made the requests of the group's lead; NULL: none. */
static const char *owner_of(const struct wio_finding_input *input,
                            const struct wio_finding_group *group)
{
    const struct wio_places *places = &input->steps->places;
    const uint32_t place = wio_finding_site(input, &input->steps->steps[group->lead])->place;
    struct wio_frame frames[MAX_FRAMES];
    if (place == 0) {
        return NULL;
    }
    uint32_t count = wio_trace_source(input->trace, places->sources[place], frames, MAX_FRAMES);
    count = count < MAX_FRAMES ? count : MAX_FRAMES;
    for (uint32_t i = 0; i < count; i++) {
        const struct wio_code_owner owner = wio_code_owner(frames[i].module);
        if (!is_between(owner)) {
            return owner.name;
        }
    }
    return NULL;
}

const struct wio_library_buffer *wio_finding_buffer(const struct wio_finding_input *input,
                                                    const struct wio_finding_group *group)
{
    const char *owner = owner_of(input, group);

    return owner != NULL ? buffer_of(owner) : NULL;
}

const char *wio_finding_library_change(const struct wio_finding_input *input,
                                       const struct wio_finding_group *group)
{
    const char *owner = owner_of(input, group);
    const unsigned cls = wio_finding_class(input, &input->steps->steps[group->lead]);

    /* each transaction makes, writes, flushes and removes a journal */
    if (owner != NULL && strcmp(owner, "SQLite") == 0 && cls != WIO_CLASS_READ) {
        return "many statements in one transaction (BEGIN .. COMMIT), or PRAGMA journal_mode=WAL";
    }
    bool is_small = group->pattern.small > 0 && 2 * group->pattern.small >= group->count;
    return owner != NULL && strcmp(owner, "HDF5") == 0 && is_small
               ? "select more of the data set at a time, in larger chunks (H5Pset_chunk, h5repack)"
               : NULL;
}
