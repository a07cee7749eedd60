/* SPDX-License-Identifier: Apache-2.0 */
#include "report/explanation/layouts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/text.h"
#include "report/line.h"

#define LAYOUTS_SHOWN 3u

const char *wio_report_layout_of(const struct wio_trace *trace, const struct wio_file_info *file)
{
    return file->type == WIO_FILE_REGULAR ? wio_trace_string(trace, file->target, NULL) : "";
}

struct layout {
    const char *text;
    uint64_t files;
};

struct layouts {
    struct layout *items;
    uint32_t count;
    uint32_t capacity;
};

static void layouts_fini(struct layouts *layouts)
{
    free(layouts->items);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct layout *)a)->text, ((const struct layout *)b)->text);
}

static int by_files(const void *a, const void *b)
{
    const struct layout *x = a;
    const struct layout *y = b;

    return x->files != y->files ? (x->files > y->files ? -1 : 1) : strcmp(x->text, y->text);
}

/* Equal ones, which are neighbours, become one. */
static void join_equal(struct layouts *layouts)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < layouts->count; i++) {
        if (count > 0 && strcmp(layouts->items[count - 1].text, layouts->items[i].text) == 0) {
            layouts->items[count - 1].files++;
        } else {
            layouts->items[count++] = layouts->items[i];
        }
    }
    layouts->count = count;
}

/* None where memory is short. */
static void find(const struct wio_trace *trace, struct layouts *layouts)
{
    for (uint32_t i = 0; i < wio_trace_file_count(trace); i++) {
        const char *text = wio_report_layout_of(trace, wio_trace_file(trace, i));
        void *array = layouts->items;
        if (text[0] == '\0' || wio_make_room(&array, sizeof(*layouts->items), &layouts->capacity,
                                             layouts->count + 1) != WIO_OK) {
            continue;
        }
        layouts->items = array;
        layouts->items[layouts->count++] = (struct layout){text, 1};
    }
    if (layouts->count > 0) {
        qsort(layouts->items, layouts->count, sizeof(*layouts->items), by_text);
        join_equal(layouts);
        qsort(layouts->items, layouts->count, sizeof(*layouts->items), by_files);
    }
}

void wio_report_layouts_json(struct wio_json *json, const struct wio_trace *trace)
{
    WIO_CLEANUP(layouts_fini) struct layouts layouts = {0};

    find(trace, &layouts);
    wio_json_array_begin(json, "layouts");
    for (uint32_t i = 0; i < layouts.count; i++) {
        wio_json_object_begin(json, NULL);
        wio_json_string(json, "layout", layouts.items[i].text);
        wio_json_u64(json, "files", layouts.items[i].files);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

void wio_report_layouts_text(const struct wio_trace *trace, FILE *out)
{
    WIO_CLEANUP(layouts_fini) struct layouts layouts = {0};
    char text[WIO_TEXT_MAX];

    find(trace, &layouts);
    for (uint32_t i = 0; i < layouts.count && i < LAYOUTS_SHOWN; i++) {
        const struct layout *layout = &layouts.items[i];
        fprintf(out, "%14s %s of Lustre: ", wio_format_count(text, layout->files),
                layout->files == 1 ? "file" : "files");
        wio_print_plain(out, layout->text);
        fputc('\n', out);
    }
    if (layouts.count > LAYOUTS_SHOWN) {
        fprintf(out, "%14s more layouts\n", wio_format_count(text, layouts.count - LAYOUTS_SHOWN));
    }
}
