/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/host_keys.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define NAME(name, unit, fallback) #name,
static const char *const known[] = {WIO_MODEL_PARAM_LIST(NAME) "direct_table",
                                    "sync_table",
                                    "append_table",
                                    "direct_nosync_table",
                                    "new_table",
                                    "clean_table",
                                    "dirty_table",
                                    "hit_table",
                                    "dev_table",
                                    "devices",
                                    "cpus",
                                    "net_bw",
                                    "net_lat",
                                    "meta",
                                    "store",
                                    "schema",
                                    "path"};

/* What whyio calibrate says besides. */
static const char *const information[] = {
    "spread",     "assumed", "better_with_root", "better_with_bytes", "kernel",  "mount",
    "filesystem", "device",  "o_direct",         "measured_at",       "trusted", "doubts"};

#define SHORT_BYTES 4 /* below it, words are alike by chance */
#define LONG_BYTES 6  /* from here on two letters may be wrong, else one */

static bool is_one_of(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* NULL: none that is not there. */
static const char *meant_by(const struct wio_host_json *json, const char *key)
{
    char text[WIO_HOST_KEY_MAX];
    size_t bytes = strlen(key);
    if (bytes < SHORT_BYTES || bytes >= sizeof(text)) {
        return NULL;
    }
    for (size_t i = 0; i <= bytes; i++) {
        text[i] = (char)tolower((unsigned char)key[i]);
    }
    unsigned most = bytes >= LONG_BYTES ? 2 : 1;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(known); i++) {
        if (wio_text_distance(text, known[i]) <= most && wio_host_find(json, known[i]) == NULL) {
            return known[i];
        }
    }
    return NULL;
}

static void note(const struct wio_host_json *json, const char *key, const char *meant,
                 struct wio_host_misspelt *out)
{
    *out = (struct wio_host_misspelt){.file = json->file, .meant = meant};
    for (size_t i = 0; key[i] != '\0' && i + 1 < sizeof(out->key); i++) {
        bool is_plain = key[i] >= ' ' && key[i] <= '~';
        out->key[i] = is_plain ? key[i] : '?';
    }
}

void wio_host_note_misspelt(const struct wio_host_json *json, struct wio_host_misspelt *first)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json->object, key, value)
    {
        bool is_ours = is_one_of(known, WIO_ARRAY_SIZE(known), key) ||
                       is_one_of(information, WIO_ARRAY_SIZE(information), key);
        const char *meant = is_ours || first->meant != NULL ? NULL : meant_by(json, key);
        if (meant != NULL) {
            note(json, key, meant, first);
        }
    }
}
