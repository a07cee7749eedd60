/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chosen fields of operations, as JSON objects or as lines of CSV (RFC 4180: quoted where needed,
 * what is null is empty, lists joined by blanks). Private to the room, but for the list itself.
 */
#ifndef WIO_REPORT_DUMP_FIELDS_H
#define WIO_REPORT_DUMP_FIELDS_H

#include <whyio/event.h>
#include <whyio/status.h>

#include "report/line.h"
#include "report/rendered.h"

#define WIO_DUMP_FIELDS_MOST 64u

/* The names of flags that a dump shows; `names_out` has room for 8. Gives their number. */
unsigned wio_dump_flags(unsigned flags, const char **names_out);

/* In the order of the lines. count 0: those of the command's own choice. */
struct wio_dump_fields {
    uint8_t fields[WIO_DUMP_FIELDS_MOST];
    unsigned count;
};

/* Names with commas between; WIO_ERR_USAGE says which one is no field, or there twice. */
WIO_MUST_CHECK enum wio_status
wio_dump_fields_parse(const char *text, struct wio_dump_fields *fields_out, struct wio_error *err);
/* What CSV has where none were chosen. */
void wio_dump_fields_of_csv(struct wio_dump_fields *fields_out);

void wio_dump_fields_put_json(const struct wio_dump_fields *fields, struct wio_line *line,
                              struct wio_rendered *rendered, const struct wio_event *event);
void wio_dump_fields_put_heading(const struct wio_dump_fields *fields, struct wio_line *line);
void wio_dump_fields_put_csv(const struct wio_dump_fields *fields, struct wio_line *line,
                             struct wio_rendered *rendered, const struct wio_event *event);

#endif
