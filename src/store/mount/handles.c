/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mount/handles.h"

#include <stdlib.h>

struct mount_handle *mount_handles_add(struct mount_handles *files, struct wio_store_file *file)
{
    struct wio_store_layout layout = {.struct_size = sizeof(layout)};
    struct mount_handle *open = calloc(1, sizeof(*open));
    if (open == NULL) {
        wio_store_file_close(file);
        return NULL;
    }
    wio_store_file_layout(file, &layout);
    open->file = file;
    open->number = layout.file;
    (void)pthread_mutex_lock(&files->lock);
    open->next = files->first;
    if (files->first != NULL) {
        files->first->before = open;
    }
    files->first = open;
    (void)pthread_mutex_unlock(&files->lock);
    return open;
}

void mount_handles_remove(struct mount_handles *files, struct mount_handle *open)
{
    (void)pthread_mutex_lock(&files->lock);
    if (open->next != NULL) {
        open->next->before = open->before;
    }
    if (open->before != NULL) {
        open->before->next = open->next;
    } else {
        files->first = open->next;
    }
    (void)pthread_mutex_unlock(&files->lock);
    wio_store_file_close(open->file);
    free(open);
}

bool mount_handles_clean(struct mount_handles *files, uint64_t number)
{
    bool was_dirty = false;
    (void)pthread_mutex_lock(&files->lock);
    for (struct mount_handle *open = files->first; open != NULL; open = open->next) {
        if (open->number == number && atomic_exchange(&open->is_dirty, false)) {
            was_dirty = true;
        }
    }
    (void)pthread_mutex_unlock(&files->lock);
    return was_dirty;
}
