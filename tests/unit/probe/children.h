/* SPDX-License-Identifier: Apache-2.0 */
/* Processes with a given environment, for the tests of the probe. */
#ifndef WIO_TESTS_PROBE_CHILDREN_H
#define WIO_TESTS_PROBE_CHILDREN_H

#include <sys/types.h>

/* sleep(1) with this environment, ended by NULL; exec has happened when it returns. -1 with errno
 * where it cannot. */
pid_t child_start(char *const *environment);
/* Kill and reap. */
void child_end(pid_t pid);

#endif
