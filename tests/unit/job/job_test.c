/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "support/unit.h"

#include "job/job.h"

static const char *resolve(const struct wio_job_source *source)
{
    static char job[64];
    bool found = wio_job_resolve(source, job, sizeof(job));
    assert_int_equal(found, job[0] != '\0');
    return job;
}

static void takes_variables_in_order(void **state)
{
    (void)state;
    const char *both[] = {"PBS_JOBID=12.server", "X=1", "SLURM_JOB_ID=77", NULL};
    const char *flux[] = {"FLUX_JOB_ID=f23", NULL};
    const char *pmix[] = {"PMIX_NAMESPACE=prte-9@1", "LSB_JOBID=5", NULL};
    assert_string_equal(resolve(&(struct wio_job_source){.environ = both}), "77");
    assert_string_equal(resolve(&(struct wio_job_source){.environ = flux}), "f23");
    assert_string_equal(resolve(&(struct wio_job_source){.environ = pmix}), "5");
    assert_string_equal(resolve(&(struct wio_job_source){.environ = NULL}), "");
}

/* docs/JOBS.md: any bytes but NUL, as the resolver of other processes has it. */
static void an_id_has_any_bytes(void **state)
{
    static const char *const names[] = {"a b",       "- x",       "{a: b}",
                                        "tab\there", "line\nend", "\xff\x7f"};
    (void)state;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_string_equal(resolve(&(struct wio_job_source){.fixed = names[i]}), names[i]);
    }
}

static void named_variable_and_fixed_id_win(void **state)
{
    (void)state;
    const char *environ[] = {"SLURM_JOB_ID=77", "MY_JOB=mine", NULL};
    const char *cgroup = "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n";
    struct wio_job_source source = {.environ = environ, .cgroup = cgroup, .variable = "MY_JOB"};
    assert_string_equal(resolve(&source), "mine");
    source.fixed = "given";
    assert_string_equal(resolve(&source), "given");
    source.fixed = NULL;
    source.variable = "NOT_SET";
    assert_string_equal(resolve(&source), "42");
}

static void reads_control_groups(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"12:memory:/slurm/uid_1000/job_1234/step_batch\n11:cpu:/\n", "1234"},
        {"4:cpu:/\n3:freezer:/slurm_node7/uid_0/job_8/step_0\n", "8"},
        {"0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n", "42"},
        {"0::/system.slice/node1_slurmstepd.scope/job_43/step_extern\n", "43"},
        {"0::/pbs_jobs.service/jobid/12.server\n", "12.server"},
        {"0::/pbspro.slice/pbspro-1234.server.slice\n", "1234.server"},
        {"0::/user.slice/job_7/session\n", ""},
        {"0::/system.slice/slurmd.service\n", ""},
        {"", ""},
        {"no path at all\n", ""},
        {"0::/slurm/job_", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(resolve(&(struct wio_job_source){.cgroup = rows[i][0]}), rows[i][1]);
    }
}

static void prefers_the_control_group(void **state)
{
    (void)state;
    const char *environ[] = {"SLURM_JOB_ID=77", NULL};
    struct wio_job_source source = {.environ = environ,
                                    .cgroup = "0::/slurm/uid_5/job_42/step_0\n"};
    assert_string_equal(resolve(&source), "42");
}

static void refuses_what_is_no_id(void **state)
{
    (void)state;
    char longer[100];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_string_equal(resolve(&(struct wio_job_source){.fixed = ""}), "");
    assert_string_equal(resolve(&(struct wio_job_source){.fixed = longer}), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_variables_in_order),        cmocka_unit_test(an_id_has_any_bytes),
        cmocka_unit_test(named_variable_and_fixed_id_win), cmocka_unit_test(reads_control_groups),
        cmocka_unit_test(prefers_the_control_group),       cmocka_unit_test(refuses_what_is_no_id),
    };
    return WIO_RUN(tests);
}
