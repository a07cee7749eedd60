/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launch of a parallel program this process belongs to. `mpirun -n 4 whyio record -o d -- a`
 * starts four recorders that know nothing of each other and share one directory: they find out by
 * this identity, which is equal in all processes of one mpirun, mpiexec or srun and differs
 * between two of them.
 */
#ifndef WIO_RECORD_LAUNCH_H
#define WIO_RECORD_LAUNCH_H

/* 16 hexadecimal digits and NUL, or "" where no launcher is known. */
#define WIO_LAUNCH_BYTES 17

/*
 * From the environment of this process, and for MPICH's hydra from the command line of the proxy
 * above it (its environment names nothing that all hosts share).
 */
void wio_launch_identify(char launch_out[WIO_LAUNCH_BYTES]);

/* How many recorders the launch has if each of its processes is one; 1 where `launch` is "", 0
 * where the launcher does not tell. */
unsigned wio_launch_recorders(const char *launch);

#endif
