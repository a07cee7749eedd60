/* SPDX-License-Identifier: Apache-2.0 */
#include "render_calibrate.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

static void put_value(struct wio_json *json, const char *name, const char *unit,
                      const struct wio_calibrate_value *value)
{
    wio_json_object_begin(json, name);
    wio_json_double(json, "value", value->value);
    wio_json_string(json, "unit", unit);
    wio_json_double(json, "spread", value->spread);
    wio_json_string(json, "how", wio_calibrate_how_name(value->how));
    wio_json_bool(json, "better_with_root", value->is_better_with_root);
    wio_json_bool(json, "better_with_bytes", value->is_better_with_bytes);
    wio_json_object_end(json);
}

static void put_text(struct wio_json *json, const char *key, const char *text)
{
    if (text[0] == '\0') {
        wio_json_null(json, key);
    } else {
        wio_json_string(json, key, text);
    }
}

static void put_table(struct wio_json *json, const struct wio_calibration *calibration,
                      enum wio_calibrate_table which)
{
    const struct wio_model_table *table = wio_calibration_table(calibration, which);
    wio_json_array_begin(json, wio_calibrate_table_name(which));
    for (size_t i = 0; i < table->count; i++) {
        wio_json_object_begin(json, NULL);
        wio_json_double(json, "bytes", table->points[i].bytes);
        wio_json_double(json, "seconds", table->points[i].seconds);
        wio_json_double(json, "spread", calibration->table_spread[which][i]);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

void render_calibrate_json(const struct wio_calibration *calibration, const char *output, FILE *out)
{
    struct wio_json json;
    wio_json_init(&json, out);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.calibrate/1");
    wio_json_string(&json, "output", output);
    put_text(&json, "filesystem", calibration->filesystem);
    put_text(&json, "mount", calibration->mount);
    put_text(&json, "device", calibration->device);
    wio_json_bool(&json, "o_direct", calibration->is_direct);
    wio_json_bool(&json, "trusted", calibration->doubt_count == 0);
    wio_json_array_begin(&json, "doubts");
    for (size_t i = 0; i < calibration->doubt_count && i < WIO_CALIBRATE_DOUBTS; i++) {
        wio_json_string(&json, NULL, calibration->doubts[i]);
    }
    wio_json_array_end(&json);
    wio_json_double(&json, "elapsed_s", calibration->elapsed_s);
    wio_json_u64(&json, "written_bytes", calibration->written_bytes);
    wio_json_object_begin(&json, "parameters");
    for (size_t i = 0; i < WIO_PARAM_COUNT; i++) {
        enum wio_param param = (enum wio_param)i;
        put_value(&json, wio_param_name(param), wio_param_unit(param), &calibration->params[i]);
    }
    wio_json_object_end(&json);
    wio_json_object_begin(&json, "tables");
    for (int i = 0; i < WIO_CALIBRATE_TABLE_COUNT; i++) {
        put_table(&json, calibration, (enum wio_calibrate_table)i);
    }
    wio_json_object_end(&json);
    wio_json_object_begin(&json, "meta");
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        put_value(&json, wio_rig_meta_name((enum wio_rig_meta)i), "s", &calibration->meta[i]);
    }
    wio_json_object_end(&json);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

static const char *format_value(char text[WIO_TEXT_MAX], const char *unit, double value)
{
    if (isnan(value)) {
        return "-";
    }
    if (strcmp(unit, "bytes/s") == 0) {
        return wio_format_rate(text, value);
    }
    if (strcmp(unit, "bytes") == 0) {
        return wio_format_size(text, (uint64_t)value);
    }
    if (strcmp(unit, "s") == 0) {
        return wio_format_time(text, (uint64_t)(value * 1e9 + 0.5));
    }
    (void)snprintf(text, WIO_TEXT_MAX, "%g %s", value, unit);
    return text;
}

static const char *doubt_of(const struct wio_calibrate_value *value)
{
    if (value->is_better_with_bytes) {
        return ", better with more --max-bytes or free space";
    }
    return value->is_better_with_root ? ", better with root" : "";
}

static void value_line(FILE *out, const char *name, const char *unit,
                       const struct wio_calibrate_value *value)
{
    char text[WIO_TEXT_MAX];
    char spread[WIO_TEXT_MAX] = "";
    if (!isnan(value->spread)) {
        (void)snprintf(spread, sizeof(spread), "%.0f %%", value->spread * 100);
    }
    (void)fprintf(out, "%-16s  %13s  %7s  %s%s\n", name, format_value(text, unit, value->value),
                  spread, wio_calibrate_how_name(value->how), doubt_of(value));
}

static void point_cell(FILE *out, const struct wio_calibration *calibration,
                       enum wio_calibrate_table which, size_t i)
{
    const struct wio_model_table *table = wio_calibration_table(calibration, which);
    char text[WIO_TEXT_MAX];
    char cell[2 * WIO_TEXT_MAX] = "";
    double spread = calibration->table_spread[which][i];
    if (i < table->count && !isnan(spread)) {
        (void)snprintf(cell, sizeof(cell), "%s +- %2.0f %%",
                       format_value(text, "s", table->points[i].seconds), spread * 100);
    }
    (void)fprintf(out, "  %18s", cell);
}

#define TABLE_COLUMNS 4

_Static_assert(WIO_CALIBRATE_SYNC == WIO_CALIBRATE_DIRECT + 1 &&
                   WIO_CALIBRATE_APPEND == WIO_CALIBRATE_DIRECT + 2 &&
                   WIO_CALIBRATE_DIRECT_NOSYNC == WIO_CALIBRATE_DIRECT + 3,
               "the columns of one write, in this order");
_Static_assert(WIO_CALIBRATE_CLEAN == WIO_CALIBRATE_NEW + 1 &&
                   WIO_CALIBRATE_DIRTY == WIO_CALIBRATE_NEW + 2 &&
                   WIO_CALIBRATE_HIT == WIO_CALIBRATE_NEW + 3,
               "the columns in memory, in this order");

/* The tables [first, first + TABLE_COLUMNS): what is measured of one size of `sizes`. */
static void table_lines(const struct wio_calibration *calibration, enum wio_calibrate_table sizes,
                        enum wio_calibrate_table first, FILE *out)
{
    const struct wio_model_table *table = wio_calibration_table(calibration, sizes);
    char text[WIO_TEXT_MAX];
    for (size_t i = 0; i < table->count && !isnan(calibration->table_spread[sizes][i]); i++) {
        (void)fprintf(out, "%-10s", format_value(text, "bytes", table->points[i].bytes));
        for (int column = 0; column < TABLE_COLUMNS; column++) {
            point_cell(out, calibration, (enum wio_calibrate_table)((int)first + column), i);
        }
        (void)fprintf(out, "\n");
    }
}

/* By size; how single writes differ is what a prediction of one of them cannot know. */
static void all_tables(const struct wio_calibration *calibration, FILE *out)
{
    static const char line[] = "\n%-10s  %18s  %18s  %18s  %18s\n";
    (void)fprintf(out, line, "one write", calibration->is_direct ? "direct, sync" : "sync instead",
                  "sync", "sync, appending", "direct");
    table_lines(calibration, WIO_CALIBRATE_SYNC, WIO_CALIBRATE_DIRECT, out);
    if (calibration->new_table.count > 0) {
        (void)fprintf(out, line, "in memory", "new", "clean", "dirty", "read");
        table_lines(calibration, WIO_CALIBRATE_NEW, WIO_CALIBRATE_NEW, out);
    }
}

/* Something else was using the machine, or the machine is like that. */
static void doubt_lines(const struct wio_calibration *calibration, FILE *out)
{
    if (calibration->doubt_count > 0) {
        (void)fprintf(out, "not trusted: measure again while the machine is idle\n");
    }
    for (size_t i = 0; i < calibration->doubt_count && i < WIO_CALIBRATE_DOUBTS; i++) {
        (void)fprintf(out, "  %s\n", calibration->doubts[i]);
    }
}

void render_calibrate_text(const struct wio_calibration *calibration, const char *output, FILE *out)
{
    char bytes[WIO_TEXT_MAX];
    const char *device = calibration->device[0] != '\0' ? calibration->device : "no device";
    (void)fprintf(out, "%s on %s, mounted at %s; %s\n\n", calibration->filesystem, device,
                  calibration->mount, calibration->kernel);
    (void)fprintf(out, "%-16s  %13s  %7s\n", "parameter", "value", "spread");
    for (size_t i = 0; i < WIO_PARAM_COUNT; i++) {
        enum wio_param param = (enum wio_param)i;
        value_line(out, wio_param_name(param), wio_param_unit(param), &calibration->params[i]);
    }
    all_tables(calibration, out);
    (void)fprintf(out, "\n%-16s  %13s  %7s\n", "metadata", "one call", "spread");
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        value_line(out, wio_rig_meta_name((enum wio_rig_meta)i), "s", &calibration->meta[i]);
    }
    (void)fprintf(out, "\n%s: %.1f s, %s written%s\n", output, calibration->elapsed_s,
                  wio_format_size(bytes, calibration->written_bytes),
                  calibration->is_direct ? "" : "; no O_DIRECT there, O_SYNC stood in for it");
    doubt_lines(calibration, out);
}
