/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "explain/findings/finding.h"

struct name {
    const char *name;
    size_t offset;
};

static const struct name names[] = {
#define WIO_THRESHOLD(name, value, unit, meaning) {#name, offsetof(struct wio_thresholds, name)},
#include "explain/findings/thresholds.def"
#undef WIO_THRESHOLD
};

struct wio_thresholds wio_thresholds_default(void)
{
    return (struct wio_thresholds){
#define WIO_THRESHOLD(name, value, unit, meaning) .name = (value),
#include "explain/findings/thresholds.def"
#undef WIO_THRESHOLD
    };
}

static enum wio_status set(struct wio_thresholds *thresholds, const char *name, double value)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(names); i++) {
        if (strcmp(names[i].name, name) == 0) {
            memcpy((char *)thresholds + names[i].offset, &value, sizeof(value));
            return WIO_OK;
        }
    }
    return WIO_ERR_USAGE;
}

static void file_cleanup(FILE **file)
{
    if (*file != NULL) {
        (void)fclose(*file);
    }
}

static enum wio_status read_line(char *line, const char *path, unsigned number,
                                 struct wio_thresholds *thresholds, struct wio_error *err)
{
    char *save = NULL;
    char *name;
    char *text;
    double value;

    line[strcspn(line, "#\n")] = '\0';
    name = strtok_r(line, " \t=", &save);
    if (name == NULL) {
        return WIO_OK;
    }
    text = strtok_r(NULL, " \t=", &save);
    if (text == NULL || wio_parse_double(text, &value) != WIO_OK || !(value >= 0)) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                             "line %u: expected 'name number' behind '%s'", number, name);
    }
    if (set(thresholds, name, value) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                             "line %u: there is no threshold '%s'", number, name);
    }
    return WIO_OK;
}

enum wio_status wio_thresholds_read(const char *path, struct wio_thresholds *thresholds,
                                    struct wio_error *err)
{
    WIO_CLEANUP(file_cleanup) FILE *file = fopen(path, "re");
    char line[256];

    if (file == NULL) {
        return wio_error_sys(err, path, "cannot read the thresholds");
    }
    for (unsigned number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        WIO_TRY(read_line(line, path, number, thresholds, err));
    }
    return ferror(file) ? wio_error_sys(err, path, "cannot read the thresholds") : WIO_OK;
}
