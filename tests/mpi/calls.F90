! SPDX-License-Identifier: Apache-2.0
! All of MPI from Fortran: by mpif.h (-DMPIFH), by use mpi, by use mpi_f08 (-DF08), there with large
! counts too (-DLARGE). What is to be seen goes to DIRECTORY/expected.RANK, as in mpi_case.h: which
! operations on which communicators; what else their events say is tried in C.
#ifdef F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define TYPE_OF type(MPI_Datatype)
#define MESSAGE type(MPI_Message)
#define GROUP type(MPI_Group)
#define WINDOW type(MPI_Win)
#define FILE type(MPI_File)
#define INFO type(MPI_Info)
#define BASE type(c_ptr)
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#else
#define COMM integer
#define REQUEST integer
#define TYPE_OF integer
#define MESSAGE integer
#define GROUP integer
#define WINDOW integer
#define FILE integer
#define INFO integer
#define BASE integer(MPI_ADDRESS_KIND)
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#endif
#ifdef LARGE
#define COUNT integer(MPI_COUNT_KIND)
#define DISPL integer(MPI_ADDRESS_KIND)
#else
#define COUNT integer
#define DISPL integer
#endif
#ifdef F08
#define USE_EXTENSION use mpi_f08_ext
#elif !defined(MPIFH)
#define USE_EXTENSION use mpi_ext
#else
#define USE_EXTENSION
#endif
#ifdef MPIFH
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#else
#ifdef F08
#define USE_MPI use mpi_f08
#else
#define USE_MPI use mpi
#endif
#define INCLUDE_MPI
#endif

module seen
    implicit none
    integer :: rank = 0, next = 0, before = 0
    integer :: unit_of = 20
contains
    subroutine see(line)
        character(len=*), intent(in) :: line
        write (unit_of, '(a)') line
    end subroutine

    subroutine see_times(times, line)
        integer, intent(in) :: times
        character(len=*), intent(in) :: line
        integer :: i
        do i = 1, times
            call see(line)
        end do
    end subroutine

    subroutine must(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        if (.not. condition) then
            write (0, '(a, i2, 2a)') 'rank', rank, ': ', what
            stop 1
        end if
    end subroutine

    function text(number)
        integer, intent(in) :: number
        character(len=12) :: text
        write (text, '(i0)') number
    end function
end module

subroutine messages()
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    COUNT, parameter :: one = 1
    integer :: value, found, error
    REQUEST :: r(2)
    MESSAGE :: m
    STATUS(s)
    STATUSES(ss, 2)
    logical :: flag
    integer, save :: attached(4096) ! for ever
    value = rank
    call MPI_Buffer_attach(attached, 16384, error)
    if (mod(rank, 2) == 0) then
        call see('MPI_Send comm=world 1=' // trim(text(next)) // ' 2=1 3=0 size=4')
        call MPI_Send(value, one, MPI_INTEGER, next, 1, MPI_COMM_WORLD, error)
        call see('MPI_Ssend comm=world 2=1')
        call MPI_Ssend(value, one, MPI_INTEGER, next, 1, MPI_COMM_WORLD, error)
        call see('MPI_Bsend comm=world 2=1')
        call MPI_Bsend(value, one, MPI_INTEGER, next, 1, MPI_COMM_WORLD, error)
        call see('MPI_Barrier comm=world')
        call MPI_Barrier(MPI_COMM_WORLD, error)
        call see('MPI_Rsend comm=world 2=1')
        call MPI_Rsend(value, one, MPI_INTEGER, next, 1, MPI_COMM_WORLD, error)
    else
        call see('MPI_Recv comm=world 1=' // trim(text(before)) // ' 2=1 3=0 result=4')
        call MPI_Recv(found, one, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, s, error)
        call must(found == before, 'MPI_Recv')
        call see_times(2, 'MPI_Recv comm=world 2=1 result=4')
        call MPI_Recv(found, one, MPI_INTEGER, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        call MPI_Recv(found, one, MPI_INTEGER, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        call see('MPI_Irecv comm=world 2=-1 key=in')
        call MPI_Irecv(found, one, MPI_INTEGER, before, MPI_ANY_TAG, MPI_COMM_WORLD, r(1), error)
        call see('MPI_Barrier comm=world')
        call MPI_Barrier(MPI_COMM_WORLD, error)
        call see('MPI_Wait 1=1 2=1')
        call see('mpi_done comm=world 2=1 key=in result=4')
        call MPI_Wait(r(1), MPI_STATUS_IGNORE, error)
    end if
    ! to oneself: sends of all kinds, and all ways to complete them
    call see('MPI_Irecv comm=world key=a')
    call MPI_Irecv(found, one, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, r(1), error)
    call see('MPI_Isend comm=world 2=2 size=4')
    call MPI_Isend(value, one, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, r(2), error)
    call see('MPI_Waitall 1=2 2=2')
    call see('mpi_done comm=world key=a result=4')
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, error)
    call see('MPI_Irecv comm=world key=b')
    call MPI_Irecv(found, one, MPI_INTEGER, before, 3, MPI_COMM_WORLD, r(1), error)
    call see('MPI_Issend comm=world 2=3 key=c')
    call MPI_Issend(value, one, MPI_INTEGER, next, 3, MPI_COMM_WORLD, r(2), error)
    call see('MPI_Testall 1=2 2=2')
    call see('mpi_done comm=world key=b')
    call see('mpi_done comm=world key=c')
    flag = .false.
    do while (.not. flag)
        call MPI_Testall(2, r, flag, ss, error)
    end do
    call see('MPI_Irecv comm=world key=d')
    call MPI_Irecv(found, one, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, r(1), error)
    call see('MPI_Ibsend comm=world 2=4')
    call MPI_Ibsend(value, one, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, r(2), error)
    call finish_some(r, 'd')
    call see('MPI_Irecv comm=world key=e')
    call MPI_Irecv(found, one, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, r(1), error)
    call see('MPI_Irsend comm=world 2=5')
    call MPI_Irsend(value, one, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, r(2), error)
    call finish_any(r, 'e')
    call see('MPI_Sendrecv 1=2 2=2')
    call see('mpi_send comm=world 2=6')
    call see('mpi_recv comm=world 2=6')
    call MPI_Sendrecv(value, one, MPI_INTEGER, next, 6, found, one, MPI_INTEGER, before, 6, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call must(found == before, 'MPI_Sendrecv')
    call see('MPI_Sendrecv_replace 1=2 2=2')
    call see('mpi_send comm=world 2=7')
    call see('mpi_recv comm=world 2=7')
    call MPI_Sendrecv_replace(found, one, MPI_INTEGER, next, 7, before, 7, MPI_COMM_WORLD, s, error)
    call probes(value, found)
    call cancel(found)
#ifdef HAS_MPI4
    call see('MPI_Isendrecv 1=2 2=0')
    call see('mpi_send comm=world 2=8')
    call see('mpi_recv comm=world 2=8 key=f')
    call MPI_Isendrecv(value, one, MPI_INTEGER, next, 8, found, one, MPI_INTEGER, before, 8, &
                       MPI_COMM_WORLD, r(1), error)
    call see('MPI_Wait 1=1 2=1')
    call see('mpi_done comm=world 2=8 key=f')
    call MPI_Wait(r(1), MPI_STATUS_IGNORE, error)
    call see('MPI_Isendrecv_replace 1=2 2=0')
    call see('mpi_send comm=world 2=9')
    call see('mpi_recv comm=world 2=9 key=g')
    call MPI_Isendrecv_replace(found, one, MPI_INTEGER, next, 9, before, 9, MPI_COMM_WORLD, r(1), error)
    call see('MPI_Wait 1=1 2=1')
    call see('mpi_done comm=world 2=9 key=g')
    call MPI_Wait(r(1), MPI_STATUS_IGNORE, error)
#endif
contains
    subroutine finish_some(r, key)
        REQUEST, intent(inout) :: r(2)
        character(len=*), intent(in) :: key
        integer :: done, left, indices(2), i
        STATUSES(ss, 2)
        left = 2
        do while (left > 0)
            if (left == 2) then
                call MPI_Testsome(2, r, done, indices, MPI_STATUSES_IGNORE, error)
                if (done > 0) call see('MPI_Testsome 1=2 2=' // trim(text(done)))
            else
                call MPI_Waitsome(2, r, done, indices, ss, error)
                call see('MPI_Waitsome 1=2 2=' // trim(text(done)))
            end if
            do i = 1, done
                if (indices(i) == 1) call see('mpi_done comm=world key=' // key)
            end do
            left = left - done
        end do
        call MPI_Waitsome(2, r, done, indices, ss, error)
        call see('MPI_Waitsome 1=2 2=0')
    end subroutine

    subroutine finish_any(r, key)
        REQUEST, intent(inout) :: r(2)
        character(len=*), intent(in) :: key
        integer :: at
        logical :: is_received ! MPICH's mpi_f08 gives the index as in C
        call MPI_Waitany(2, r, at, MPI_STATUS_IGNORE, error)
        call see('MPI_Waitany 1=2 2=1')
        is_received = r(1) == MPI_REQUEST_NULL
        if (is_received) call see('mpi_done comm=world key=' // key)
        flag = .false.
        do while (.not. flag)
            call MPI_Testany(2, r, at, flag, s, error)
        end do
        call see('MPI_Testany 1=2 2=1')
        if (.not. is_received) call see('mpi_done comm=world key=' // key)
    end subroutine

    subroutine probes(value, found)
        integer, intent(in) :: value
        integer, intent(inout) :: found
        integer :: i
        do i = 10, 13
            call see('MPI_Isend comm=world')
            call MPI_Isend(value, one, MPI_INTEGER, next, i, MPI_COMM_WORLD, r(1), error)
            call see('MPI_Request_free 1=1 2=0')
            call MPI_Request_free(r(1), error)
        end do
        call see('MPI_Probe comm=world 2=1')
        call MPI_Probe(before, 10, MPI_COMM_WORLD, s, error)
        call see('MPI_Recv comm=world 2=10 result=4')
        call MPI_Recv(found, one, MPI_INTEGER, before, 10, MPI_COMM_WORLD, s, error)
        call see('MPI_Iprobe comm=world 2=1')
        flag = .false.
        do while (.not. flag)
            call MPI_Iprobe(before, 11, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, error)
        end do
        call see('MPI_Recv comm=world 2=11 result=4')
        call MPI_Recv(found, one, MPI_INTEGER, before, 11, MPI_COMM_WORLD, s, error)
        call see('MPI_Mprobe comm=world 2=1')
        call see('mpi_recv comm=world 2=12 result=4')
        call MPI_Mprobe(before, 12, MPI_COMM_WORLD, m, s, error)
        call see('MPI_Mrecv 1=1 2=1')
        call MPI_Mrecv(found, one, MPI_INTEGER, m, s, error)
        call see('MPI_Improbe comm=world 2=1')
        call see('mpi_recv comm=world 2=13 result=4')
        flag = .false.
        do while (.not. flag)
            call MPI_Improbe(before, 13, MPI_COMM_WORLD, flag, m, MPI_STATUS_IGNORE, error)
        end do
        call see('MPI_Imrecv 1=1 2=0')
        call MPI_Imrecv(found, one, MPI_INTEGER, m, r(1), error)
        call see('MPI_Wait 1=1 2=1')
        call MPI_Wait(r(1), s, error)
    end subroutine

    subroutine cancel(found)
        integer, intent(inout) :: found
        call see('MPI_Irecv comm=world 1=-1 2=14 key=never')
        call MPI_Irecv(found, one, MPI_INTEGER, MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, r(1), error)
        call see('MPI_Cancel 1=1 2=0')
        call MPI_Cancel(r(1), error)
        call see('MPI_Request_get_status 1=1 2=1')
        flag = .false.
        do while (.not. flag)
            call MPI_Request_get_status(r(1), flag, s, error)
        end do
        call see('MPI_Test 1=1 2=1')
        call MPI_Test(r(1), flag, s, error)
    end subroutine
end subroutine

subroutine persistent()
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    COUNT, parameter :: one = 1
    integer :: value, found, error, i
    REQUEST :: r(5)
    value = rank
    call MPI_Recv_init(found, one, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, r(1), error)
    call MPI_Send_init(value, one, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, r(2), error)
    call MPI_Ssend_init(value, one, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, r(3), error)
    call MPI_Bsend_init(value, one, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, r(4), error)
    call MPI_Rsend_init(value, one, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, r(5), error)
    do i = 2, 5
        call see('MPI_Start 1=1 2=0')
        call see('mpi_recv comm=world 2=1 key=in' // trim(text(i)))
        call MPI_Start(r(1), error)
        call see('MPI_Startall 1=1 2=0')
        call see(trim(merge('mpi_ssend', 'mpi_send ', i == 3)) // ' comm=world 2=1 key=out' // trim(text(i)))
        call MPI_Startall(1, r(i:i), error)
        call see('MPI_Wait 1=1 2=1')
        if (i == 3) call see('mpi_done comm=world key=out3')
        call MPI_Wait(r(i), MPI_STATUS_IGNORE, error)
        call see('MPI_Wait 1=1 2=1')
        call see('mpi_done comm=world 2=1 key=in' // trim(text(i)))
        call MPI_Wait(r(1), MPI_STATUS_IGNORE, error)
    end do
    do i = 1, 5
        call see('MPI_Request_free 1=1 2=0')
        call MPI_Request_free(r(i), error)
    end do
end subroutine

subroutine wait_for(r, key)
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    REQUEST, intent(inout) :: r
    character(len=*), intent(in) :: key
    integer :: error
    call see('MPI_Wait 1=1 2=1')
    call see('mpi_done comm=world key=' // key)
    call MPI_Wait(r, MPI_STATUS_IGNORE, error)
end subroutine

subroutine collectives()
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    COUNT, parameter :: one = 1
    integer :: out(4), in(4), error
    COUNT :: counts(4)
    DISPL :: displs(4), bytes(4)
    TYPE_OF :: types(4)
    REQUEST :: r
    out = rank
    counts = 1
    displs = [0, 1, 2, 3]
    bytes = [0, 4, 8, 12]
    types = MPI_INTEGER
    call see('MPI_Ibarrier comm=world key=r1')
    call MPI_Ibarrier(MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r1')
    call see('MPI_Bcast comm=world 2=1 size=4')
    call MPI_Bcast(out(1), one, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
    call must(out(1) == 1, 'MPI_Bcast')
    call see('MPI_Ibcast comm=world 2=1 size=4 key=r2')
    call MPI_Ibcast(out(1), one, MPI_INTEGER, 1, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r2')
    out = rank
    call see('MPI_Gather comm=world 2=0 size=4')
    call MPI_Gather(out, one, MPI_INTEGER, in, one, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call must(rank /= 0 .or. in(4) == 3, 'MPI_Gather')
    call see('MPI_Igather comm=world 2=0 size=4 key=r3')
    call MPI_Igather(out, one, MPI_INTEGER, in, one, MPI_INTEGER, 0, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r3')
    call see('MPI_Gatherv comm=world 2=0 size=4')
    call MPI_Gatherv(out, one, MPI_INTEGER, in, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call see('MPI_Igatherv comm=world 2=0 size=4 key=r4')
    call MPI_Igatherv(out, one, MPI_INTEGER, in, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r4')
    call see('MPI_Scatter comm=world 2=0')
    call MPI_Scatter(out, one, MPI_INTEGER, in, one, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call see('MPI_Iscatter comm=world 2=0 key=r5')
    call MPI_Iscatter(out, one, MPI_INTEGER, in, one, MPI_INTEGER, 0, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r5')
    call see('MPI_Scatterv comm=world 2=0')
    call MPI_Scatterv(out, counts, displs, MPI_INTEGER, in, one, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call see('MPI_Iscatterv comm=world 2=0 key=r6')
    call MPI_Iscatterv(out, counts, displs, MPI_INTEGER, in, one, MPI_INTEGER, 0, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r6')
    call see('MPI_Allgather comm=world size=4')
    call MPI_Allgather(out, one, MPI_INTEGER, in, one, MPI_INTEGER, MPI_COMM_WORLD, error)
    call see('MPI_Allgather comm=world size=4')
    call MPI_Allgather(MPI_IN_PLACE, one, MPI_INTEGER, in, one, MPI_INTEGER, MPI_COMM_WORLD, error)
    call must(in(3) == 2, 'MPI_Allgather in place')
    call see('MPI_Iallgather comm=world size=4 key=r7')
    call MPI_Iallgather(out, one, MPI_INTEGER, in, one, MPI_INTEGER, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r7')
    call see('MPI_Allgatherv comm=world size=4')
    call MPI_Allgatherv(out, one, MPI_INTEGER, in, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, error)
    call see('MPI_Iallgatherv comm=world size=4 key=r8')
    call MPI_Iallgatherv(out, one, MPI_INTEGER, in, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r8')
    call see('MPI_Alltoall comm=world size=16')
    call MPI_Alltoall(out, one, MPI_INTEGER, in, one, MPI_INTEGER, MPI_COMM_WORLD, error)
    call see('MPI_Ialltoall comm=world size=16 key=r9')
    call MPI_Ialltoall(out, one, MPI_INTEGER, in, one, MPI_INTEGER, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r9')
    call see('MPI_Alltoallv comm=world size=16')
    call MPI_Alltoallv(out, counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, &
                       MPI_COMM_WORLD, error)
    call see('MPI_Ialltoallv comm=world size=16 key=r10')
    call MPI_Ialltoallv(out, counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, &
                        MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r10')
    call see('MPI_Alltoallw comm=world size=16')
    call MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, error)
    call see('MPI_Ialltoallw comm=world size=16 key=r11')
    call MPI_Ialltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r11')
    call see('MPI_Reduce comm=world 2=3 size=4')
    call MPI_Reduce(out, in, one, MPI_INTEGER, MPI_SUM, 3, MPI_COMM_WORLD, error)
    call must(rank /= 3 .or. in(1) == 6, 'MPI_Reduce')
    call see('MPI_Ireduce comm=world 2=3 size=4 key=r12')
    call MPI_Ireduce(out, in, one, MPI_INTEGER, MPI_SUM, 3, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r12')
    call see('MPI_Allreduce comm=world size=4')
    call MPI_Allreduce(out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call see('MPI_Iallreduce comm=world size=4 key=r13')
    call MPI_Iallreduce(out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r13')
    call see('MPI_Reduce_scatter comm=world size=16')
    call MPI_Reduce_scatter(out, in, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call see('MPI_Ireduce_scatter comm=world size=16 key=r14')
    call MPI_Ireduce_scatter(out, in, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r14')
    call see('MPI_Reduce_scatter_block comm=world size=16')
    call MPI_Reduce_scatter_block(out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call see('MPI_Ireduce_scatter_block comm=world size=16 key=r15')
    call MPI_Ireduce_scatter_block(out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r15')
    call see('MPI_Scan comm=world size=4')
    call MPI_Scan(out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call see('MPI_Iscan comm=world size=4 key=r16')
    call MPI_Iscan(out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r16')
    call see('MPI_Exscan comm=world size=4')
    call MPI_Exscan(out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call see('MPI_Iexscan comm=world size=4 key=r17')
    call MPI_Iexscan(out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, error)
    call wait_for(r, 'r17')
end subroutine

subroutine neighbors()
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    COUNT, parameter :: one = 1
    integer :: out(4), in(4), error
    COUNT :: counts(4)
    DISPL :: displs(4)
    integer(MPI_ADDRESS_KIND) :: bytes(4)
    TYPE_OF :: types(4)
    COMM :: ring
    REQUEST :: r
    integer :: tag
    out = rank
    counts = 1
    displs = [0, 1, 2, 3]
    bytes = [0, 4, 8, 12]
    types = MPI_INTEGER
    tag = -100
    ! MPICH 4.0 wants this kind of topology for MPI_Neighbor_alltoallw
    call see('MPI_Dist_graph_create_adjacent comm=world')
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, [before, next], MPI_UNWEIGHTED, 2, &
                                        [before, next], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., &
                                        ring, error)
    call told('MPI_Neighbor_allgather', 1)
    call MPI_Neighbor_allgather(out, one, MPI_INTEGER, in, one, MPI_INTEGER, ring, error)
    call must(in(1) == before .and. in(2) == next, 'MPI_Neighbor_allgather')
    call told('MPI_Ineighbor_allgather', 0)
    call MPI_Ineighbor_allgather(out, one, MPI_INTEGER, in, one, MPI_INTEGER, ring, r, error)
    call ended()
    call told('MPI_Neighbor_allgatherv', 1)
    call MPI_Neighbor_allgatherv(out, one, MPI_INTEGER, in, counts, displs, MPI_INTEGER, ring, error)
    call told('MPI_Ineighbor_allgatherv', 0)
    call MPI_Ineighbor_allgatherv(out, one, MPI_INTEGER, in, counts, displs, MPI_INTEGER, ring, r, error)
    call ended()
    call told('MPI_Neighbor_alltoall', 1)
    call MPI_Neighbor_alltoall(out, one, MPI_INTEGER, in, one, MPI_INTEGER, ring, error)
    call told('MPI_Ineighbor_alltoall', 0)
    call MPI_Ineighbor_alltoall(out, one, MPI_INTEGER, in, one, MPI_INTEGER, ring, r, error)
    call ended()
    call told('MPI_Neighbor_alltoallv', 1)
    call MPI_Neighbor_alltoallv(out, counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, &
                                ring, error)
    call told('MPI_Ineighbor_alltoallv', 0)
    call MPI_Ineighbor_alltoallv(out, counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, &
                                 ring, r, error)
    call ended()
    call told('MPI_Neighbor_alltoallw', 1)
    call MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, ring, error)
    call told('MPI_Ineighbor_alltoallw', 0)
    call MPI_Ineighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, ring, r, error)
    call ended()
    call see('MPI_Comm_free comm=ring')
    call MPI_Comm_free(ring, error)
contains
    subroutine told(op, completed)
        character(len=*), intent(in) :: op
        integer, intent(in) :: completed
        call see(op // ' comm=ring 2=' // trim(text(completed)))
        call see('mpi_send comm=ring 1=' // trim(text(before)) // ' 2=' // trim(text(tag)))
        call see('mpi_send comm=ring 1=' // trim(text(next)) // ' 2=' // trim(text(tag)))
        call see('mpi_recv comm=ring 1=' // trim(text(before)) // ' 2=' // trim(text(tag)))
        call see('mpi_recv comm=ring 1=' // trim(text(next)) // ' 2=' // trim(text(tag)))
        tag = tag - 1
    end subroutine

    subroutine ended()
        call see('MPI_Wait 1=1 2=1')
        call see_times(2, 'mpi_done comm=ring 2=' // trim(text(tag + 1)))
        call MPI_Wait(r, MPI_STATUS_IGNORE, error)
    end subroutine
end subroutine

subroutine communicators()
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: error
    logical :: yes(1)
    COMM :: c, d, half
    GROUP :: all
    REQUEST :: r
    yes = .true.
    call see('MPI_Comm_dup comm=world')
    call MPI_Comm_dup(MPI_COMM_WORLD, c, error)
    call done('dup')
    call see('MPI_Comm_dup_with_info comm=world')
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, c, error)
    call done('dup-info')
    call see('MPI_Comm_idup comm=world key=idup')
    call MPI_Comm_idup(MPI_COMM_WORLD, c, r, error)
    call wait_for(r, 'idup')
    call done('idup')
    call MPI_Comm_group(MPI_COMM_WORLD, all, error)
    call see('MPI_Comm_create comm=world')
    call MPI_Comm_create(MPI_COMM_WORLD, all, c, error)
    call done('created')
    call see('MPI_Comm_create_group comm=of-group 1=0')
    call MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, c, error)
    call done('of-group')
    call MPI_Group_free(all, error)
    call see('MPI_Comm_split_type comm=world')
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, c, error)
    call done('shared')
    call see('MPI_Comm_split comm=world')
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
    call see('MPI_Intercomm_create comm=bridge 1=0')
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 9, c, error)
    call see('MPI_Intercomm_merge comm=bridge 1=1')
    call MPI_Intercomm_merge(c, mod(rank, 2) == 1, d, error)
    call see('MPI_Comm_disconnect comm=bridge')
    call MPI_Comm_disconnect(c, error)
    c = d
    call done('merged')
    call see('MPI_Comm_free comm=half' // trim(text(mod(rank, 2))))
    call MPI_Comm_free(half, error)
    call see('MPI_Cart_create comm=world')
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [4], yes, .false., d, error)
    call see('MPI_Cart_sub comm=grid')
    call MPI_Cart_sub(d, yes, c, error)
    call done('sub-grid')
    call see('MPI_Comm_free comm=grid')
    call MPI_Comm_free(d, error)
    call see('MPI_Graph_create comm=world')
    call MPI_Graph_create(MPI_COMM_WORLD, 4, [1, 2, 3, 4], [1, 0, 3, 2], .false., c, error)
    call done('graph')
    call see('MPI_Dist_graph_create comm=world')
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [next], MPI_UNWEIGHTED, &
                               MPI_INFO_NULL, .false., c, error)
    call done('distributed')
    call see('MPI_Dist_graph_create_adjacent comm=world')
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], MPI_UNWEIGHTED, 1, [next], &
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., c, error)
    call done('adjacent')
contains
    subroutine done(name)
        character(len=*), intent(in) :: name
        call see('MPI_Barrier comm=' // name)
        call MPI_Barrier(c, error)
        call see('MPI_Comm_free comm=' // name)
        call MPI_Comm_free(c, error)
    end subroutine
end subroutine

subroutine windows()
    use iso_c_binding, only: c_ptr
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, save :: memory(4)
    integer(MPI_ADDRESS_KIND) :: bytes
    BASE :: base
#ifdef LARGE
    integer(MPI_ADDRESS_KIND), parameter :: unit = 4
#else
    integer, parameter :: unit = 4
#endif
    integer :: error
    logical :: flag
    WINDOW :: w
    GROUP :: all, peers
    bytes = 16
    call see('MPI_Win_create comm=world')
    call MPI_Win_create(memory, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, w, error)
    call see('MPI_Win_fence comm=win 1=0')
    call MPI_Win_fence(0, w, error)
    call see('MPI_Win_fence comm=win 1=1')
    call MPI_Win_fence(0, w, error)
    call MPI_Win_get_group(w, all, error)
    if (rank < 2) then
        call MPI_Group_incl(all, 1, [rank + 2], peers, error)
        call see('MPI_Win_start comm=win')
        call MPI_Win_start(peers, 0, w, error)
        call see('MPI_Win_complete comm=win')
        call see('mpi_recv comm=win 1=' // trim(text(rank + 2)) // ' 2=-10')
        call see('mpi_send comm=win 1=' // trim(text(rank + 2)) // ' 2=-11')
        call MPI_Win_complete(w, error)
    else
        call MPI_Group_incl(all, 1, [rank - 2], peers, error)
        call see('MPI_Win_post comm=win')
        call see('mpi_send comm=win 1=' // trim(text(rank - 2)) // ' 2=-10')
        call MPI_Win_post(peers, 0, w, error)
        if (rank == 2) then
            call see('MPI_Win_wait comm=win')
            call MPI_Win_wait(w, error)
        else
            call see('MPI_Win_test comm=win')
            flag = .false.
            do while (.not. flag)
                call MPI_Win_test(w, flag, error)
            end do
        end if
        call see('mpi_recv comm=win 1=' // trim(text(rank - 2)) // ' 2=-11')
    end if
    call MPI_Group_free(peers, error)
    call MPI_Group_free(all, error)
    call see('MPI_Win_lock comm=lock 1=1')
    call MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, w, error)
    call see('MPI_Win_unlock comm=lock')
    call MPI_Win_unlock(2, w, error)
    call see('MPI_Win_lock_all comm=locks')
    call MPI_Win_lock_all(0, w, error)
    call see('MPI_Win_unlock_all comm=locks')
    call MPI_Win_unlock_all(w, error)
    call see('MPI_Win_free comm=win')
    call MPI_Win_free(w, error)
    call see('MPI_Win_allocate comm=world')
    call MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, w, error)
    call see('MPI_Win_free comm=allocated')
    call MPI_Win_free(w, error)
    call see('MPI_Win_allocate_shared comm=world')
    call MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, w, error)
    call see('MPI_Win_free comm=shared-memory')
    call MPI_Win_free(w, error)
    call see('MPI_Win_create_dynamic comm=world')
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, w, error)
    call see('MPI_Win_free comm=empty')
    call MPI_Win_free(w, error)
end subroutine

subroutine files()
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: one = 1 ! MPICH's mpi_f08 knows no large ones
    integer :: value, found, error
    integer(MPI_OFFSET_KIND) :: at, zero, place
    FILE :: f
    INFO :: hints
    REQUEST :: r
    value = rank
    at = rank * 4
    zero = 0
    call see('MPI_File_open comm=world path=mpi.data')
    call MPI_File_open(MPI_COMM_WORLD, 'mpi.data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, error)
    call must(error == MPI_SUCCESS, 'MPI_File_open')
    call see('MPI_File_get_size comm=file path=mpi.data')
    call MPI_File_get_size(f, place, error)
    call see('MPI_File_write_at comm=file size=4 result=4 path=mpi.data')
    call MPI_File_write_at(f, at, value, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call see('MPI_File_read_at comm=file size=4 result=4 offset=' // trim(text(rank * 4)))
    call MPI_File_read_at(f, at, found, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call must(found == rank, 'MPI_File_read_at')
    call see('MPI_File_iwrite_at comm=file key=f1')
    call MPI_File_iwrite_at(f, at, value, one, MPI_INTEGER, r, error)
    call ended('f1')
    call see('MPI_File_iread_at comm=file key=f2')
    call MPI_File_iread_at(f, at, found, one, MPI_INTEGER, r, error)
    call ended('f2')
    call see('MPI_File_write_at_all comm=file')
    call MPI_File_write_at_all(f, at, value, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call see('MPI_File_read_at_all comm=file')
    call MPI_File_read_at_all(f, at, found, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call see('MPI_File_iwrite_at_all comm=file key=f3')
    call MPI_File_iwrite_at_all(f, at, value, one, MPI_INTEGER, r, error)
    call ended('f3')
    call see('MPI_File_iread_at_all comm=file key=f4')
    call MPI_File_iread_at_all(f, at, found, one, MPI_INTEGER, r, error)
    call ended('f4')
    call see('MPI_File_write_at_all_begin comm=file key=f5')
    call MPI_File_write_at_all_begin(f, at, value, one, MPI_INTEGER, error)
    call closed('MPI_File_write_at_all_end', 'f5')
    call MPI_File_write_at_all_end(f, value, MPI_STATUS_IGNORE, error)
    call see('MPI_File_read_at_all_begin comm=file key=f6')
    call MPI_File_read_at_all_begin(f, at, found, one, MPI_INTEGER, error)
    call closed('MPI_File_read_at_all_end', 'f6')
    call MPI_File_read_at_all_end(f, found, MPI_STATUS_IGNORE, error)
    call see('MPI_File_sync comm=file')
    call MPI_File_sync(f, error)
    call see('MPI_File_set_view comm=file')
    call MPI_File_set_view(f, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
    call see('MPI_File_write comm=file')
    call MPI_File_write(f, value, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call back()
    call see('MPI_File_read comm=file result=4')
    call MPI_File_read(f, found, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call back()
    call see('MPI_File_iwrite comm=file key=f7')
    call MPI_File_iwrite(f, value, one, MPI_INTEGER, r, error)
    call ended('f7')
    call back()
    call see('MPI_File_iread comm=file key=f8')
    call MPI_File_iread(f, found, one, MPI_INTEGER, r, error)
    call ended('f8')
    call back()
    call see('MPI_File_write_all comm=file')
    call MPI_File_write_all(f, value, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call back()
    call see('MPI_File_read_all comm=file')
    call MPI_File_read_all(f, found, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call back()
    call see('MPI_File_iwrite_all comm=file key=f9')
    call MPI_File_iwrite_all(f, value, one, MPI_INTEGER, r, error)
    call ended('f9')
    call back()
    call see('MPI_File_iread_all comm=file key=f10')
    call MPI_File_iread_all(f, found, one, MPI_INTEGER, r, error)
    call ended('f10')
    call back()
    call see('MPI_File_write_all_begin comm=file key=f11')
    call MPI_File_write_all_begin(f, value, one, MPI_INTEGER, error)
    call closed('MPI_File_write_all_end', 'f11')
    call MPI_File_write_all_end(f, value, MPI_STATUS_IGNORE, error)
    call back()
    call see('MPI_File_read_all_begin comm=file key=f12')
    call MPI_File_read_all_begin(f, found, one, MPI_INTEGER, error)
    call closed('MPI_File_read_all_end', 'f12')
    call MPI_File_read_all_end(f, found, MPI_STATUS_IGNORE, error)
    call must(found == rank, 'MPI_File_read_all')
    call see('MPI_File_set_view comm=file')
    call MPI_File_set_view(f, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
    call shared()
    call see('MPI_File_set_size comm=file')
    call MPI_File_set_size(f, at * 0 + 64, error)
    call see('MPI_File_preallocate comm=file')
    call MPI_File_preallocate(f, at * 0 + 64, error)
    call see('MPI_File_set_atomicity comm=file')
    call MPI_File_set_atomicity(f, .false., error)
    call MPI_File_get_info(f, hints, error)
    call see('MPI_File_set_info comm=file')
    call MPI_File_set_info(f, hints, error)
    call MPI_Info_free(hints, error)
    call see('MPI_File_close comm=file path=mpi.data')
    call MPI_File_close(f, error)
    if (rank == 0) then
        call see('MPI_File_delete path=mpi.data')
        call MPI_File_delete('mpi.data', MPI_INFO_NULL, error)
    end if
contains
    subroutine ended(key)
        character(len=*), intent(in) :: key
        call see('MPI_Wait 1=1 2=1')
        call see('mpi_done comm=file key=' // key)
        call MPI_Wait(r, MPI_STATUS_IGNORE, error)
    end subroutine

    subroutine closed(op, key)
        character(len=*), intent(in) :: op, key
        call see(op // ' comm=file')
        call see('mpi_done comm=file key=' // key)
    end subroutine

    subroutine back()
        call see('MPI_File_seek comm=file offset=0 path=mpi.data')
        call MPI_File_seek(f, zero, MPI_SEEK_SET, error)
    end subroutine

    subroutine start()
        call see('MPI_Barrier comm=world')
        call MPI_Barrier(MPI_COMM_WORLD, error)
        call see('MPI_File_seek_shared comm=file')
        call MPI_File_seek_shared(f, zero, MPI_SEEK_SET, error)
        call see('MPI_File_get_position_shared comm=file path=mpi.data')
        call MPI_File_get_position_shared(f, place, error)
        call see('MPI_Barrier comm=world')
        call MPI_Barrier(MPI_COMM_WORLD, error)
    end subroutine

    subroutine shared()
        call start()
        call see('MPI_File_write_shared comm=file')
        call MPI_File_write_shared(f, value, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call start()
        call see('MPI_File_read_shared comm=file')
        call MPI_File_read_shared(f, found, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call start()
        call see('MPI_File_iwrite_shared comm=file key=s1')
        call MPI_File_iwrite_shared(f, value, one, MPI_INTEGER, r, error)
        call ended('s1')
        call start()
        call see('MPI_File_iread_shared comm=file key=s2')
        call MPI_File_iread_shared(f, found, one, MPI_INTEGER, r, error)
        call ended('s2')
        call start()
        call see('MPI_File_write_ordered comm=file')
        call MPI_File_write_ordered(f, value, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call start()
        call see('MPI_File_read_ordered comm=file')
        call MPI_File_read_ordered(f, found, one, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call must(found == rank, 'MPI_File_read_ordered')
        call start()
        call see('MPI_File_write_ordered_begin comm=file key=s3')
        call MPI_File_write_ordered_begin(f, value, one, MPI_INTEGER, error)
        call closed('MPI_File_write_ordered_end', 's3')
        call MPI_File_write_ordered_end(f, value, MPI_STATUS_IGNORE, error)
        call start()
        call see('MPI_File_read_ordered_begin comm=file key=s4')
        call MPI_File_read_ordered_begin(f, found, one, MPI_INTEGER, error)
        call closed('MPI_File_read_ordered_end', 's4')
        call MPI_File_read_ordered_end(f, found, MPI_STATUS_IGNORE, error)
    end subroutine
end subroutine

! Collectives that could be started: in MPICH those of MPI-4, in Open MPI an extension.
#ifdef HAS_MPI4
#define PERSISTENT_Barrier_init MPI_Barrier_init
#define PERSISTENT_Bcast_init MPI_Bcast_init
#define PERSISTENT_Gather_init MPI_Gather_init
#define PERSISTENT_Gatherv_init MPI_Gatherv_init
#define PERSISTENT_Scatter_init MPI_Scatter_init
#define PERSISTENT_Scatterv_init MPI_Scatterv_init
#define PERSISTENT_Allgather_init MPI_Allgather_init
#define PERSISTENT_Allgatherv_init MPI_Allgatherv_init
#define PERSISTENT_Alltoall_init MPI_Alltoall_init
#define PERSISTENT_Alltoallv_init MPI_Alltoallv_init
#define PERSISTENT_Alltoallw_init MPI_Alltoallw_init
#define PERSISTENT_Reduce_init MPI_Reduce_init
#define PERSISTENT_Allreduce_init MPI_Allreduce_init
#define PERSISTENT_Reduce_scatter_init MPI_Reduce_scatter_init
#define PERSISTENT_Reduce_scatter_block_init MPI_Reduce_scatter_block_init
#define PERSISTENT_Scan_init MPI_Scan_init
#define PERSISTENT_Exscan_init MPI_Exscan_init
#define PERSISTENT_Neighbor_allgather_init MPI_Neighbor_allgather_init
#define PERSISTENT_Neighbor_allgatherv_init MPI_Neighbor_allgatherv_init
#define PERSISTENT_Neighbor_alltoall_init MPI_Neighbor_alltoall_init
#define PERSISTENT_Neighbor_alltoallv_init MPI_Neighbor_alltoallv_init
#define PERSISTENT_Neighbor_alltoallw_init MPI_Neighbor_alltoallw_init
#else
#define PERSISTENT_Barrier_init MPIX_Barrier_init
#define PERSISTENT_Bcast_init MPIX_Bcast_init
#define PERSISTENT_Gather_init MPIX_Gather_init
#define PERSISTENT_Gatherv_init MPIX_Gatherv_init
#define PERSISTENT_Scatter_init MPIX_Scatter_init
#define PERSISTENT_Scatterv_init MPIX_Scatterv_init
#define PERSISTENT_Allgather_init MPIX_Allgather_init
#define PERSISTENT_Allgatherv_init MPIX_Allgatherv_init
#define PERSISTENT_Alltoall_init MPIX_Alltoall_init
#define PERSISTENT_Alltoallv_init MPIX_Alltoallv_init
#define PERSISTENT_Alltoallw_init MPIX_Alltoallw_init
#define PERSISTENT_Reduce_init MPIX_Reduce_init
#define PERSISTENT_Allreduce_init MPIX_Allreduce_init
#define PERSISTENT_Reduce_scatter_init MPIX_Reduce_scatter_init
#define PERSISTENT_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define PERSISTENT_Scan_init MPIX_Scan_init
#define PERSISTENT_Exscan_init MPIX_Exscan_init
#define PERSISTENT_Neighbor_allgather_init MPIX_Neighbor_allgather_init
#define PERSISTENT_Neighbor_allgatherv_init MPIX_Neighbor_allgatherv_init
#define PERSISTENT_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#define PERSISTENT_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
#define PERSISTENT_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
#endif
subroutine persistent_collectives()
    use seen
    USE_MPI
#ifndef HAS_MPI4
    USE_EXTENSION
#endif
    implicit none
    INCLUDE_MPI
    COUNT, parameter :: one = 1
    integer :: out(4), in(4), error
    COUNT :: counts(4)
    DISPL :: displs(4), bytes(4)
    integer(MPI_ADDRESS_KIND) :: address(4)
    TYPE_OF :: types(4)
    COMM :: ring
    REQUEST :: r
    out = rank
    counts = 1
    displs = [0, 1, 2, 3]
    bytes = [0, 4, 8, 12]
    address = bytes
    types = MPI_INTEGER
    call see('MPI_Barrier_init comm=world')
    call PERSISTENT_Barrier_init( &
        MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Bcast_init comm=world')
    call PERSISTENT_Bcast_init( &
        out, one, MPI_INTEGER, 1, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Gather_init comm=world')
    call PERSISTENT_Gather_init( &
        out, one, MPI_INTEGER, in, one, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Gatherv_init comm=world')
    call PERSISTENT_Gatherv_init( &
        out, one, MPI_INTEGER, in, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Scatter_init comm=world')
    call PERSISTENT_Scatter_init( &
        out, one, MPI_INTEGER, in, one, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Scatterv_init comm=world')
    call PERSISTENT_Scatterv_init( &
        out, counts, displs, MPI_INTEGER, in, one, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Allgather_init comm=world')
    call PERSISTENT_Allgather_init( &
        out, one, MPI_INTEGER, in, one, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Allgatherv_init comm=world')
    call PERSISTENT_Allgatherv_init( &
        out, one, MPI_INTEGER, in, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Alltoall_init comm=world')
    call PERSISTENT_Alltoall_init( &
        out, one, MPI_INTEGER, in, one, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Alltoallv_init comm=world')
    call PERSISTENT_Alltoallv_init( &
        out, counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Alltoallw_init comm=world')
    call PERSISTENT_Alltoallw_init( &
        out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Reduce_init comm=world')
    call PERSISTENT_Reduce_init( &
        out, in, one, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Allreduce_init comm=world')
    call PERSISTENT_Allreduce_init( &
        out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Reduce_scatter_init comm=world')
    call PERSISTENT_Reduce_scatter_init( &
        out, in, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Reduce_scatter_block_init comm=world')
    call PERSISTENT_Reduce_scatter_block_init( &
        out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Scan_init comm=world')
    call PERSISTENT_Scan_init( &
        out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Exscan_init comm=world')
    call PERSISTENT_Exscan_init( &
        out, in, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Dist_graph_create_adjacent comm=world')
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, [before, next], MPI_UNWEIGHTED, 2, &
                                        [before, next], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., &
                                        ring, error)
    call PERSISTENT_Neighbor_allgather_init( &
        out, one, MPI_INTEGER, in, one, MPI_INTEGER, ring, MPI_INFO_NULL, r, error)
    call freed()
    call PERSISTENT_Neighbor_allgatherv_init( &
        out, one, MPI_INTEGER, in, counts, displs, MPI_INTEGER, ring, MPI_INFO_NULL, r, error)
    call freed()
    call PERSISTENT_Neighbor_alltoall_init( &
        out, one, MPI_INTEGER, in, one, MPI_INTEGER, ring, MPI_INFO_NULL, r, error)
    call freed()
    call PERSISTENT_Neighbor_alltoallv_init( &
        out, counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, ring, MPI_INFO_NULL, r, error)
    call freed()
    call PERSISTENT_Neighbor_alltoallw_init( &
        out, counts, address, types, in, counts, address, types, ring, MPI_INFO_NULL, r, error)
    call freed()
    call see('MPI_Comm_free comm=persistent-ring')
    call MPI_Comm_free(ring, error)
contains
    subroutine freed()
        call see('MPI_Request_free 1=1 2=0')
        call MPI_Request_free(r, error)
    end subroutine
end subroutine

! What only some processes do, or libraries can. Only what they can is tried here.
subroutine extras()
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    COMM :: c
    integer :: error, codes(1)
    INFO :: hints(1)
    logical :: never
#ifdef HAS_MPI4
    REQUEST :: r
    GROUP :: all
    integer, save :: values(2)
    integer(MPI_COUNT_KIND), parameter :: one = 1
    call see('MPI_Comm_idup_with_info comm=world key=idup-info')
    call MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, c, r, error)
    call wait_for(r, 'idup-info')
    call see('MPI_Comm_free comm=idup-info')
    call MPI_Comm_free(c, error)
    call MPI_Comm_group(MPI_COMM_WORLD, all, error)
    call see('MPI_Comm_create_from_group comm=from-group 1=0')
    call MPI_Comm_create_from_group(all, 'whyio', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, c, error)
    call MPI_Group_free(all, error)
    call see('MPI_Comm_free comm=from-group 1=1')
    call MPI_Comm_free(c, error)
    call MPI_Psend_init(values, 2, one, MPI_INTEGER, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call see('MPI_Request_free 1=1 2=0')
    call MPI_Request_free(r, error)
    call MPI_Precv_init(values, 2, one, MPI_INTEGER, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r, error)
    call see('MPI_Request_free 1=1 2=0')
    call MPI_Request_free(r, error)
#endif
    ! Jobs that meet are tried in C: dynamic.c. That these names lead there is all that counts.
    never = rank < 0
    hints(1) = MPI_INFO_NULL
    if (never) then
        call MPI_Comm_spawn('none', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, c, codes, error)
        call MPI_Comm_spawn_multiple(1, ['none'], MPI_ARGVS_NULL, [1], hints, 0, MPI_COMM_WORLD, c, &
                                     codes, error)
        call MPI_Comm_accept('none', MPI_INFO_NULL, 0, MPI_COMM_WORLD, c, error)
        call MPI_Comm_connect('none', MPI_INFO_NULL, 0, MPI_COMM_WORLD, c, error)
    end if
end subroutine

program calls
    use seen
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: error, given
    character(len=4096) :: directory, what
    character(len=2) :: number
    call get_command_argument(1, directory)
    call get_command_argument(2, what)
    if (what == 'threads') then
        call MPI_Init_thread(MPI_THREAD_SERIALIZED, given, error)
    else
        call MPI_Init(error)
    end if
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    next = mod(rank + 1, 4)
    before = mod(rank + 3, 4)
    write (number, '(i0)') rank
    open (unit_of, file=trim(directory) // '/expected.' // trim(number))
    if (what == 'threads') then
        call see('MPI_Init_thread comm=world 1=0')
    else
        call see('MPI_Init comm=world 1=0')
        call messages()
        call persistent()
        call collectives()
        call neighbors()
        call communicators()
        call windows()
        call files()
        call persistent_collectives()
        call extras()
    end if
    call see('MPI_Finalize comm=world')
    close (unit_of)
    write (*, '(a, i0, a)') 'rank ', rank, ' is done'
    call MPI_Finalize(error)
end program
