/* SPDX-License-Identifier: Apache-2.0 */
/* A library of files that closes what is left open in MPI_Finalize, as HDF5 and PnetCDF do. */
#include "callback_library.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static char name[200];
static int fd;
static FILE *log_file;

static int at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    char from[220];
    char to[220];
    bool is_good = pwrite(fd, "trailer", 7, 100) == 7 && close(fd) == 0;
    is_good = fprintf(log_file, "end\n") == 4 && fclose(log_file) == 0 && is_good;
    (void)snprintf(from, sizeof(from), "%s.new", name);
    (void)snprintf(to, sizeof(to), "%s.index", name);
    int fresh = open(from, O_CREAT | O_WRONLY, 0600);
    is_good = write(fresh, "index", 5) == 5 && close(fresh) == 0 && is_good;
    return rename(from, to) == 0 && is_good ? MPI_SUCCESS : MPI_ERR_OTHER;
}

bool callback_open(const char *path)
{
    char log_name[220];
    int key;
    (void)snprintf(name, sizeof(name), "%s", path);
    (void)snprintf(log_name, sizeof(log_name), "%s.log", path);
    fd = open(path, O_CREAT | O_RDWR, 0600);
    log_file = fopen(log_name, "w");
    return fd >= 0 && log_file != NULL && fprintf(log_file, "begin\n") == 6 &&
           MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL) == MPI_SUCCESS &&
           MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) == MPI_SUCCESS;
}
