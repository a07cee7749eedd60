/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/env.h"
#include "base/io.h"
#include "job/job.h"
#include "store/serve/serve.h"

enum { CGROUP_MAX = 64 << 10, KEY_MAX = 256 };

/* The job's id, which is part of a file's name and of a line: '_' for a slash, a blank, and what no
 * terminal shows. */
static bool find_job(char name[SERVE_JOB_BYTES])
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob cgroup = {0};
    bool has_cgroup = wio_io_read_file("/proc/self/cgroup", CGROUP_MAX, &cgroup, NULL) == WIO_OK &&
                      wio_blob_u8(&cgroup, 0) == WIO_OK;
    const struct wio_job_source source = {.environ = (const char *const *)environ,
                                          .cgroup = has_cgroup ? (const char *)cgroup.data : NULL,
                                          .variable = wio_env_get(WIO_ENV_JOB_ENV),
                                          .fixed = wio_env_get(WIO_ENV_JOB)};
    bool is_found = wio_job_resolve(&source, name, SERVE_JOB_BYTES);
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == '/' || (unsigned char)*at <= ' ' || *at == 0x7f ? '_' : *at;
    }
    return is_found;
}

enum wio_status serve_job_name(char name_out[SERVE_JOB_BYTES], struct wio_error *err)
{
    return find_job(name_out)
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                               "--job: no batch system says the id of the job: set WHYIO_JOB to a "
                               "name that its processes share");
}

enum wio_status serve_root_make(char root_out[SERVE_ROOT_BYTES], struct wio_error *err)
{
    char name[SERVE_JOB_BYTES];
    const char *parent = getenv("TMPDIR");
    if (!find_job(name)) {
        (void)snprintf(name, sizeof(name), "%d", (int)getpid());
    }
    return wio_serve_make_root(parent != NULL && parent[0] != '\0' ? parent : "/tmp", name,
                               root_out, SERVE_ROOT_BYTES, err);
}

enum wio_status serve_key_read(const char *path, struct wio_link_key *key_out,
                               struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    WIO_TRY(wio_io_read_private(path, KEY_MAX, &text, err));
    if (wio_blob_u8(&text, 0) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    enum wio_status status = wio_link_key_parse((const char *)text.data, key_out, err);
    explicit_bzero(text.data, text.size);
    if (status != WIO_OK) {
        wio_error_add(err, "in '%s'", path);
    }
    return status;
}
