/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/check_root.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/catalogue/catalogue.h"
#include "store/net/net.h"
#include "store/serve/layout.h"

struct root_checker {
    wio_store_fault *fault;
    void *context;
    const char *below; /* of the target that is being read: in front of its files' names */
    uint64_t faults;
};

static bool has(const char *path, const char *name)
{
    char file[PATH_MAX];
    return snprintf(file, sizeof(file), "%s/%s", path, name) < (int)sizeof(file) &&
           access(file, F_OK) == 0;
}

bool wio_serve_is_root(const char *path)
{
    return has(path, SERVE_LAYOUT_NAME) || has(path, WIO_STORE_VERSION_NAME);
}

static void tell(void *context, const struct wio_error *fault)
{
    struct root_checker *checker = context;
    struct wio_error named = *fault;
    if (checker->below != NULL && fault->file[0] != '\0') {
        int bytes = snprintf(named.file, sizeof(named.file), "%s/", checker->below);
        (void)snprintf(named.file + bytes, sizeof(named.file) - (size_t)bytes, "%.200s",
                       fault->file);
    }
    checker->faults++;
    if (checker->fault != NULL) {
        checker->fault(checker->context, &named);
    }
}

static void net_cleanup(struct wio_net **net)
{
    wio_net_destroy(*net);
}

static void add(struct wio_store_check *sum, const struct wio_store_check *more)
{
    sum->records += more->records;
    sum->files += more->files;
    sum->bytes += more->bytes;
}

static enum wio_status check_target(struct root_checker *checker, const char *dir,
                                    struct wio_store_check *sum, struct wio_error *err)
{
    WIO_CLEANUP(net_cleanup) struct wio_net *net = NULL;
    struct wio_error why = WIO_ERROR_INIT;
    struct wio_store_check found = {0};
    if (wio_net_create(dir, &net, &why) != WIO_OK) {
        tell(checker, &why);
        return WIO_OK;
    }
    WIO_TRY(wio_store_check(wio_net_io(net), tell, checker, &found, err));
    add(sum, &found);
    return WIO_OK;
}

static void check_catalogue(struct root_checker *checker, struct wio_io *io)
{
    const struct wio_catalogue_config config = {.io = io};
    struct wio_catalogue *catalogue = NULL;
    struct wio_error why = WIO_ERROR_INIT;
    enum wio_status status = wio_catalogue_open(&config, &catalogue, &why);
    status = status == WIO_OK ? wio_catalogue_check(catalogue, &why) : status;
    if (status != WIO_OK) {
        tell(checker, &why);
    }
    wio_catalogue_close(catalogue);
}

static enum wio_status check_node(struct root_checker *checker, const char *path,
                                  struct wio_store_check *sum, struct wio_error *err)
{
    WIO_CLEANUP(net_cleanup) struct wio_net *net = NULL;
    struct serve_layout layout;
    struct wio_error why = WIO_ERROR_INIT;
    WIO_TRY(wio_net_create(path, &net, err));
    if (serve_layout_read(wio_net_io(net), &layout, &why) != WIO_OK) {
        tell(checker, &why);
    }
    wio_link_key_forget(&layout.servers_key);
    if (layout.role != WIO_SERVE_TARGET) {
        check_catalogue(checker, wio_net_io(net));
    }
    for (unsigned i = 0; i < layout.targets; i++) {
        char name[SERVE_TARGET_NAME_BYTES];
        char dir[PATH_MAX];
        serve_target_name(name, layout.first + i);
        (void)snprintf(dir, sizeof(dir), "%s/%s", path, name);
        checker->below = name;
        WIO_TRY(check_target(checker, dir, sum, err));
        checker->below = NULL;
    }
    return WIO_OK;
}

enum wio_status wio_serve_check(const char *path, wio_store_fault *fault, void *context,
                                struct wio_store_check *check_out, struct wio_error *err)
{
    struct root_checker checker = {.fault = fault, .context = context};
    WIO_CLEANUP(wio_fd_cleanup) int lock = -1;
    *check_out = (struct wio_store_check){0};
    WIO_TRY(wio_store_root_lock(path, &lock, err));
    enum wio_status status = has(path, SERVE_LAYOUT_NAME)
                                 ? check_node(&checker, path, check_out, err)
                                 : check_target(&checker, path, check_out, err);
    check_out->faults = checker.faults;
    return status;
}
