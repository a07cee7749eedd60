/* SPDX-License-Identifier: Apache-2.0 */
#include "store/log/redo_chain.h"

#include "base/cleanup.h"
#include "base/memory.h"

/* R-LOG-2: a segment continues the one before it. */
static enum wio_status check_link(const struct redo_segment *before,
                                  const struct redo_segment *segment, const char *name,
                                  const struct redo_position *position, struct wio_error *err)
{
    if (segment->seq == before->seq + 1 && segment->first_lsn == position->next_lsn &&
        segment->epoch == position->epoch) {
        return WIO_OK;
    }
    return wio_error_set(err, WIO_ERR_FORMAT, name, 0,
                         "expected segment %llu with record %llu of epoch %u first, found segment "
                         "%llu with record %llu of epoch %u",
                         (unsigned long long)before->seq + 1,
                         (unsigned long long)position->next_lsn, position->epoch,
                         (unsigned long long)segment->seq, (unsigned long long)segment->first_lsn,
                         segment->epoch);
}

/* NOLINTNEXTLINE(readability-function-size): a seam, a call back with its context, and an error */
static enum wio_status scan_segment(const struct redo_segments *segments, uint32_t index,
                                    struct wio_blob *bytes, struct redo_position *position,
                                    uint64_t from, wio_log_visit *visit, void *context,
                                    struct wio_error *err)
{
    const struct redo_segment *segment = &segments->live[index];
    char name[REDO_NAME_BYTES];
    size_t got = 0;
    redo_segment_name(name, segment->slot);
    WIO_TRY(
        segments->io->ops->file_read(segment->file, 0, bytes->data, segments->bytes, &got, err));
    return redo_scan_bytes(bytes->data, got, name, position, from, visit, context, err);
}

enum wio_status redo_chain_scan(const struct redo_segments *segments, uint64_t from,
                                wio_log_visit *visit, void *context,
                                struct redo_position *position_out, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob bytes = {0};
    uint32_t first = redo_segments_find(segments, from);
    if (first == WIO_NO_INDEX) {
        return wio_error_set(err, WIO_ERR_FORMAT, "log", WIO_ERROR_NO_OFFSET,
                             "expected a segment with record %llu, found none",
                             (unsigned long long)from);
    }
    if (wio_blob_reserve(&bytes, segments->bytes) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, "log", WIO_ERROR_NO_OFFSET, "out of memory");
    }
    *position_out = (struct redo_position){segments->live[first].first_lsn,
                                           segments->live[first].epoch, REDO_BLOCK};
    for (uint32_t i = first; i < segments->live_count; i++) {
        char name[REDO_NAME_BYTES];
        redo_segment_name(name, segments->live[i].slot);
        if (i > first) {
            WIO_TRY(
                check_link(&segments->live[i - 1], &segments->live[i], name, position_out, err));
        }
        WIO_TRY(scan_segment(segments, i, &bytes, position_out, from, visit, context, err));
    }
    if (position_out->next_lsn < from) {
        return wio_error_set(err, WIO_ERR_FORMAT, "log", WIO_ERROR_NO_OFFSET,
                             "expected records up to %llu, which a checkpoint followed; found the "
                             "last one at %llu",
                             (unsigned long long)from - 1,
                             (unsigned long long)position_out->next_lsn - 1);
    }
    return WIO_OK;
}
