! SPDX-License-Identifier: Apache-2.0
! MPI-IO by Fortran: what io_test.py compares with the system calls that strace has seen.
program io
  use mpi
  implicit none
  integer, parameter :: bytes = 3000
  character :: block(bytes), found(bytes)
  integer :: rank, ranks, file, request, status(MPI_STATUS_SIZE), error
  integer(kind=MPI_OFFSET_KIND) :: own, size

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  own = int(rank, MPI_OFFSET_KIND) * bytes
  block = achar(iachar('a') + rank)

  call MPI_File_open(MPI_COMM_WORLD, 'fortran   ', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file, error)
  call must()
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_File_set_size(file, bytes * int(ranks, MPI_OFFSET_KIND), error)
  call must()
  call MPI_File_write_at(file, own, block, bytes, MPI_CHARACTER, status, error)
  call must()
  call MPI_File_write_at_all(file, own, block, bytes, MPI_CHARACTER, status, error)
  call must()
  call MPI_File_sync(file, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_File_read_at_all(file, own, found, bytes, MPI_CHARACTER, status, error)
  call must()
  call check()
  call MPI_File_iwrite_at(file, own, block, bytes, MPI_CHARACTER, request, error)
  call must()
  call MPI_Wait(request, status, error)
  call MPI_File_iread_at(file, own, found, bytes, MPI_CHARACTER, request, error)
  call must()
  call MPI_Wait(request, status, error)
  call check()
  call MPI_File_get_size(file, size, error)
  call must()
  call MPI_File_close(file, error)
  call must()

  call MPI_File_open(MPI_COMM_WORLD, 'fortran.shared', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file, error)
  call must()
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_File_write_shared(file, block, bytes, MPI_CHARACTER, status, error)
  call must()
  call MPI_File_write_ordered(file, block, bytes, MPI_CHARACTER, status, error)
  call must()
  call MPI_File_close(file, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) then
    call MPI_File_delete('fortran.shared', MPI_INFO_NULL, error)
    call must()
  end if
  call MPI_Finalize(error)

contains

  subroutine must()
    integer :: other
    if (error /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, other)
  end subroutine

  subroutine check()
    integer :: other
    if (any(found /= block)) call MPI_Abort(MPI_COMM_WORLD, 2, other)
    found = ' '
  end subroutine
end program
