/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of transactions: (application, files, place). An application is (job, executable), a
 * place a source line or a return address (the basic block of the classic analysis). Memory grows
 * with the sources that a trace names, not with its length.
 */
#ifndef WIO_EXPLAIN_ABORTS_SOURCES_H
#define WIO_EXPLAIN_ABORTS_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/map.h"
#include "trace/txn/txn.h"

#define WIO_NO_SOURCE UINT32_MAX
/* A source names so many files at most. */
#define WIO_SOURCE_FILES 8u

struct wio_abort_source {
    uint32_t application; /* id of a text: 0 is unknown */
    uint32_t place;
    uint32_t file_count; /* of files[]; rising ids, each once */
    bool has_more_files;
    bool is_line; /* of several transactions: files are no part of what it is */
    uint64_t files[WIO_SOURCE_FILES];
};

/* Zero-initialise. */
struct wio_abort_sources {
    struct wio_abort_source *rows;
    uint32_t count;
    uint32_t capacity;
    struct wio_strtab index; /* the bytes of a row -> its index + 1 */
    struct wio_strtab applications;
    struct wio_strtab places;
    struct wio_abort_place *origins; /* by id of the trace's origins */
    uint32_t origin_count;
};

/* What an origin of the trace is here. */
struct wio_abort_place {
    uint32_t application;
    uint32_t place;
};

void wio_abort_sources_fini(struct wio_abort_sources *sources);
/* Take over the origins of a cursor: once, before the first row. */
WIO_MUST_CHECK enum wio_status wio_abort_sources_begin(struct wio_abort_sources *sources,
                                                       const struct wio_txn_cursor *cursor);
struct wio_abort_place wio_abort_sources_place(const struct wio_abort_sources *sources,
                                               uint32_t origin);
/* Add a file to the source's set. */
void wio_abort_source_add_file(struct wio_abort_source *source, uint64_t file);
/* Index of a row that is equal. */
WIO_MUST_CHECK enum wio_status wio_abort_sources_find(struct wio_abort_sources *sources,
                                                      const struct wio_abort_source *source,
                                                      uint32_t *index_out);
/* "job exe"; "?" where nothing is known. */
const char *wio_abort_sources_application(const struct wio_abort_sources *sources, uint32_t id);
const char *wio_abort_sources_place_text(const struct wio_abort_sources *sources, uint32_t id);

#endif
