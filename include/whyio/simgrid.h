/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What I/O costs on Linux, for simulations with SimGrid: libwhyio-simgrid.so puts a page cache in
 * front of a disk of the platform.
 *
 *     struct wio_simgrid_machine machine = {.struct_size = sizeof(machine)};
 *     struct wio_simgrid *disk;
 *     struct wio_error err = WIO_ERROR_INIT;
 *
 *     machine.host_json = "HOST.json";
 *     if (wio_simgrid_create("host", "disk", &machine, &disk, &err) != WIO_OK) {
 *         ... err.message ...
 *     }
 *
 *     ... in any actor ...
 *     wio_simgrid_write(disk, file, offset, size, &err)   instead of sg_disk_write(...)
 *
 * An operation takes the time that Linux would take, as the model `kernel` of docs/MODEL.md says:
 * it begins at SimGrid's clock and puts the actor to sleep until it has ended. All actors that use
 * one struct wio_simgrid share its page cache. An actor of its own, the flusher (a daemon on the
 * disk's host), writes dirty pages to SimGrid's disk and shares its bandwidth with all other I/O
 * there: each slows the other, and a slow flusher slows actors that write at the dirty limits.
 *
 * Units: bytes, seconds. Errors: WIO_ERR_USAGE names what is wrong with an argument, WIO_ERR_IO
 * says that the disk's host is down or was, and its page cache is lost. After WIO_ERR_NOMEM the
 * object may only be destroyed. Threads: SimGrid's actors must run in turn (contexts/nthreads is 1,
 * as by default).
 *
 * Source: the models of whyio predict; SimGrid 3.32, https://simgrid.org.
 */
#ifndef WHYIO_SIMGRID_H
#define WHYIO_SIMGRID_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

WIO_BEGIN_DECLS

/* A disk of the platform with a page cache in front of it. */
struct wio_simgrid;

/* A parameter by its name in HOST.json: {"limit_hard", 512e6}. */
struct wio_simgrid_param {
    const char *name;
    double value;
};

/*
 * The machine: a file as `whyio calibrate` writes it, then single parameters, which replace those
 * of the file (sc_sw also its c_flush; the tables stay, and c_length, a part of append_table).
 * The device is SimGrid's disk: bw_dev and bw_rdev of the file are replaced by the bandwidths in
 * the platform, bw_burst, burst_size and slice are not looked at.
 */
struct wio_simgrid_machine {
    size_t struct_size;                     /* sizeof(struct wio_simgrid_machine) */
    const char *host_json;                  /* path; NULL: all that is needed is in params */
    const struct wio_simgrid_param *params; /* up to one with the name NULL; NULL: none */
};

/*
 * Put a page cache in front of a disk, both by the names that they have in the platform, which must
 * be loaded. Before simgrid_run or in an actor. What is passed is copied. The caller owns
 * *disk_out, which is not set after an error.
 *
 * WIO_ERR_USAGE names the host or disk that there is not, the parameter that is missing, unknown or
 * wrong; WIO_ERR_FORMAT and WIO_ERR_IO say what is wrong with the file; WIO_ERR_UNSUPPORTED:
 * SimGrid runs actors in parallel.
 */
WIO_MUST_CHECK enum wio_status wio_simgrid_create(const char *host, const char *disk,
                                                  const struct wio_simgrid_machine *machine,
                                                  struct wio_simgrid **disk_out,
                                                  struct wio_error *err);
/* After the simulation has ended. Accepts NULL. */
void wio_simgrid_destroy(struct wio_simgrid *disk);

/*
 * Operations, to be called by actors; they return when the operation has ended at SimGrid's clock.
 * `file`: any number that tells files apart; files begin empty and nothing of them is in memory.
 * WIO_ERR_USAGE: an offset or size is negative, or together behind 2^53; not called by an actor.
 * If the actor is killed meanwhile, what the kernel has begun goes on without it.
 */
WIO_MUST_CHECK enum wio_status wio_simgrid_write(struct wio_simgrid *disk, uint64_t file,
                                                 int64_t offset, int64_t size,
                                                 struct wio_error *err);
/* A file opened with O_SYNC: the data is on the disk at the end. */
WIO_MUST_CHECK enum wio_status wio_simgrid_write_sync(struct wio_simgrid *disk, uint64_t file,
                                                      int64_t offset, int64_t size,
                                                      struct wio_error *err);
/* O_DIRECT: past the page cache. */
WIO_MUST_CHECK enum wio_status wio_simgrid_write_direct(struct wio_simgrid *disk, uint64_t file,
                                                        int64_t offset, int64_t size,
                                                        struct wio_error *err);
/* From memory as far as it is there, the rest from the disk. */
WIO_MUST_CHECK enum wio_status wio_simgrid_read(struct wio_simgrid *disk, uint64_t file,
                                                int64_t offset, int64_t size,
                                                struct wio_error *err);
/* Until what is dirty of the file is on the disk. */
WIO_MUST_CHECK enum wio_status wio_simgrid_fsync(struct wio_simgrid *disk, uint64_t file,
                                                 struct wio_error *err);
/* Through the buffer of a stdio stream, one for each file; an offset that is not where the stream
 * stands is a fseek. */
WIO_MUST_CHECK enum wio_status wio_simgrid_fwrite(struct wio_simgrid *disk, uint64_t file,
                                                  int64_t offset, int64_t size,
                                                  struct wio_error *err);
/* Also fclose. */
WIO_MUST_CHECK enum wio_status wio_simgrid_fflush(struct wio_simgrid *disk, uint64_t file,
                                                  struct wio_error *err);

/* Bytes in the page cache that are dirty or under write-back, as of the last operation or write of
 * the flusher. Not only for actors: also before and after the simulation. */
double wio_simgrid_dirty_bytes(const struct wio_simgrid *disk);

WIO_END_DECLS
#endif
