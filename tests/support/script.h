/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces made by hand, one line per thing:
 *
 *     process PID [parent=INDEX] [rank=N] [start=NS] [dropped=N] [host=NAME]   # numbered 0, 1 ..
 *     stream PROCESS TID [token=N]                        # numbered too
 *     cpus N                                              # processors of the machine
 *     machine NAME NUMBER                                 # what it says of itself (R-META-1)
 *     file PATH TYPE [mode=OCTAL] [size=N] [target=TEXT] [fs=TYPE]
 *                       # TYPE: regular, directory, symlink, fifo
 * .. OP [stream=N] [t=NS] [dur=NS] [fd=N] [path=P] [off=N] [size=N] [res=N] [err=N] [fd2=] [path2=]
 *        [off2=] [a0= .. a3=] [at=ADDRESS] [gap_cpu=NS] [gap_slept=0|1] [dur_cpu=NS] [caused]
 *        [async]
 *     edge STREAM:SEQ STREAM:SEQ [class=hard|mutex|queue] [evidence=mpi|..] [object=N]
 *     collective MEMBER MEMBER ..     # STREAM:SEQ[-LEAVE][<|>]: with < it only takes, > only gives
 *     poll-loop STREAM:SEQ LAST       # looks for a file from SEQ to LAST, which finds it
 *     edges                           # the trace stores edges, if only none
 *
 * Without process and stream lines there is one of each, pid and tid 100. Without t, an operation
 * begins 1,000 ns after the one before; dur is 100. `res` is `size` where that is given, else 0;
 * -1 where err is. '#' begins a comment. An unknown word is a failed assertion.
 */
#ifndef WIO_TESTS_SUPPORT_SCRIPT_H
#define WIO_TESTS_SUPPORT_SCRIPT_H

#include <whyio/trace.h>

/* Write the trace into the existing directory `dir`; exits with a message on a wrong script. */
void script_write(const char *script, const char *dir);

#endif
