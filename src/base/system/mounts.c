/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line (proc_pid_mountinfo(5)), blanks in names are written \040:
 *
 *     36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *     id parent device root place   options   tags ..  - type source options
 */
#include "base/system/mounts.h"

#include <stdint.h>
#include <string.h>

#include "base/fmt.h"

/* The next word; *text moves behind it. */
static size_t next_word(const char **text, const char **word_out)
{
    *text += strspn(*text, " ");
    size_t length = strcspn(*text, " \n");
    *word_out = *text;
    *text += length;
    return length;
}

/* With \ooo as the character that it stands for. */
static void copy_word(const char *word, size_t length, char out[WIO_MOUNT_TEXT])
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < WIO_MOUNT_TEXT; i++) {
        unsigned value = (unsigned char)word[i];
        if (word[i] == '\\' && length - i > 3) {
            value = ((unsigned)(word[i + 1] - '0') & 7) << 6 |
                    ((unsigned)(word[i + 2] - '0') & 7) << 3 | ((unsigned)(word[i + 3] - '0') & 7);
            i += 3;
        }
        out[used++] = (char)value;
    }
    out[used] = '\0';
}

static bool read_device(const char *word, struct wio_mount *mount)
{
    uint64_t major;
    uint64_t minor;
    if (!wio_scan_u64(&word, &major) || *word++ != ':' || !wio_scan_u64(&word, &minor)) {
        return false;
    }
    mount->major = (unsigned)major;
    mount->minor = (unsigned)minor;
    return true;
}

static bool read_line(const char *line, struct wio_mount *mount)
{
    const char *word;
    size_t length = 0;
    for (int i = 0; i < 3; i++) {
        length = next_word(&line, &word);
    }
    if (length == 0 || !read_device(word, mount)) {
        return false;
    }
    length = next_word(&line, &word);
    copy_word(word, length, mount->root);
    length = next_word(&line, &word);
    copy_word(word, length, mount->place);
    length = next_word(&line, &word);
    copy_word(word, length, mount->options);
    do {
        length = next_word(&line, &word);
    } while (length > 0 && !(length == 1 && word[0] == '-'));
    length = next_word(&line, &word);
    copy_word(word, length, mount->type);
    length = next_word(&line, &word);
    copy_word(word, length, mount->source);
    size_t rest = next_word(&line, &word);
    copy_word(word, rest, mount->super);
    return length > 0;
}

bool wio_mount_covers(const char *place, const char *path)
{
    size_t length = strlen(place);
    if (length > 0 && place[length - 1] == '/') {
        length--;
    }
    return strncmp(path, place, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool wio_mount_next(const char **mountinfo, struct wio_mount *mount_out)
{
    while (**mountinfo != '\0') {
        const char *line = *mountinfo;
        *mountinfo += strcspn(line, "\n");
        *mountinfo += **mountinfo == '\n';
        if (read_line(line, mount_out)) {
            return true;
        }
    }
    return false;
}

bool wio_mount_find(const char *mountinfo, const char *path, struct wio_mount *mount_out)
{
    struct wio_mount mount;
    bool is_found = false;
    while (wio_mount_next(&mountinfo, &mount)) {
        if (wio_mount_covers(mount.place, path) &&
            (!is_found || strlen(mount.place) >= strlen(mount_out->place))) {
            *mount_out = mount;
            is_found = true;
        }
    }
    return is_found;
}
