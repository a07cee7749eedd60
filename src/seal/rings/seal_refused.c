/* SPDX-License-Identifier: Apache-2.0 */
/* What lies among the rings and is not the run's, and rings of other users that stay: R-RING-10.
 * All by the descriptors of the directories. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "seal/seal_internal.h"

enum wio_status wio_seal_refuse(struct wio_seal *seal, uint32_t dir, const char *name,
                                uint32_t owner)
{
    char user[WIO_USER_BYTES];
    const char *place = seal->is_hiding ? "" : seal->dirs[dir].path;
    void *array = seal->refused;
    WIO_TRY(
        wio_grow(&array, sizeof(*seal->refused), &seal->refused_capacity, seal->refused_count + 1));
    seal->refused = array;
    char *copy = strdup(name);
    if (copy == NULL) {
        return WIO_ERR_NOMEM;
    }
    seal->refused[seal->refused_count++] =
        (struct wio_seal_refused){.name = copy, .dir = dir, .owner = owner};
    wio_seal_user(owner, user);
    wio_seal_remark(seal, "'%s%s%s' of %s is no ring of this run: it is left out", place,
                    place[0] != '\0' ? "/" : "", name, user);
    return WIO_OK;
}

/* If the name is still that user's. A directory goes if it is empty. */
static void remove_one(int dir, const struct wio_seal_refused *refused)
{
    struct stat st;
    if (fstatat(dir, refused->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == refused->owner) {
        (void)unlinkat(dir, refused->name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
    }
}

void wio_seal_remove_refused(const struct wio_seal *seal)
{
    for (uint32_t i = 0; i < seal->refused_count; i++) {
        const struct wio_ring_dir *dir = &seal->dirs[seal->refused[i].dir];
        if (dir->is_own) {
            remove_one(dir->fd, &seal->refused[i]);
        }
    }
}

void wio_seal_refused_fini(struct wio_seal *seal)
{
    for (uint32_t i = 0; i < seal->refused_count; i++) {
        free(seal->refused[i].name);
    }
    free(seal->refused);
}

/* A file with a second name may lie in a place where its owner counts for more. */
void wio_seal_adopt(const struct wio_seal *seal, const struct wio_seal_ring *ring)
{
    struct stat st;
    const struct wio_ring_dir *dir = &seal->dirs[ring->dir];
    if (ring->owner == dir->owner || !dir->is_own) {
        return;
    }
    WIO_CLEANUP(wio_fd_cleanup) int fd = wio_io_open_regular(dir->fd, ring->name, O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == ring->owner && st.st_nlink == 1) {
        (void)!fchown(fd, dir->owner, (gid_t)-1);
    }
}
