/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be sealed and cleared. A trace directory may come out of an archive, or belong to
 * another user: only what this user's recorder made is written to and taken away. This is the one
 * place that decides; seal/rings/raw.h opens directories, seal/seal.h reads rings by its answers.
 * FORMAT.md R-RING-8. Thread safe: no state.
 */
#ifndef WIO_TRACE_FORMAT_TRUST_H
#define WIO_TRACE_FORMAT_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

#include <whyio/status.h>

enum {
    WIO_RINGS_MODE = 0700,       /* of a directory of rings */
    WIO_OPEN_RINGS_MODE = 01733, /* of root's: all may make rings, see or remove no other's */
};

/* In a directory of rings that lies elsewhere: which DIR/raw leads to it. */
#define WIO_RINGS_OF "rings-of"

/* A directory or file of the effective user of this process. All others are only read. */
bool wio_trust_is_own(const struct stat *st);

/*
 * May the directory `rings` be reached through a link in the directory `raw`? Link and directory
 * belong to this user, the directory has mode WIO_RINGS_MODE (root's: or WIO_OPEN_RINGS_MODE), and
 * its file WIO_RINGS_OF, of this user, names `raw`: by
 * device and inode, or by inode and path where the device has got another number. A copy of a
 * trace, or one out of an archive, has another inode.
 */
bool wio_trust_link(int raw, const char *raw_path, const struct stat *link, int rings);

/* Write WIO_RINGS_OF into the fresh directory `rings`, to which a link in `raw` leads. */
WIO_MUST_CHECK enum wio_status wio_trust_bind(int raw, const char *raw_path, int rings,
                                              struct wio_error *err);

/*
 * Does the owner alone make a ring, or a mark, in a directory the run's: the directory's owner,
 * root, or this user? Rings of other users are judged by what the run's own rings say of them, see
 * seal/rings/seal_owner.c (R-RING-10).
 */
bool wio_trust_ring(uid_t dir_owner, uid_t ring_owner);

#endif
