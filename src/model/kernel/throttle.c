/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/kernel/throttle.h"

#include <math.h>

/* Position ratios are multiples of 1/1024. */
#define RATIO_SHIFT 10
#define RATIO_ONE (INT64_C(1) << RATIO_SHIFT)
/* A task looks at the limits at least this rarely, in pages. */
#define POLL_PAGES 32

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a * b / c; machines so fast that the product is too large for 64 bits lose the last digits. */
static int64_t scale(int64_t a, int64_t b, int64_t c)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return (int64_t)fmin((double)a * (double)b / (double)c, 0x1p61);
    }
    return product / c;
}

static int64_t log2_of(int64_t value)
{
    return value > 1 ? 63 - __builtin_clzll((unsigned long long)value) : 0;
}

static int64_t power_of_2_from(int64_t value)
{
    return value > 1 ? INT64_C(1) << (log2_of(value - 1) + 1) : 1;
}

static int64_t interval(const struct wio_throttle *throttle)
{
    return most(throttle->limits.hz / 5, 1);
}

static int64_t hard_limit(const struct wio_throttle *throttle)
{
    return most(throttle->limits.hard, throttle->device.limit);
}

static int64_t setpoint_of(const struct wio_throttle *throttle)
{
    return (wio_throttle_ceiling(throttle) + hard_limit(throttle)) / 2;
}

struct wio_throttle_task wio_throttle_task_new(void)
{
    return (struct wio_throttle_task){.dirtied_pause = POLL_PAGES};
}

void wio_throttle_init(struct wio_throttle *throttle, const struct wio_throttle_limits *limits,
                       double ratelimit, double bandwidth)
{
    int64_t rate = most((int64_t)ratelimit, 1);
    int64_t band = most((int64_t)bandwidth, 1);
    *throttle = (struct wio_throttle){
        .limits = *limits,
        .device = {.ratelimit = rate,
                   .balanced = rate,
                   .bandwidth = band,
                   .bandwidth_mean = band,
                   .limit = limits->hard},
        .task = wio_throttle_task_new(),
    };
}

/* 1 at the setpoint, 2 at the ceiling, 0 at the limit, a cubic between them (rule 3). */
static int64_t domain_ratio(int64_t setpoint, int64_t dirty, int64_t limit)
{
    int64_t x = (setpoint - dirty) * RATIO_ONE / ((limit - setpoint) | 1);
    int64_t ratio = ((x * x >> RATIO_SHIFT) * x >> RATIO_SHIFT) + RATIO_ONE;
    return least(most(ratio, 0), 2 * RATIO_ONE);
}

/* And the device's line: its setpoint is its share of the domain's (rule 3). */
static int64_t device_ratio(const struct wio_throttle *throttle,
                            const struct wio_throttle_dirty *dirty, int64_t ratio)
{
    int64_t hard = throttle->limits.hard;
    int64_t share = most(dirty->share, (hard_limit(throttle) - dirty->all) / 8);
    int64_t setpoint = scale(setpoint_of(throttle), share, hard);
    int64_t span = scale(hard - share + 8 * throttle->device.bandwidth_mean, share, hard);
    int64_t end = setpoint + span;
    if (dirty->device < end - span / 4) {
        ratio = scale(ratio, end - dirty->device, span | 1);
    } else {
        ratio /= 4;
    }
    if (dirty->device >= share / 2) {
        return ratio;
    }
    /* a device that has less than half of its share may fall idle: more for it */
    return dirty->device > share / 16 ? scale(ratio, share / 2, dirty->device) : ratio * 8;
}

static int64_t position_ratio(const struct wio_throttle *throttle,
                              const struct wio_throttle_dirty *dirty)
{
    int64_t limit = hard_limit(throttle);
    if (dirty->all >= limit) {
        return 0;
    }
    return device_ratio(throttle, dirty, domain_ratio(setpoint_of(throttle), dirty->all, limit));
}

bool wio_throttle_is_stale(const struct wio_throttle *throttle, int64_t now)
{
    return now > throttle->device.stamp + interval(throttle);
}

bool wio_throttle_is_due(const struct wio_throttle *throttle)
{
    int64_t pages = throttle->task.dirtied_pause;
    if (throttle->device.is_exceeded) {
        pages = least(pages, POLL_PAGES / 4);
    }
    return throttle->task.dirtied >= pages;
}

/* The domain's limit follows a higher setting at once and a lower one slowly. */
static void move_limit(struct wio_throttle *throttle, int64_t dirty, int64_t now)
{
    struct wio_throttle_device *device = &throttle->device;
    if (now < device->limit_stamp + interval(throttle)) {
        return;
    }
    device->limit_stamp = now;
    int64_t target = most(throttle->limits.hard, dirty);
    if (device->limit < throttle->limits.hard) {
        device->limit = throttle->limits.hard;
    } else if (device->limit > target) {
        device->limit -= (device->limit - target) >> 5;
    }
}

/* How far the rate limit may move: never past the task's own rate, the balanced rate or the
 * previous balanced rate, and slower the closer it is (rule 4). */
static int64_t ratelimit_step(const struct wio_throttle_device *device, bool is_below,
                              int64_t balanced, int64_t task_rate)
{
    int64_t step;
    if (is_below) {
        step = least(least(device->balanced, balanced), task_rate) - device->ratelimit;
    } else {
        step = device->ratelimit - most(most(device->balanced, balanced), task_rate);
    }
    step = most(step, 0);
    int64_t shift = device->ratelimit / (2 * step + 1);
    return shift < 63 ? ((step >> shift) + 7) / 8 : 0;
}

static void move_ratelimit(struct wio_throttle *throttle, int64_t dirty, int64_t ratio,
                           int64_t elapsed)
{
    struct wio_throttle_device *device = &throttle->device;
    int64_t rate = (device->dirtied - device->dirtied_stamp) * throttle->limits.hz / elapsed;
    int64_t task_rate = scale(device->ratelimit, ratio, RATIO_ONE) + 1;
    int64_t balanced =
        least(scale(task_rate, device->bandwidth_mean, rate | 1), device->bandwidth_mean);
    int64_t step = ratelimit_step(device, dirty < setpoint_of(throttle), balanced, task_rate);
    device->ratelimit = most(device->ratelimit + (device->ratelimit < balanced ? step : -step), 1);
    device->balanced = balanced;
}

/* A mean over about 4 s, and one that lags behind it (rule 5). */
static void estimate_bandwidth(struct wio_throttle *throttle, int64_t elapsed)
{
    struct wio_throttle_device *device = &throttle->device;
    int64_t period = power_of_2_from(3 * throttle->limits.hz);
    int64_t mean = device->bandwidth_mean;
    int64_t old = device->bandwidth;
    int64_t now = (device->written - device->written_stamp) * throttle->limits.hz;
    if (elapsed > period) {
        now /= elapsed;
        mean = now;
    } else {
        now = (now + old * (period - elapsed)) >> log2_of(period);
        if (mean > old && old >= now) {
            mean -= (mean - old) >> 3;
        } else if (mean < old && old <= now) {
            mean += (old - mean) >> 3;
        }
    }
    device->bandwidth = now;
    device->bandwidth_mean = most(mean, 1);
}

static void stamp(struct wio_throttle_device *device, int64_t now)
{
    device->dirtied_stamp = device->dirtied;
    device->written_stamp = device->written;
    device->stamp = now;
}

void wio_throttle_estimate(struct wio_throttle *throttle, int64_t now)
{
    estimate_bandwidth(throttle, most(now - throttle->device.stamp, 1));
    stamp(&throttle->device, now);
}

void wio_throttle_wake(struct wio_throttle *throttle, int64_t now)
{
    if (now - throttle->device.stamp > throttle->limits.hz) {
        stamp(&throttle->device, now);
    }
}

static int64_t longest_pause(const struct wio_throttle *throttle, int64_t dirty)
{
    int64_t hz = throttle->limits.hz;
    int64_t span = throttle->device.bandwidth_mean / power_of_2_from(1 + hz / 8);
    return least(dirty / (1 + span) + 1, interval(throttle));
}

/* The shortest pause worth sleeping, and after how many pages to look again (rule 7). */
static int64_t shortest_pause(const struct wio_throttle *throttle, int64_t longest,
                              int64_t task_rate, int64_t *pages_out)
{
    int64_t hz = throttle->limits.hz;
    int64_t ratelimit = throttle->device.ratelimit;
    int64_t second = power_of_2_from(hz);
    int64_t writers = log2_of(throttle->device.bandwidth_mean) - log2_of(ratelimit);
    int64_t target = most(1, hz / 100) + most(writers, 0) * (10 * hz) / 1024;
    target = least(target, 1 + longest / 2);
    int64_t pages = ratelimit * target / second;
    if (pages < POLL_PAGES) {
        target = longest;
        pages = ratelimit * target / second;
        if (pages > POLL_PAGES) {
            pages = POLL_PAGES;
            target = hz * POLL_PAGES / ratelimit;
        }
    }
    if (hz * pages / (task_rate + 1) > longest) {
        target = longest;
        pages = scale(task_rate, target, second);
    }
    *pages_out = pages;
    return pages >= POLL_PAGES ? 1 + target / 2 : target;
}

/* Nothing to pay: the farther from the limit, the rarer the next look. */
static void run_free(struct wio_throttle *throttle, int64_t dirty, int64_t now)
{
    int64_t room = throttle->limits.hard - dirty;
    throttle->task = (struct wio_throttle_task){
        .has_paused = true,
        .paused_when = now,
        .dirtied_pause = room > 0 ? INT64_C(1) << (log2_of(room) / 2) : 1,
    };
}

/* Too short to sleep: it is remembered, unless the task has been away for a second (rule 6). */
static void go_on(struct wio_throttle *throttle, int64_t period, int64_t pause, int64_t now)
{
    struct wio_throttle_task *task = &throttle->task;
    if (pause < -throttle->limits.hz) {
        task->paused_when = now;
        task->has_paused = true;
        task->dirtied = 0;
    } else if (period > 0) {
        task->paused_when += period;
        task->has_paused = true;
        task->dirtied = 0;
    } else if (task->dirtied_pause <= task->dirtied) {
        task->dirtied_pause += task->dirtied;
    }
}

static void sleep_for(struct wio_throttle_task *task, int64_t until, int64_t pages)
{
    *task = (struct wio_throttle_task){
        .has_paused = true, .paused_when = until, .dirtied_pause = pages};
}

enum wio_throttle_verdict wio_throttle_balance(struct wio_throttle *throttle,
                                               const struct wio_throttle_dirty *dirty, int64_t now,
                                               int64_t *pause_out)
{
    struct wio_throttle_task *task = &throttle->task;
    *pause_out = 0;
    if (dirty->all <= wio_throttle_ceiling(throttle)) {
        run_free(throttle, dirty->all, now);
        return WIO_THROTTLE_FREE;
    }
    int64_t ratio = position_ratio(throttle, dirty);
    throttle->device.is_exceeded =
        dirty->all > throttle->limits.hard && dirty->device > dirty->share;
    if (wio_throttle_is_stale(throttle, now)) {
        move_limit(throttle, dirty->all, now);
        move_ratelimit(throttle, dirty->all, ratio, most(now - throttle->device.stamp, 1));
        wio_throttle_estimate(throttle, now);
    }
    int64_t task_rate = scale(throttle->device.ratelimit, ratio, RATIO_ONE);
    int64_t longest = longest_pause(throttle, dirty->device);
    int64_t pages;
    int64_t shortest = shortest_pause(throttle, longest, task_rate, &pages);
    if (task_rate == 0) {
        *pause_out = longest;
        sleep_for(task, now + longest, pages);
        return WIO_THROTTLE_AGAIN;
    }
    int64_t period = throttle->limits.hz * task->dirtied / task_rate;
    int64_t pause = period - (task->has_paused ? now - task->paused_when : 0);
    if (pause < shortest) {
        go_on(throttle, period, pause, now);
        return WIO_THROTTLE_GO;
    }
    int64_t excess = most(pause - longest, 0);
    *pause_out = pause - excess;
    sleep_for(task, now + least(excess, longest) + *pause_out, pages);
    return WIO_THROTTLE_PAUSE;
}
