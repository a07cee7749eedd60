/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/launch.h"

static int forget_launchers(void **state)
{
    (void)state;
    return clearenv();
}

static void no_launcher_no_identity(void **state)
{
    (void)state;
    char launch[WIO_LAUNCH_BYTES] = "x";
    wio_launch_identify(launch);
    assert_string_equal(launch, "");
}

/* Set NAME=value pairs, ended by NULL, on an empty environment. */
static void identify(char launch[WIO_LAUNCH_BYTES], const char *const *pairs)
{
    assert_int_equal(clearenv(), 0);
    for (size_t i = 0; pairs[i] != NULL; i += 2) {
        assert_int_equal(setenv(pairs[i], pairs[i + 1], 1), 0);
    }
    wio_launch_identify(launch);
}

static void assert_same(const char *const *a, const char *const *b, bool is_same)
{
    char first[WIO_LAUNCH_BYTES];
    char second[WIO_LAUNCH_BYTES];
    identify(first, a);
    identify(second, b);
    assert_int_equal(strlen(first), WIO_LAUNCH_BYTES - 1);
    assert_int_equal(strlen(second), WIO_LAUNCH_BYTES - 1);
    assert_int_equal(strcmp(first, second) == 0, is_same);
}

static void ranks_of_open_mpi_agree(void **state)
{
    (void)state;
    const char *const rank0[] = {
        "PMIX_NAMESPACE",        "77", "PMIX_RANK", "0", "OMPI_MCA_orte_hnp_uri",
        "76.0;tcp://10.0.0.1:5", NULL};
    const char *const rank1[] = {
        "PMIX_NAMESPACE",        "77", "PMIX_RANK", "1", "OMPI_MCA_orte_hnp_uri",
        "76.0;tcp://10.0.0.1:5", NULL};
    const char *const other[] = {
        "PMIX_NAMESPACE",        "77", "PMIX_RANK", "1", "OMPI_MCA_orte_hnp_uri",
        "76.0;tcp://10.0.0.1:6", NULL};
    assert_same(rank0, rank1, true);
    assert_same(rank0, other, false);
}

static void mpirun_wins_over_its_batch_job(void **state)
{
    (void)state;
    const char *const first[] = {"PMIX_NAMESPACE",
                                 "1",
                                 "SLURM_JOB_ID",
                                 "9",
                                 "SLURM_STEP_ID",
                                 "0",
                                 "SLURM_PROCID",
                                 "0",
                                 NULL};
    const char *const second[] = {"PMIX_NAMESPACE",
                                  "2",
                                  "SLURM_JOB_ID",
                                  "9",
                                  "SLURM_STEP_ID",
                                  "0",
                                  "SLURM_PROCID",
                                  "0",
                                  NULL};
    assert_same(first, second, false);
}

static void steps_of_slurm_differ(void **state)
{
    (void)state;
    const char *const rank0[] = {
        "SLURM_JOB_ID", "9", "SLURM_STEP_ID", "0", "SLURM_PROCID", "0", NULL};
    const char *const rank5[] = {
        "SLURM_JOB_ID", "9", "SLURM_STEP_ID", "0", "SLURM_PROCID", "5", NULL};
    const char *const next[] = {
        "SLURM_JOB_ID", "9", "SLURM_STEP_ID", "1", "SLURM_PROCID", "0", NULL};
    assert_same(rank0, rank5, true);
    assert_same(rank0, next, false);
}

/* A batch script is no launch: two recorders in it must not share a directory. */
static void a_batch_script_is_no_launch(void **state)
{
    (void)state;
    const char *const batch[] = {"SLURM_JOB_ID", "9", "SLURM_PROCID", "0", NULL};
    char launch[WIO_LAUNCH_BYTES];
    identify(launch, batch);
    assert_string_equal(launch, "");
}

/* This program runs itself below programs that are called like proxies: see main. */
static void proxies_identify_by_port_or_pid(void **state)
{
    (void)state;
    char self[4096];
    char text[4][64] = {""};
    /* `true` at the end: bash would become the last command by exec. */
    const char *const scripts[4] = {
        "exec -a hydra_pmi_proxy bash -c '$SELF identify; $SELF identify; true' - --control-port "
        "h:1",
        "exec -a hydra_pmi_proxy bash -c '$SELF identify; $SELF identify; true' - --control-port "
        "h:2",
        "exec -a pmi_proxy bash -c '$SELF identify; bash -c \"$SELF identify; true\"; true'",
        "exec -a other bash -c '$SELF identify; $SELF identify; true'",
    };
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
    assert_true(size > 0);
    self[size] = '\0';
    assert_int_equal(setenv("SELF", self, 1), 0);
    assert_int_equal(setenv("PMI_FD", "5", 1), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(setenv("SCRIPT", scripts[i], 1), 0);
        FILE *pipe = popen("exec bash -c \"$SCRIPT\"", "re");
        assert_non_null(pipe);
        text[i][fread(text[i], 1, sizeof(text[i]) - 1, pipe)] = '\0';
        assert_int_equal(pclose(pipe), 0);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(strlen(text[i]), 2 * WIO_LAUNCH_BYTES);
        assert_memory_equal(text[i], text[i] + WIO_LAUNCH_BYTES, WIO_LAUNCH_BYTES);
    }
    assert_string_not_equal(text[0], text[1]);
    assert_string_not_equal(text[0], text[2]);
    assert_string_equal(text[3], "\n\n");
}

static int print_identity(void)
{
    char launch[WIO_LAUNCH_BYTES];
    wio_launch_identify(launch);
    puts(launch);
    return 0;
}

/* Without a launcher there is one recorder; 0 = unknown. */
static void recorders_are_as_many_as_the_launcher_says(void **state)
{
    (void)state;
    clearenv();
    assert_int_equal(wio_launch_recorders(""), 1);
    assert_int_equal(wio_launch_recorders("0123456789abcdef"), 0);
    assert_int_equal(setenv("PMI_SIZE", "many", 1), 0);
    assert_int_equal(wio_launch_recorders("0123456789abcdef"), 0);
    assert_int_equal(setenv("PMI_SIZE", "99999999999", 1), 0);
    assert_int_equal(wio_launch_recorders("0123456789abcdef"), 0);
    assert_int_equal(setenv("PMI_SIZE", "3", 1), 0);
    assert_int_equal(wio_launch_recorders("0123456789abcdef"), 3);
    assert_int_equal(setenv("OMPI_COMM_WORLD_SIZE", "4", 1), 0);
    assert_int_equal(wio_launch_recorders("0123456789abcdef"), 4);
    clearenv();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "identify") == 0) {
        return print_identity();
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_launcher_no_identity, forget_launchers),
        cmocka_unit_test(ranks_of_open_mpi_agree),
        cmocka_unit_test(mpirun_wins_over_its_batch_job),
        cmocka_unit_test(steps_of_slurm_differ),
        cmocka_unit_test(a_batch_script_is_no_launch),
        cmocka_unit_test(recorders_are_as_many_as_the_launcher_says),
        cmocka_unit_test_setup(proxies_identify_by_port_or_pid, forget_launchers),
    };
    return WIO_RUN(tests);
}
