/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "model/model_internal.h"

double wio_model_table_at(const struct wio_model_table *table, double bytes, double bw_dev)
{
    const struct wio_model_point *points = table->points;
    const struct wio_model_point *last = &points[table->count - 1];
    size_t i = 1;
    if (bytes <= points[0].bytes) {
        return points[0].seconds;
    }
    if (bytes > last->bytes && (table->count == 1 || last->seconds <= last[-1].seconds)) {
        return last->seconds + (bytes - last->bytes) / bw_dev;
    }
    while (i < table->count - 1 && points[i].bytes < bytes) {
        i++;
    }
    double slope =
        (points[i].seconds - points[i - 1].seconds) / (points[i].bytes - points[i - 1].bytes);
    return fmax(points[i - 1].seconds + slope * (bytes - points[i - 1].bytes), 0);
}

static enum wio_status refuse(struct wio_error *err, const char *name, const char *what)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "parameter '%s' %s", name,
                         what);
}

enum wio_status wio_model_table_check(const struct wio_model_table *table, const char *name,
                                      struct wio_error *err)
{
    if (table->count > WIO_MODEL_TABLE_MAX) {
        return refuse(err, name, "has too many points");
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct wio_model_point *point = &table->points[i];
        if (!isfinite(point->bytes) || !isfinite(point->seconds) || point->bytes < 0 ||
            point->seconds < 0) {
            return refuse(err, name, "has a point that is negative or not finite");
        }
        if (point->seconds > WIO_MODEL_DELAY_MAX_S) {
            return refuse(err, name, "has a point of more than 1e+09 s");
        }
        if (i > 0 && point->bytes <= table->points[i - 1].bytes) {
            return refuse(err, name, "must have rising sizes");
        }
    }
    return WIO_OK;
}
