/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/gains/gain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "explain/findings/finding.h"
#include "explain/gains/gain_change.h"
#include "explain/gains/gain_scope.h"
#include "explain/gains/network_fs.h"
#include "machine/host.h"
#include "predict/predict.h"
#include "predict/program.h"

/* Of the seconds of a finding: when less is gained, another cause may hide it. */
#define HIDDEN 0.5
/* Times that a run may take longer, or shorter, than HOST.json predicts without a remark. */
#define UNLIKE 1.5
/* Of the run: bounds that lie no farther apart tell the middle. */
#define NARROW 0.10
#define LOOKS                                                                                      \
    "the program looks now and then whether its children have ended, and a simulation keeps the "  \
    "sleeps between"
/* Of the run: a shorter phase of the page cache is not told apart. */
#define SHORT_PHASE 0.01

const char *wio_gain_basis_name(enum wio_gain_basis basis)
{
    return basis == WIO_GAIN_HOST ? "host" : basis == WIO_GAIN_TRACE ? "trace" : "none";
}

/* ---- predictions ---- */

/* How long a run takes, seconds; NaN: not known. */
struct predicted {
    double at[WIO_FIT_ATS]; /* of a machine: MID alone */
    bool is_assumed;        /* MID: what bytes cost is */
};

/* On one basis. */
struct predictor {
    const struct wio_gain_input *input;
    struct wio_gains *gains;
    const struct wio_network_fs *network;
    enum wio_gain_basis basis;
    struct wio_program program;
    struct wio_fit fit;
    double predicted_s; /* the run as it was; NaN: not known */
    double recorded_s;
    struct wio_predict_params params;
    struct wio_predict_params all; /* with the changes so far together .. */
    struct wio_change *changes;    /* .. these .. */
    struct wio_gain_scope *scopes;
    uint32_t made;
    bool has_others;         /* .. or a setting .. */
    double all_s;            /* .. how long the run takes then; NaN: not known */
    bool is_read;            /* the program is .. */
    bool has_faults;         /* what page faults cost is fitted */
    uint64_t run;            /* so many predictions are made .. */
    uint64_t runs;           /* .. of so many */
    char why[WIO_GAIN_TEXT]; /* the run as it was cannot be predicted; "": it can */
};

static void predictor_fini(struct predictor *predictor)
{
    for (uint32_t i = 0; predictor->scopes != NULL && i < predictor->gains->count; i++) {
        wio_gain_scope_fini(&predictor->scopes[i]);
    }
    free(predictor->scopes);
    free(predictor->changes);
    wio_program_fini(&predictor->program);
    wio_fit_fini(&predictor->fit);
}

/* One bar for all predictions. */
static void tell_progress(void *arg, uint64_t done, uint64_t total, const char *unit)
{
    const struct predictor *predictor = arg;
    const struct wio_gain_input *input = predictor->input;

    input->progress(input->progress_arg, input->progress_done + predictor->run * total + done,
                    input->progress_done + predictor->runs * total, unit);
}

/* A run that no model can follow has no gain; what is wrong with a file is an error. */
static enum wio_status forgive(enum wio_status status, const struct wio_error *wrong, char *why,
                               struct wio_error *err)
{
    bool is_no_file = wrong->file[0] == '\0';

    if (status == WIO_OK) {
        return WIO_OK;
    }
    if (status == WIO_ERR_UNSUPPORTED || status == WIO_ERR_USAGE ||
        (status == WIO_ERR_FORMAT && is_no_file)) {
        (void)snprintf(why, WIO_GAIN_TEXT, "%.*s", (int)WIO_GAIN_TEXT - 1, wrong->message);
        return WIO_OK;
    }
    *err = *wrong;
    return status;
}

static enum wio_status predict_at(struct predictor *predictor,
                                  const struct wio_predict_params *params, enum wio_fit_at at,
                                  struct wio_predict_result *result, char *why,
                                  struct wio_error *err)
{
    struct wio_predict_params one = *params;
    struct wio_error wrong = WIO_ERROR_INIT;

    one.fit_at = at;
    enum wio_status status = wio_predict_programs(&predictor->program, 1, &one, result, &wrong);
    predictor->run++;
    predictor->runs += predictor->run == predictor->runs;
    return forgive(status, &wrong, why, err);
}

/* A middle that nothing seen tells is known as well as its bounds are. */
static bool is_narrow(const struct predictor *predictor, const struct predicted *at)
{
    return fabs(at->at[WIO_FIT_HIGH] - at->at[WIO_FIT_LOW]) <= NARROW * predictor->predicted_s;
}

/* Fitted costs are a range: nothing seen may tell its middle, or how much it is at most. */
static enum wio_status predict(struct predictor *predictor, const struct wio_predict_params *params,
                               struct predicted *out, char *why, struct wio_error *err)
{
    bool is_fitted = predictor->basis == WIO_GAIN_TRACE;
    double middle_s = NAN; /* half-way between the bounds of what was not seen */

    *out = (struct predicted){{NAN, NAN, NAN}, false};
    for (unsigned at = 0; at < WIO_FIT_ATS && why[0] == '\0'; at++) {
        WIO_CLEANUP(wio_predict_result_fini) struct wio_predict_result result = {0};
        if (at != WIO_FIT_MID && !is_fitted) {
            continue;
        }
        WIO_TRY(predict_at(predictor, params, (enum wio_fit_at)at, &result, why, err));
        middle_s = at == WIO_FIT_MID ? result.all.total_s : middle_s;
        out->is_assumed |= at == WIO_FIT_MID && result.assumed > 0;
        if (why[0] == '\0' && !(at == WIO_FIT_MID && result.outside > 0) &&
            !(at == WIO_FIT_HIGH && result.unseen > 0)) {
            out->at[at] = result.all.total_s;
        }
    }
    if (why[0] == '\0' && is_fitted && isnan(out->at[WIO_FIT_MID]) && is_narrow(predictor, out)) {
        out->at[WIO_FIT_MID] = middle_s;
    }
    return WIO_OK;
}

static enum wio_status see_write(void *arg, uint64_t index, const struct wio_model_result *result,
                                 struct wio_error *err)
{
    struct predictor *predictor = arg;

    (void)index;
    (void)err;
    wio_cache_phases_add(&predictor->gains->cache, result);
    return WIO_OK;
}

/* Nothing else of the prediction is kept. */
static enum wio_status predict_baseline(struct predictor *predictor, struct wio_error *err)
{
    WIO_CLEANUP(wio_predict_result_fini) struct wio_predict_result result = {0};

    struct wio_predict_params params = predictor->params;

    params.per_op = predictor->basis == WIO_GAIN_HOST ? see_write : NULL;
    params.per_op_arg = predictor;
    WIO_TRY(predict_at(predictor, &params, WIO_FIT_MID, &result, predictor->why, err));
    if (predictor->why[0] == '\0') {
        predictor->predicted_s = result.all.total_s;
        predictor->recorded_s = result.all.traced_s;
        wio_cache_phases_smooth(&predictor->gains->cache, SHORT_PHASE * predictor->predicted_s);
    }
    return WIO_OK;
}

/* The run as it was, when the first change asks for it. */
static enum wio_status predict_as_it_was(struct predictor *predictor, struct wio_error *err)
{
    struct wio_error wrong = WIO_ERROR_INIT;

    if (predictor->is_read) {
        return WIO_OK;
    }
    predictor->is_read = true;
    WIO_TRY(forgive(wio_program_init(&predictor->program, predictor->input->trace, &wrong), &wrong,
                    predictor->why, err));
    if (predictor->why[0] == '\0' && predictor->basis == WIO_GAIN_TRACE) {
        WIO_TRY(wio_fit_program(&predictor->fit, &predictor->program, err));
    }
    if (predictor->why[0] == '\0') {
        WIO_TRY(predict_baseline(predictor, err));
    }
    if (predictor->why[0] == '\0' && !(predictor->predicted_s > 0)) {
        (void)snprintf(predictor->why, WIO_GAIN_TEXT, "the predicted run takes no time");
    }
    return WIO_OK;
}

/* ---- one finding ---- */

/* Seconds of the recorded run, for seconds of the predicted one. */
static double scale(const struct predictor *predictor, double seconds)
{
    return seconds / predictor->predicted_s * predictor->recorded_s;
}

/* A run that costs more gains less. Threads that wait for each other may turn the bounds round. */
static void set_gain(const struct predictor *predictor, const struct predicted *with,
                     struct wio_gain *gain)
{
    double before_s = predictor->predicted_s;
    double low_s = scale(predictor, before_s - with->at[WIO_FIT_HIGH]);
    double high_s = scale(predictor, before_s - with->at[WIO_FIT_LOW]);

    gain->basis = predictor->basis;
    gain->predicted_s = with->at[WIO_FIT_MID];
    gain->gain_s = scale(predictor, before_s - gain->predicted_s);
    if (predictor->basis == WIO_GAIN_TRACE) {
        gain->low_s = isnan(low_s) ? low_s : fmin(fmin(low_s, high_s), gain->gain_s);
        gain->high_s = fmax(fmax(low_s, high_s), gain->gain_s);
        gain->is_assumed = with->is_assumed && !isnan(gain->gain_s);
    }
}

/* A simulation keeps the sleeps between looks for a child, however early that ends. */
static void drop_what_looks_keep(const struct predictor *predictor,
                                 const struct wio_finding *finding, struct wio_gain *gain)
{
    double looked_s = (double)predictor->input->looked_ns / 1e9;

    if (looked_s > NARROW * predictor->recorded_s && !(gain->gain_s >= HIDDEN * finding->seconds)) {
        *gain = (struct wio_gain){WIO_GAIN_NONE, NAN, NAN, NAN, NAN, NAN, false, gain->network, ""};
        (void)snprintf(gain->why, sizeof(gain->why), LOOKS);
    }
}

static enum wio_status predict_alone(struct predictor *predictor, const struct wio_finding *finding,
                                     const struct wio_gain_change *how, struct wio_gain *gain,
                                     struct wio_error *err)
{
    struct wio_gain_scope *scope = &predictor->scopes[predictor->made];
    struct wio_change *change = &predictor->changes[predictor->made];
    struct wio_predict_params params = predictor->params;
    struct predicted with;

    if (how->is_setting) {
        params.whatif = how->whatif;
    } else {
        WIO_TRY(wio_gain_scope_init(scope, predictor->input->steps, finding, how->change.kind));
        *change = how->change;
        change->scope = &scope->of;
        params.changes = change;
        params.change_count = 1;
    }
    WIO_TRY(predict(predictor, &params, &with, gain->why, err));
    if (gain->why[0] == '\0') {
        set_gain(predictor, &with, gain);
        drop_what_looks_keep(predictor, finding, gain);
    }
    if (gain->why[0] != '\0') {
        wio_gain_scope_fini(scope);
        *scope = (struct wio_gain_scope){0};
    }
    return WIO_OK;
}

/* The change of predict_alone is one of all that are made together. */
static void make_with_others(struct predictor *predictor, const struct wio_gain_change *how)
{
    struct wio_predict_params *all = &predictor->all;

    if (how->is_setting) {
        wio_gain_change_set(how, &all->whatif);
        return;
    }
    all->changes = predictor->changes;
    all->change_count = ++predictor->made;
}

/* Where a change alone gains far less than its finding costs, those before it may hide it. */
static enum wio_status predict_with_others(struct predictor *predictor,
                                           const struct wio_finding *finding,
                                           const struct wio_gain_change *how, struct wio_gain *gain,
                                           struct wio_error *err)
{
    bool is_first = !predictor->has_others;
    bool is_hidden = !is_first && gain->gain_s < HIDDEN * finding->seconds;
    struct predicted before = {{NAN, predictor->all_s, NAN}, false};
    struct predicted after;
    char why[WIO_GAIN_TEXT] = "";

    if (is_hidden && isnan(predictor->all_s)) {
        WIO_TRY(predict(predictor, &predictor->all, &before, why, err));
    }
    make_with_others(predictor, how);
    predictor->has_others = true;
    predictor->all_s = is_first ? gain->predicted_s : NAN;
    if (is_hidden) {
        WIO_TRY(predict(predictor, &predictor->all, &after, why, err));
        predictor->all_s = after.at[WIO_FIT_MID];
        gain->with_s = scale(predictor, before.at[WIO_FIT_MID] - predictor->all_s);
    }
    return WIO_OK;
}

/* The change of a finding; false: none that can be simulated. No trace has the costs of some
 * options: there is an assumption in their place then. */
static bool change_of(const struct wio_finding *finding, enum wio_gain_basis basis,
                      struct wio_gain_change *change)
{
    bool is_assumed = basis == WIO_GAIN_TRACE && finding->is_kept_assumed;

    if (finding->is_removal && (is_assumed || finding->predict_options[0] == '\0')) {
        wio_gain_change_remove(finding->kept, change);
        return true;
    }
    bool is_known = wio_gain_change_read(finding->predict_options, change);
    bool is_buffer = is_known && change->is_setting && !isnan(change->whatif.bf);
    return is_known && !(is_buffer && basis == WIO_GAIN_TRACE);
}

static enum wio_status find_gain(struct predictor *predictor, const struct wio_finding *finding,
                                 struct wio_gain *gain, struct wio_error *err)
{
    struct wio_gain_change change;

    if (!change_of(finding, predictor->basis, &change)) {
        (void)snprintf(gain->why, sizeof(gain->why), "%s",
                       finding->no_gain != NULL ? finding->no_gain : "");
        return WIO_OK;
    }
    const char *network = wio_network_fs_of(predictor->network, predictor->input->steps, finding);
    gain->network = network != NULL ? network : "";
    WIO_TRY(predict_as_it_was(predictor, err));
    if (predictor->why[0] != '\0') {
        (void)snprintf(gain->why, sizeof(gain->why), "%s", predictor->why);
        return WIO_OK;
    }
    if (!change.is_setting && change.change.kind == WIO_CHANGE_READ_MAPS &&
        predictor->basis == WIO_GAIN_TRACE && !predictor->has_faults) {
        predictor->has_faults = true;
        WIO_TRY(wio_fit_faults(&predictor->fit, &predictor->program, err));
    }
    WIO_TRY(predict_alone(predictor, finding, &change, gain, err));
    if (finding->is_kept_assumed && gain->basis == WIO_GAIN_TRACE) {
        gain->is_assumed = !isnan(gain->gain_s);
        gain->low_s = isnan(gain->low_s) ? gain->low_s : fmin(gain->low_s, 0);
    }
    if (gain->why[0] != '\0') {
        return WIO_OK;
    }
    return predict_with_others(predictor, finding, &change, gain, err);
}

/* ---- all of them ---- */

static bool is_asked(const struct wio_finding *finding, uint32_t *left)
{
    if (finding->is_general || *left == 0) {
        return false;
    }
    (*left)--;
    return true;
}

/* How many predictions that becomes at least. */
static uint64_t count_runs(const struct wio_findings *findings, uint32_t left,
                           enum wio_gain_basis basis)
{
    struct wio_gain_change change;
    uint64_t runs = 1;
    uint64_t each = basis == WIO_GAIN_TRACE ? WIO_FIT_ATS : 1;

    for (uint32_t i = 0; i < findings->count; i++) {
        const struct wio_finding *finding = &findings->items[i];
        if (is_asked(finding, &left) && change_of(finding, basis, &change)) {
            runs += each;
        }
    }
    return runs;
}

/* A machine that is unlike the recorded one. */
static void compare_runs(struct wio_gains *gains)
{
    double recorded_s = gains->recorded_s;
    char predicted[WIO_TEXT_MAX];
    char recorded[WIO_TEXT_MAX];

    if (!(gains->predicted_s > 0) ||
        (recorded_s < UNLIKE * gains->predicted_s && gains->predicted_s < UNLIKE * recorded_s)) {
        return;
    }
    (void)snprintf(gains->remarks[WIO_GAIN_UNLIKE], WIO_GAIN_TEXT,
                   "for HOST.json this run takes %s, and it took %s: gains are parts of the "
                   "predicted run; run `whyio calibrate` where it was recorded",
                   wio_format_time(predicted, (uint64_t)(gains->predicted_s * 1e9)),
                   wio_format_time(recorded, (uint64_t)(recorded_s * 1e9)));
}

/* The model is that of local file systems. */
static enum wio_gain_basis basis_of(const struct predictor *predictor,
                                    const struct wio_finding *finding)
{
    bool is_local = wio_network_fs_of(predictor->network, predictor->input->steps, finding) == NULL;

    return predictor->gains->host != NULL && is_local ? WIO_GAIN_HOST : WIO_GAIN_TRACE;
}

static enum wio_status find_all(struct predictor *predictor, uint32_t left, struct wio_error *err)
{
    const struct wio_findings *findings = predictor->input->findings;

    predictor->changes = calloc((size_t)findings->count + 1, sizeof(*predictor->changes));
    predictor->scopes = calloc((size_t)findings->count + 1, sizeof(*predictor->scopes));
    if (predictor->changes == NULL || predictor->scopes == NULL) {
        return WIO_ERR_NOMEM;
    }
    predictor->runs = count_runs(findings, left, predictor->basis);
    if (predictor->basis == WIO_GAIN_HOST) { /* for the phases of its page cache, too */
        WIO_TRY(predict_as_it_was(predictor, err));
    }
    for (uint32_t i = 0; i < findings->count; i++) {
        const struct wio_finding *finding = &findings->items[i];
        if (is_asked(finding, &left) && basis_of(predictor, finding) == predictor->basis) {
            WIO_TRY(find_gain(predictor, finding, &predictor->gains->items[i], err));
        }
    }
    return WIO_OK;
}

/* All gains of one basis. */
static enum wio_status find_on(const struct wio_gain_input *input,
                               const struct wio_gain_params *params,
                               const struct wio_network_fs *network, enum wio_gain_basis basis,
                               struct wio_gains *gains, struct wio_error *err)
{
    WIO_CLEANUP(predictor_fini)
    struct predictor predictor = {.input = input,
                                  .gains = gains,
                                  .network = network,
                                  .basis = basis,
                                  .predicted_s = NAN,
                                  .recorded_s = NAN,
                                  .params = wio_predict_params_default(),
                                  .all_s = NAN};

    predictor.params.host = params->host;
    predictor.params.fit = basis == WIO_GAIN_TRACE ? &predictor.fit : NULL;
    if (input->progress != NULL) {
        predictor.params.progress = tell_progress;
        predictor.params.progress_arg = &predictor;
    }
    predictor.all = predictor.params;
    WIO_TRY(find_all(&predictor, params->count, err));
    if (basis == gains->basis) {
        gains->predicted_s = predictor.predicted_s;
        gains->recorded_s = predictor.recorded_s;
    }
    return WIO_OK;
}

/* What is wrong with HOST.json is said whatever findings there are. */
static enum wio_status look_at_host(struct wio_gains *gains, struct wio_error *err)
{
    WIO_CLEANUP(wio_host_fini) struct wio_host host = {0};

    WIO_TRY(wio_host_load(gains->host, &host, err));
    if (host.trust.is == WIO_HOST_DOUBTED) {
        (void)snprintf(gains->remarks[WIO_GAIN_DOUBTED], WIO_GAIN_TEXT,
                       "the figures of HOST.json are in doubt, and the gains with them%s%s",
                       host.trust.doubt[0] != '\0' ? ": " : "", host.trust.doubt);
    }
    if (host.misspelt.meant != NULL) {
        (void)snprintf(gains->remarks[WIO_GAIN_MISSPELT], WIO_GAIN_TEXT,
                       "HOST.json: key '%s' was skipped, '%s' may be meant", host.misspelt.key,
                       host.misspelt.meant);
    }
    return WIO_OK;
}

enum wio_status wio_gains_find(const struct wio_gain_input *input,
                               const struct wio_gain_params *params, struct wio_gains *gains,
                               struct wio_error *err)
{
    uint32_t count = input->findings->count;

    *gains = (struct wio_gains){.host = params->host, .predicted_s = NAN, .recorded_s = NAN};
    gains->items = calloc((size_t)count + 1, sizeof(*gains->items));
    if (gains->items == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the gains of %u findings", count);
    }
    gains->count = count;
    for (uint32_t i = 0; i < count; i++) {
        gains->items[i] = (struct wio_gain){WIO_GAIN_NONE, NAN, NAN, NAN, NAN, NAN, false, "", ""};
    }
    if (params->count == 0) {
        return WIO_OK;
    }
    gains->basis = params->host != NULL ? WIO_GAIN_HOST : WIO_GAIN_TRACE;
    if (params->host != NULL) {
        WIO_TRY(look_at_host(gains, err));
    }
    WIO_CLEANUP(wio_network_fs_fini) struct wio_network_fs network = {0};
    WIO_TRY(wio_network_fs_init(&network, input->trace));
    if (params->host != NULL) {
        WIO_TRY(find_on(input, params, &network, WIO_GAIN_HOST, gains, err));
        compare_runs(gains);
    }
    return find_on(input, params, &network, WIO_GAIN_TRACE, gains, err);
}

void wio_gains_fini(struct wio_gains *gains)
{
    free(gains->items);
}
