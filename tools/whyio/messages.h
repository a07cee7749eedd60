/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on stderr. They quote names of files, programs and users, which may hold anything: what
 * a terminal could take for a command is shown as \xHH, whichever function prints it (cmd_say,
 * argp, getopt).
 */
#ifndef WHYIO_MESSAGES_H
#define WHYIO_MESSAGES_H

/* Once, first of all: stderr escapes what is printed to it, line by line, one write(2) each. Where
 * there is no memory for that it stays as it is. */
void messages_begin(void);

#endif
