/* SPDX-License-Identifier: Apache-2.0 */
#include "job/stats.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"

#define PAGE 1024u /* counters a page, which never moves */
#define WINDOW 4u  /* buckets are added by so many */

static const struct {
    const char *name;
    const char *unit;
} operations[] = {
#define WIO_JOB_OP(id, name, unit) {name, unit},
#include "job/stats_ops.def"
#undef WIO_JOB_OP
};

struct wio_job_stats {
    struct wio_alloc alloc;
    struct wio_job_row *rows;
    size_t row_room;
    size_t row_count;
    uint32_t *row_of; /* by job: index + 1, 0 = none */
    size_t row_of_room;
    struct wio_job_counter **pages;
    size_t page_room;
    size_t page_count;
    uint32_t counter_used; /* ever */
    uint32_t counter_free; /* chain through `samples`, 0 = end; counters are numbered from 1 */
};

const char *wio_job_op_name(unsigned op)
{
    return op < WIO_JOB_OP_COUNT ? operations[op].name : "";
}

const char *wio_job_op_unit(unsigned op)
{
    return op < WIO_JOB_OP_COUNT ? operations[op].unit : "";
}

static struct wio_job_counter *counter_of(const struct wio_job_stats *stats, uint32_t number)
{
    return &stats->pages[(number - 1) / PAGE][(number - 1) % PAGE];
}

enum wio_status wio_job_stats_create(const struct wio_alloc *alloc,
                                     struct wio_job_stats **stats_out)
{
    *stats_out = alloc->get(alloc->context, sizeof(**stats_out));
    if (*stats_out == NULL) {
        return WIO_ERR_NOMEM;
    }
    (*stats_out)->alloc = *alloc;
    return WIO_OK;
}

void wio_job_stats_destroy(struct wio_job_stats *stats)
{
    if (stats == NULL) {
        return;
    }
    const struct wio_alloc alloc = stats->alloc;
    (void)wio_job_stats_clear_all(stats);
    for (size_t i = 0; i < stats->page_count; i++) {
        alloc.put(alloc.context, stats->pages[i]);
    }
    alloc.put(alloc.context, stats->pages);
    alloc.put(alloc.context, stats->rows);
    alloc.put(alloc.context, stats->row_of);
    alloc.put(alloc.context, stats);
}

/* ---- making rows, counters, buckets: on first sight ---- */

static enum wio_status add_row(struct wio_job_stats *stats, uint32_t job, uint64_t now_ns)
{
    void *rows = stats->rows;
    void *row_of = stats->row_of;
    enum wio_status status = wio_alloc_room(&stats->alloc, &rows, &stats->row_room,
                                            stats->row_count + 1, sizeof(*stats->rows));
    stats->rows = rows;
    WIO_TRY(status);
    status = wio_alloc_room(&stats->alloc, &row_of, &stats->row_of_room, (size_t)job + 1,
                            sizeof(*stats->row_of));
    stats->row_of = row_of;
    WIO_TRY(status);
    stats->rows[stats->row_count] =
        (struct wio_job_row){.first_ns = now_ns, .last_ns = now_ns, .job = job};
    stats->row_of[job] = (uint32_t)++stats->row_count;
    return WIO_OK;
}

static enum wio_status add_page(struct wio_job_stats *stats)
{
    void *pages = stats->pages;
    enum wio_status status =
        wio_alloc_room(&stats->alloc, &pages, &stats->page_room, stats->page_count + 1,
                       sizeof(struct wio_job_counter *));
    stats->pages = pages;
    WIO_TRY(status);
    stats->pages[stats->page_count] =
        wio_alloc_array(&stats->alloc, PAGE, sizeof(struct wio_job_counter));
    if (stats->pages[stats->page_count] == NULL) {
        return WIO_ERR_NOMEM;
    }
    stats->page_count++;
    return WIO_OK;
}

static enum wio_status add_counter(struct wio_job_stats *stats, uint32_t *number_out)
{
    if (stats->counter_free != 0) {
        *number_out = stats->counter_free;
        stats->counter_free = (uint32_t)counter_of(stats, *number_out)->samples;
    } else {
        if (stats->counter_used == stats->page_count * PAGE) {
            WIO_TRY(add_page(stats));
        }
        *number_out = ++stats->counter_used;
    }
    *counter_of(stats, *number_out) = (struct wio_job_counter){.least = UINT64_MAX};
    return WIO_OK;
}

/* Buckets up to and with `bucket`, below or above those that are there. */
static enum wio_status add_buckets(struct wio_job_stats *stats, struct wio_job_counter *counter,
                                   unsigned bucket)
{
    unsigned first = bucket;
    unsigned end = bucket + WINDOW < WIO_JOB_BUCKETS ? bucket + WINDOW : WIO_JOB_BUCKETS;
    if (counter->bucket_count > 0) {
        const unsigned had_end = (unsigned)counter->bucket_first + counter->bucket_count;
        first = bucket < counter->bucket_first ? bucket : counter->bucket_first;
        end = bucket < counter->bucket_first ? had_end : end;
    }
    uint64_t *fresh = wio_alloc_array(&stats->alloc, end - first, sizeof(*fresh));
    if (fresh == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (counter->bucket_count > 0) {
        memcpy(fresh + (counter->bucket_first - first), counter->buckets,
               counter->bucket_count * sizeof(*fresh));
    }
    stats->alloc.put(stats->alloc.context, counter->buckets);
    counter->buckets = fresh;
    counter->bucket_first = (uint8_t)first;
    counter->bucket_count = (uint8_t)(end - first);
    return WIO_OK;
}

/* ---- samples ---- */

static unsigned bucket_of(uint64_t value)
{
    return value <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(value - 1);
}

uint64_t wio_job_bucket_most(unsigned bucket)
{
    return bucket < 64 ? UINT64_C(1) << bucket : UINT64_MAX;
}

#ifdef __SIZEOF_INT128__
/* value * value in 128 bits. */
static void square(uint64_t value, uint64_t *low_out, uint64_t *high_out)
{
    __extension__ const unsigned __int128 product = (unsigned __int128)value * value;
    *low_out = (uint64_t)product;
    *high_out = (uint64_t)(product >> 64);
}
#else
static void square(uint64_t value, uint64_t *low_out, uint64_t *high_out)
{
    const uint64_t low = (uint32_t)value;
    const uint64_t high = value >> 32;
    const uint64_t middle = high * low + ((low * low) >> 32);
    const uint64_t other = low * high + (uint32_t)middle;
    *low_out = value * value;
    *high_out = high * high + (middle >> 32) + (other >> 32);
}
#endif

/* Stays at the highest number instead of beginning again. */
static void add_squares(uint64_t squares[2], uint64_t low, uint64_t high)
{
    const bool carries = __builtin_add_overflow(squares[0], low, &squares[0]);
    bool is_over = __builtin_add_overflow(squares[1], high, &squares[1]);
    is_over |= __builtin_add_overflow(squares[1], (uint64_t)carries, &squares[1]);
    if (is_over) {
        squares[0] = squares[1] = UINT64_MAX;
    }
}

static void add_sum(uint64_t *sum, uint64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum)) {
        *sum = UINT64_MAX;
    }
}

static struct wio_job_row *find_row(const struct wio_job_stats *stats, uint32_t job)
{
    const uint32_t at = job < stats->row_of_room ? stats->row_of[job] : 0;
    return at != 0 ? &stats->rows[at - 1] : NULL;
}

/* The counter of a job's operation, made where it is not there; NULL where memory is short. */
static struct wio_job_counter *demand_counter(struct wio_job_stats *stats, uint32_t job,
                                              enum wio_job_op op, uint64_t now_ns)
{
    struct wio_job_row *row = find_row(stats, job);
    if (row == NULL) {
        if (add_row(stats, job, now_ns) != WIO_OK) {
            return NULL;
        }
        row = &stats->rows[stats->row_count - 1];
    }
    row->last_ns = now_ns > row->last_ns ? now_ns : row->last_ns;
    row->first_ns = now_ns < row->first_ns ? now_ns : row->first_ns;
    if (row->counters[op] == 0 && add_counter(stats, &row->counters[op]) != WIO_OK) {
        return NULL;
    }
    return counter_of(stats, row->counters[op]);
}

enum wio_status wio_job_stats_add(struct wio_job_stats *stats, uint32_t job, enum wio_job_op op,
                                  uint64_t value, uint64_t now_ns)
{
    struct wio_job_counter *counter = demand_counter(stats, job, op, now_ns);
    if (counter == NULL) {
        return WIO_ERR_NOMEM;
    }
    const unsigned bucket = bucket_of(value);
    if (bucket - counter->bucket_first >= counter->bucket_count) {
        WIO_TRY(add_buckets(stats, counter, bucket));
    }
    uint64_t low;
    uint64_t high;
    square(value, &low, &high);
    add_squares(counter->squares, low, high);
    add_sum(&counter->sum, value);
    counter->samples++;
    counter->least = value < counter->least ? value : counter->least;
    counter->greatest = value > counter->greatest ? value : counter->greatest;
    counter->buckets[bucket - counter->bucket_first]++;
    return WIO_OK;
}

static enum wio_status merge_counter(struct wio_job_stats *stats, struct wio_job_counter *to,
                                     const struct wio_job_counter *from)
{
    for (unsigned i = 0; i < from->bucket_count; i++) {
        const unsigned bucket = from->bucket_first + i;
        if (from->buckets[i] == 0) {
            continue;
        }
        if (bucket - to->bucket_first >= to->bucket_count) {
            WIO_TRY(add_buckets(stats, to, bucket));
        }
        to->buckets[bucket - to->bucket_first] += from->buckets[i];
    }
    add_squares(to->squares, from->squares[0], from->squares[1]);
    add_sum(&to->sum, from->sum);
    to->samples += from->samples;
    to->least = from->least < to->least ? from->least : to->least;
    to->greatest = from->greatest > to->greatest ? from->greatest : to->greatest;
    return WIO_OK;
}

enum wio_status wio_job_stats_add_counter(struct wio_job_stats *stats, uint32_t job,
                                          enum wio_job_op op, const struct wio_job_counter *counter,
                                          uint64_t first_ns, uint64_t last_ns)
{
    struct wio_job_counter *to = demand_counter(stats, job, op, first_ns);
    if (to == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(merge_counter(stats, to, counter));
    (void)demand_counter(stats, job, op, last_ns);
    return WIO_OK;
}

enum wio_status wio_job_stats_merge(struct wio_job_stats *stats, const struct wio_job_stats *other)
{
    for (size_t i = 0; i < other->row_count; i++) {
        const struct wio_job_row *row = &other->rows[i];
        for (unsigned op = 0; op < WIO_JOB_OP_COUNT; op++) {
            const struct wio_job_counter *from = wio_job_stats_counter(other, row, op);
            if (from != NULL) {
                WIO_TRY(wio_job_stats_add_counter(stats, row->job, (enum wio_job_op)op, from,
                                                  row->first_ns, row->last_ns));
            }
        }
    }
    return WIO_OK;
}

/* ---- dropping ---- */

static void drop_counters(struct wio_job_stats *stats, struct wio_job_row *row)
{
    for (unsigned op = 0; op < WIO_JOB_OP_COUNT; op++) {
        if (row->counters[op] != 0) {
            struct wio_job_counter *counter = counter_of(stats, row->counters[op]);
            stats->alloc.put(stats->alloc.context, counter->buckets);
            *counter = (struct wio_job_counter){.samples = stats->counter_free};
            stats->counter_free = row->counters[op];
        }
    }
}

/* Keep the rows that are not to go, in their order. */
static size_t drop_rows(struct wio_job_stats *stats, uint32_t job, uint64_t before_ns)
{
    size_t kept = 0;
    const size_t count = stats->row_count;
    for (size_t i = 0; i < count; i++) {
        struct wio_job_row *row = &stats->rows[i];
        if (row->job == job || row->last_ns < before_ns) {
            drop_counters(stats, row);
            stats->row_of[row->job] = 0;
            continue;
        }
        stats->rows[kept] = *row;
        stats->row_of[row->job] = (uint32_t)++kept;
    }
    stats->row_count = kept;
    return count - kept;
}

size_t wio_job_stats_clear(struct wio_job_stats *stats, uint32_t job)
{
    return find_row(stats, job) != NULL ? drop_rows(stats, job, 0) : 0;
}

size_t wio_job_stats_clear_all(struct wio_job_stats *stats)
{
    const size_t count = stats->row_count;
    for (size_t i = 0; i < count; i++) {
        drop_counters(stats, &stats->rows[i]);
        stats->row_of[stats->rows[i].job] = 0;
    }
    stats->row_count = 0;
    return count;
}

size_t wio_job_stats_purge(struct wio_job_stats *stats, uint64_t before_ns)
{
    return drop_rows(stats, UINT32_MAX, before_ns);
}

/* ---- looking ---- */

size_t wio_job_stats_count(const struct wio_job_stats *stats)
{
    return stats->row_count;
}

const struct wio_job_row *wio_job_stats_row(const struct wio_job_stats *stats, size_t i)
{
    return i < stats->row_count ? &stats->rows[i] : NULL;
}

const struct wio_job_row *wio_job_stats_find(const struct wio_job_stats *stats, uint32_t job)
{
    return find_row(stats, job);
}

const struct wio_job_counter *wio_job_stats_counter(const struct wio_job_stats *stats,
                                                    const struct wio_job_row *row, unsigned op)
{
    return row->counters[op] != 0 ? counter_of(stats, row->counters[op]) : NULL;
}
