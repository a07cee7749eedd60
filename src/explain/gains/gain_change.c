/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/gains/gain_change.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* What is behind "--name=" (behind "--name": ""), or NULL. */
static const char *value_of(const char *options, const char *name)
{
    size_t length = strlen(name);

    if (strncmp(options, "--", 2) != 0 || strncmp(options + 2, name, length) != 0) {
        return NULL;
    }
    const char *end = options + 2 + length;
    return *end == '=' ? end + 1 : *end == '\0' ? end : NULL;
}

static bool read_setting(const char *options, struct wio_predict_whatif *whatif)
{
    const char *sync = value_of(options, "sync");
    const char *bf = value_of(options, "bf");
    uint64_t bytes;

    if (sync != NULL) {
        whatif->sync = strcmp(sync, "on") == 0 ? WIO_PREDICT_ON : WIO_PREDICT_OFF;
        return strcmp(sync, "on") == 0 || strcmp(sync, "off") == 0;
    }
    if (bf == NULL || wio_parse_size(bf, &bytes) != WIO_OK || bytes == 0) {
        return false;
    }
    whatif->bf = (double)bytes;
    return true;
}

/* "on" and nothing are no amount. */
static bool read_amount(const char *value, uint64_t *amount)
{
    *amount = 0;
    if (value[0] == '\0' || strcmp(value, "on") == 0) {
        return true;
    }
    return wio_parse_size(value, amount) == WIO_OK && *amount > 0;
}

static bool needs_amount(enum wio_change_kind kind)
{
    return kind == WIO_CHANGE_FSYNC_EVERY || kind == WIO_CHANGE_AGGREGATE ||
           kind == WIO_CHANGE_SORT || kind == WIO_CHANGE_READ_MAPS;
}

static bool is_right(enum wio_change_kind kind, uint64_t amount)
{
    if (kind == WIO_CHANGE_MERGE_FILES) {
        return true; /* with one or without */
    }
    return needs_amount(kind) == (amount > 0);
}

bool wio_gain_change_read(const char *options, struct wio_gain_change *change_out)
{
    struct wio_change *change = &change_out->change;

    *change_out = (struct wio_gain_change){.whatif = wio_predict_params_default().whatif};
    for (unsigned kind = 0; kind < WIO_CHANGE_COUNT; kind++) {
        const char *value = value_of(options, wio_change_name((enum wio_change_kind)kind));
        if (value != NULL) {
            change->kind = (enum wio_change_kind)kind;
            return read_amount(value, &change->amount) && is_right(change->kind, change->amount);
        }
    }
    change_out->is_setting = true;
    return read_setting(options, &change_out->whatif);
}

void wio_gain_change_set(const struct wio_gain_change *change, struct wio_predict_whatif *whatif)
{
    if (change->whatif.sync != WIO_PREDICT_AS_IS) {
        whatif->sync = change->whatif.sync;
    }
    if (!isnan(change->whatif.bf)) {
        whatif->bf = change->whatif.bf;
    }
}

void wio_gain_change_remove(double kept, struct wio_gain_change *change_out)
{
    *change_out = (struct wio_gain_change){
        .whatif = wio_predict_params_default().whatif,
        .change = {.kind = WIO_CHANGE_REMOVE, .amount = (uint64_t)(1e6 * kept + 0.5)}};
}
