/* SPDX-License-Identifier: Apache-2.0 */
/* Text for Prometheus: families are declared once, before their samples; labels are escaped;
 * histograms are cumulative. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/serve/metrics.h"

static struct serve_metrics_tenant tenants[] = {{.name = "job:a\"b\\c\nd", .done = 7, .weight = 2}};

static char *text_of(const struct serve_metrics *list, unsigned count)
{
    struct wio_blob out = {0};
    assert_int_equal(serve_metrics_put(&out, list, count), WIO_OK);
    assert_int_equal(wio_blob_u8(&out, 0), WIO_OK);
    return (char *)out.data;
}

static void fill(struct serve_metrics *metrics, unsigned target)
{
    *metrics = (struct serve_metrics){.is_there = true,
                                      .has_transactions = true,
                                      .kind = WIO_ADMIT_CREDIT,
                                      .listed = 1,
                                      .tenants = tenants};
    (void)snprintf(metrics->target, sizeof(metrics->target), "%u", target);
    metrics->counts.done = 41 + target;
    metrics->counts.refused[WIO_ADMIT_REASON_CREDIT] = 3;
    metrics->gauges.wait_ns = 1500000000;
    metrics->server.commits = 9;
    wio_admit_histogram_add(&metrics->counts.service, 300);
    wio_admit_histogram_add(&metrics->counts.service, 100000);
    wio_admit_histogram_add(&metrics->counts.service, UINT64_MAX / 2);
}

static void has_the_figures(void **state)
{
    (void)state;
    struct serve_metrics list[4];
    fill(&list[0], 0);
    fill(&list[1], 1);
    list[2] = (struct serve_metrics){.target = "2"}; /* has ended */
    fill(&list[3], 3);
    (void)snprintf(list[3].target, sizeof(list[3].target), "catalogue");
    list[3].has_transactions = false;
    char *text = text_of(list, 4);
    static const char *const lines[] = {
        "\nwhyio_store_requests_done_total{target=\"0\"} 41\n",
        "\nwhyio_store_requests_done_total{target=\"1\"} 42\n",
        "\nwhyio_store_requests_refused_total{target=\"1\",reason=\"credit\"} 3\n",
        "\nwhyio_store_requests_done_total{target=\"catalogue\"} 44\n",
        "\nwhyio_store_queue_wait_seconds{target=\"0\"} 1.5\n",
        "\nwhyio_store_policy_info{target=\"0\",policy=\"credit\"} 1\n",
        "\nwhyio_store_transactions_committed_total{target=\"1\"} 9\n",
        "\nwhyio_store_tenant_requests_done_total{target=\"0\",tenant=\"job:a\\\"b\\\\c\\nd\"} 7\n",
        "\nwhyio_store_request_service_seconds_bucket{target=\"0\",le=\"+Inf\"} 3\n",
        "\nwhyio_store_request_service_seconds_count{target=\"0\"} 3\n",
    };
    for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_non_null(strstr(text, lines[i]));
    }
    assert_null(strstr(text, "target=\"2\""));
    assert_null(strstr(text, "transactions_committed_total{target=\"catalogue\""));
    free(text);
}

/* "NAME{..} VALUE" or "NAME VALUE": the name, without what a histogram adds. */
static void name_of(const char *line, char *name, size_t room)
{
    static const char *const ends[] = {"_bucket", "_sum", "_count"};
    (void)snprintf(name, room, "%.*s", (int)strcspn(line, "{ "), line);
    for (unsigned i = 0; i < 3; i++) {
        char *end = strstr(name, ends[i]);
        if (end != NULL && end[strlen(ends[i])] == '\0' && strstr(name, "_seconds") != NULL) {
            *end = '\0';
        }
    }
}

static void each_family_is_declared_once(void **state)
{
    (void)state;
    struct serve_metrics metrics;
    char family[256] = "";
    char seen[16384] = "|";
    unsigned families = 0;
    fill(&metrics, 0);
    char *text = text_of(&metrics, 1);
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line != NULL && *line != '\0';
         line = strsep(&rest, "\n")) {
        char name[256];
        char key[260];
        if (strncmp(line, "# HELP ", 7) == 0) {
            (void)snprintf(family, sizeof(family), "%.*s", (int)strcspn(line + 7, " "), line + 7);
            (void)snprintf(key, sizeof(key), "|%s|", family);
            assert_null(strstr(seen, key));
            strcat(seen, family);
            strcat(seen, "|");
            families++;
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            assert_memory_equal(line + 7, family, strlen(family));
        } else {
            name_of(line, name, sizeof(name));
            assert_string_equal(name, family);
            assert_non_null(strrchr(line, ' '));
            char *end = NULL;
            (void)strtod(strrchr(line, ' ') + 1, &end);
            assert_int_equal(*end, '\0');
        }
    }
    assert_true(families > 30);
    free(text);
}

static void histograms_are_cumulative(void **state)
{
    (void)state;
    struct serve_metrics metrics;
    unsigned long before = 0;
    unsigned buckets = 0;
    fill(&metrics, 0);
    char *text = text_of(&metrics, 1);
    const char *at = text;
    const char *bucket = "whyio_store_request_service_seconds_bucket{";
    while ((at = strstr(at, bucket)) != NULL) {
        unsigned long value = strtoul(strchr(at, '}') + 1, NULL, 10);
        assert_true(value >= before);
        before = value;
        buckets++;
        at++;
    }
    assert_int_equal(before, 3);
    assert_int_equal(buckets, WIO_ADMIT_BUCKETS);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_figures),
        cmocka_unit_test(each_family_is_declared_once),
        cmocka_unit_test(histograms_are_cumulative),
    };
    return WIO_RUN(tests);
}
