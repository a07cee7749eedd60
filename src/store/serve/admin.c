/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/admin.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/net/net.h"
#include "store/serve/metrics.h"
#include "store/serve/policy_file.h"

#define CONTEXT_BYTES 16384
#define TRANSACTIONS 64 /* ends of transactions that the reserve has room for at once */

/* ---- the file ------------------------------------------------------------------------------ */

static enum wio_status read_text(const char *path, char *text, size_t room, size_t *bytes_out,
                                 struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        return wio_error_sys(err, path, "cannot read the policy file");
    }
    if (!S_ISREG(info.st_mode)) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                             "the policy file is no regular file");
    }
    ssize_t got = 0;
    for (*bytes_out = 0; *bytes_out < room; *bytes_out += (size_t)got) {
        got = read(fd, text + *bytes_out, room - *bytes_out);
        if (got < 0) {
            return wio_error_sys(err, path, "cannot read the policy file");
        }
        if (got == 0) {
            return WIO_OK;
        }
    }
    return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                         "the policy file has more than %d bytes", SERVE_POLICY_BYTES_MAX);
}

static enum wio_status read_policy(const struct serve_admin *admin, struct serve_policy *policy,
                                   struct wio_error *err)
{
    const struct wio_serve_config *config = admin->config;
    size_t bytes = 0;
    if (config->policy_file == NULL) {
        return serve_policy_parse("", 0, NULL, config->policy, config->tenant_by, policy, err);
    }
    char *text = malloc(SERVE_POLICY_BYTES_MAX + 1);
    if (text == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    enum wio_status status =
        read_text(config->policy_file, text, SERVE_POLICY_BYTES_MAX + 1, &bytes, err);
    if (status == WIO_OK) {
        status = serve_policy_parse(text, bytes, config->policy_file, config->policy,
                                    config->tenant_by, policy, err);
    }
    free(text);
    return status;
}

/* ---- life ---------------------------------------------------------------------------------- */

static struct wio_admit_settings settings_of(const struct wio_serve_config *config,
                                             struct wio_io *io, unsigned targets,
                                             uint64_t log_bytes)
{
    struct wio_admit_settings settings = wio_admit_settings_default();
    settings.tenant_by = config->tenant_by;
    settings.shards = targets > 0 ? targets : 1;
    settings.memory_bytes =
        config->request_memory_bytes != 0 ? config->request_memory_bytes : settings.memory_bytes;
    settings.timeout_ns = UINT64_C(30000000000);
    uint64_t reserve = wio_admit_reserve_bytes(config->log == WIO_LOG_SQLITE ? WIO_ADMIT_LOG_SQLITE
                                                                             : WIO_ADMIT_LOG_OWN,
                                               log_bytes, TRANSACTIONS, CONTEXT_BYTES);
    settings.reserve_bytes =
        reserve < settings.memory_bytes / 2 ? reserve : settings.memory_bytes / 2;
    io->ops->random(io, settings.key, sizeof(settings.key));
    io->ops->random(io, &settings.incarnation, sizeof(settings.incarnation));
    return settings;
}

/* One loop, whose log is SQLite's. */
static struct wio_admit_settings settings_of_names(const struct wio_serve_config *config,
                                                   struct wio_io *io)
{
    struct wio_serve_config own = *config;
    own.log = WIO_LOG_SQLITE;
    return settings_of(&own, io, 1, 0);
}

static enum wio_status make_total(struct wio_admit_settings settings,
                                  const struct serve_policy *policy,
                                  struct wio_admit_total **total_out, struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    settings.kind = policy->kind;
    WIO_TRY(wio_admit_total_create(&settings, &heap, total_out, err));
    return wio_admit_set_rules(*total_out, policy->rules, policy->rule_count, err);
}

enum wio_status serve_admin_begin(struct serve_admin *admin, const struct wio_serve_config *config,
                                  struct wio_net *net, unsigned targets, uint64_t log_bytes,
                                  struct wio_error *err)
{
    struct wio_io *io = wio_net_io(net);
    admin->config = config;
    admin->count = targets;
    admin->net = net;
    (void)pthread_mutex_init(&admin->mutex, NULL);
    (void)pthread_mutex_init(&admin->names_mutex, NULL);
    loop_hold_init(&admin->hold);
    admin->has_mutex = true;
    WIO_TRY(read_policy(admin, &admin->begun, err));
    WIO_TRY(
        make_total(settings_of(config, io, targets, log_bytes), &admin->begun, &admin->total, err));
    return make_total(settings_of_names(config, io), &admin->begun, &admin->names_total, err);
}

void serve_admin_end(struct serve_admin *admin)
{
    wio_admit_total_destroy(admin->total);
    wio_admit_total_destroy(admin->names_total);
    if (admin->has_mutex) {
        loop_hold_fini(&admin->hold);
        (void)pthread_mutex_destroy(&admin->names_mutex);
        (void)pthread_mutex_destroy(&admin->mutex);
    }
}

void serve_admin_woken(struct serve_admin *admin)
{
    if (admin->has_mutex) {
        loop_hold_here(&admin->hold);
    }
}

void serve_admin_unheld(struct serve_admin *admin)
{
    if (admin->has_mutex) {
        loop_hold_end(&admin->hold);
    }
}

/* ---- changes ------------------------------------------------------------------------------- */

/* All have their threads held, but for those that have ended. */
static unsigned hold_all(struct serve_admin *admin)
{
    unsigned held = 0;
    for (unsigned i = 0; i < admin->count; i++) {
        held += target_thread_hold(admin->targets[i]);
    }
    return held;
}

static void release_all(struct serve_admin *admin)
{
    for (unsigned i = 0; i < admin->count; i++) {
        target_thread_release(admin->targets[i]);
    }
}

static void set_weights(struct wio_admit *shard, const struct serve_policy *policy)
{
    struct wio_admit_tenant_counts tenant;
    uint32_t i = 0;
    while (wio_admit_each_tenant(shard, &i, &tenant)) {
        (void)!wio_admit_set_weight(shard, tenant.key, 1);
    }
    for (uint32_t w = 0; w < policy->weight_count; w++) {
        (void)!wio_admit_set_weight(shard, policy->weights[w].key, policy->weights[w].weight);
    }
}

/* `intake` NULL: its server has ended, or is none of this process. */
static enum wio_status put_in_force(struct wio_intake *intake, const struct serve_policy *policy,
                                    struct wio_error *err)
{
    if (intake == NULL) {
        return WIO_OK;
    }
    set_weights(wio_intake_shard(intake), policy);
    if (wio_admit_get_kind(wio_intake_shard(intake)) != policy->kind &&
        wio_intake_set_kind(intake, policy->kind) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for policy %s", wio_admit_kind_name(policy->kind));
    }
    return WIO_OK;
}

static struct wio_intake *intake_of(struct target_thread *thread)
{
    struct node_target *node = target_thread_held(thread);
    return node != NULL ? node_target_intake(node) : NULL;
}

static enum wio_status change_names(struct serve_admin *admin, const struct serve_policy *policy,
                                    struct wio_error *err)
{
    WIO_TRY(wio_admit_set_rules(admin->names_total, policy->rules, policy->rule_count, err));
    return put_in_force(admin->names, policy, err);
}

static enum wio_status change(struct serve_admin *admin, const struct serve_policy *policy,
                              struct wio_error *err)
{
    (void)pthread_mutex_lock(&admin->mutex);
    (void)hold_all(admin);
    enum wio_status status =
        wio_admit_set_rules(admin->total, policy->rules, policy->rule_count, err);
    for (unsigned i = 0; status == WIO_OK && i < admin->count; i++) {
        status = put_in_force(intake_of(admin->targets[i]), policy, err);
    }
    release_all(admin);
    (void)pthread_mutex_unlock(&admin->mutex);
    return status;
}

enum wio_status serve_admin_reload(struct serve_admin *admin, struct wio_error *err)
{
    struct serve_policy policy = {0};
    WIO_TRY(read_policy(admin, &policy, err));
    WIO_TRY(change(admin, &policy, err));
    return change_names(admin, &policy, err);
}

enum wio_status serve_admin_names(struct serve_admin *admin, struct wio_intake *names,
                                  struct wio_error *err)
{
    admin->names = names;
    return admin->config->policy_file != NULL ? change_names(admin, &admin->begun, err) : WIO_OK;
}

enum wio_status serve_admin_run(struct serve_admin *admin, struct target_thread **targets,
                                struct wio_error *err)
{
    admin->targets = targets;
    return admin->config->policy_file != NULL ? change(admin, &admin->begun, err) : WIO_OK;
}

/* ---- metrics ------------------------------------------------------------------------------- */

/* The thread of the catalogue makes changes, and may wait for the mutex of these: so without it. */
static void take_names(struct serve_admin *admin, struct serve_metrics *metrics)
{
    (void)pthread_mutex_lock(&admin->names_mutex);
    if (loop_hold_begin(&admin->hold, admin->net) && admin->names != NULL) {
        serve_metrics_take_names(metrics, admin->names, admin->config->tenant_by);
    }
    loop_hold_release(&admin->hold);
    (void)pthread_mutex_unlock(&admin->names_mutex);
}

static void take(struct serve_admin *admin, struct serve_metrics *list)
{
    for (unsigned i = 0; i < admin->count; i++) {
        struct target_thread *thread = admin->targets[i];
        if (target_thread_hold(thread)) {
            struct node_target *node = target_thread_held(thread);
            if (node != NULL) {
                serve_metrics_take(&list[i], target_thread_index(thread), node,
                                   admin->config->tenant_by);
            }
        }
        target_thread_release(thread);
    }
}

enum wio_status serve_admin_metrics(struct serve_admin *admin, struct wio_blob *out)
{
    const unsigned count = admin->count + 1; /* the catalogue */
    struct serve_metrics *list = calloc(count, sizeof(*list));
    if (list == NULL || admin->targets == NULL) {
        free(list);
        return WIO_ERR_NOMEM;
    }
    (void)pthread_mutex_lock(&admin->mutex);
    take(admin, list);
    (void)pthread_mutex_unlock(&admin->mutex);
    take_names(admin, &list[admin->count]);
    enum wio_status status = serve_metrics_put(out, list, count);
    for (unsigned i = 0; i < count; i++) {
        serve_metrics_fini(&list[i]);
    }
    free(list);
    return status;
}
