/* SPDX-License-Identifier: Apache-2.0 */
#include "job/name_format.h"

#include <string.h>

#include "base/fmt.h"

#define CODES "eghHjpu"

enum wio_status wio_job_format_check(const char *format, struct wio_error *err)
{
    for (const char *at = format; *at != '\0'; at++) {
        if (*at != '%') {
            continue;
        }
        at++;
        if (*at == '\0' || (*at != '%' && strchr(CODES, *at) == NULL)) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "'%s': after a percent sign one of %s or %% is expected", format,
                                 CODES);
        }
    }
    return WIO_OK;
}

bool wio_job_format_has(const char *format, char code)
{
    for (const char *at = strchr(format, '%'); at != NULL && at[1] != '\0';
         at = strchr(at + 2, '%')) {
        if (at[1] == code) {
            return true;
        }
    }
    return false;
}

bool wio_job_format_is_per_process(const char *format)
{
    for (const char *code = "egjpu"; *code != '\0'; code++) {
        if (wio_job_format_has(format, *code)) {
            return true;
        }
    }
    return false;
}

static void put_code(struct wio_fmt *name, char code, const struct wio_job_facts *facts)
{
    const char *dot;
    switch (code) {
    case 'e':
        wio_fmt_bytes(name, facts->program, facts->program_bytes);
        break;
    case 'g':
        wio_fmt_u64(name, facts->gid);
        break;
    case 'h':
        wio_fmt_bytes(name, facts->host, facts->host_bytes);
        break;
    case 'H':
        dot = facts->host_bytes > 0 ? memchr(facts->host, '.', facts->host_bytes) : NULL;
        wio_fmt_bytes(name, facts->host,
                      dot != NULL ? (size_t)(dot - facts->host) : facts->host_bytes);
        break;
    case 'j':
        wio_fmt_bytes(name, facts->job, facts->job_bytes);
        break;
    case 'p':
        wio_fmt_u64(name, facts->pid);
        break;
    case 'u':
        wio_fmt_u64(name, facts->uid);
        break;
    default:
        wio_fmt_bytes(name, &code, 1);
        break;
    }
}

bool wio_job_format_name(const char *format, const struct wio_job_facts *facts, char *name_out,
                         size_t size, size_t *bytes_out)
{
    struct wio_fmt name = wio_fmt_of(name_out, size);
    if ((facts->job_bytes == 0 && wio_job_format_has(format, 'j')) ||
        (facts->program_bytes == 0 && wio_job_format_has(format, 'e'))) {
        return false;
    }
    for (const char *at = format; *at != '\0'; at++) {
        if (*at == '%' && at[1] != '\0') {
            put_code(&name, *++at, facts);
        } else {
            wio_fmt_bytes(&name, at, 1);
        }
    }
    *bytes_out = name.used;
    return !name.is_cut && name.used > 0;
}
