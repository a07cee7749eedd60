/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/gains/network_fs.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/system/mounts.h"
#include "trace/read/recorders.h"

/* As mountinfo and statfs(2) have it. */
const char *wio_network_fs_type(const char *type)
{
    static const char *const types[] = {
        "nfs",      "nfs3",           "nfs4",      "lustre",     "gpfs",
        "beegfs",   "ceph",           "cifs",      "smb3",       "9p",
        "orangefs", "pvfs2",          "panfs",     "glusterfs",  "afs",
        "coda",     "gfs2",           "ocfs2",     "wekafs",     "daos",
        "dvs",      "fuse.glusterfs", "fuse.ceph", "fuse.sshfs", "fuse.daos"};

    for (size_t i = 0; i < WIO_ARRAY_SIZE(types); i++) {
        if (strcmp(type, types[i]) == 0) {
            return types[i];
        }
    }
    return NULL;
}

enum wio_status wio_network_fs_init(struct wio_network_fs *network, const struct wio_trace *trace)
{
    uint32_t recorders = wio_trace_recorder_count(trace);
    struct wio_recorder_info info;

    network->trace = trace;
    for (uint32_t i = 0; i < wio_trace_file_count(trace); i++) {
        const struct wio_file_info *file = wio_trace_file(trace, i);
        if (file->fs != WIO_NO_STRING) {
            WIO_TRY(wio_map_put(&network->files, file->path, i));
        }
    }
    network->mounts = calloc((size_t)recorders + 1, sizeof(*network->mounts));
    for (uint32_t i = 0; network->mounts != NULL && i < recorders; i++) {
        if (wio_trace_recorder(trace, i, &info) != WIO_OK || info.mounts_bytes == 0) {
            continue;
        }
        network->mounts[network->count] = strndup(info.mounts, info.mounts_bytes);
        if (network->mounts[network->count++] == NULL) {
            return WIO_ERR_NOMEM;
        }
    }
    return network->mounts != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

void wio_network_fs_fini(struct wio_network_fs *network)
{
    for (uint32_t i = 0; i < network->count; i++) {
        free(network->mounts[i]);
    }
    free(network->mounts);
    wio_map_fini(&network->files);
}

/* A file of several machines has one type at each of them. */
static const char *by_mounts(const struct wio_network_fs *network, const char *path)
{
    const char *type = NULL;
    struct wio_mount mount;

    for (uint32_t i = 0; i < network->count && type == NULL && path[0] == '/'; i++) {
        if (wio_mount_find(network->mounts[i], path, &mount)) {
            type = wio_network_fs_type(mount.type);
        }
    }
    return type;
}

static const char *of_path(const struct wio_network_fs *network, uint32_t path)
{
    const struct wio_trace *trace = network->trace;
    const uint64_t *file = wio_map_get(&network->files, path);

    if (file == NULL) {
        return by_mounts(network, wio_trace_string(trace, path, NULL));
    }
    uint32_t fs = wio_trace_file(trace, (uint32_t)*file)->fs;
    return wio_network_fs_type(wio_trace_string(trace, fs, NULL));
}

const char *wio_network_fs_of(const struct wio_network_fs *network, const struct wio_steps *steps,
                              const struct wio_finding *finding)
{
    const char *type = NULL;
    uint32_t last = 0;

    for (uint32_t i = 0; i < finding->step_count && type == NULL; i++) {
        uint32_t path = steps->steps[finding->steps[i]].path;
        if (path != 0 && path != last && path != WIO_SEVERAL_FILES) {
            type = of_path(network, path);
        }
        last = path;
    }
    return type;
}
