/* SPDX-License-Identifier: Apache-2.0 */
/* Names of segment files, "data/XX/FILE.SEGMENT": 16 and 3 hexadecimal digits in lower case, XX the
 * file's last two (R-DATA-1). */
#ifndef WIO_STORE_STORAGE_SEGMENT_NAME_H
#define WIO_STORE_STORAGE_SEGMENT_NAME_H

#include "store/storage/storage.h"

enum {
    SEGMENT_DIRS = 256,
    SEGMENT_NAME_BYTES = 40,
    SEGMENT_LIMIT = 4096 /* of segments of a file */
};

void segment_name(char name[SEGMENT_NAME_BYTES], struct wio_segment_id id);
void segment_dir_name(char name[SEGMENT_NAME_BYTES], unsigned dir);
/* `name` without its directory; false where it is no segment file of directory `dir`. */
bool segment_name_parse(const char *name, unsigned dir, struct wio_segment_id *id_out);

static inline unsigned segment_dir(uint64_t file)
{
    return (unsigned)(file % SEGMENT_DIRS);
}

#endif
