# SPDX-License-Identifier: Apache-2.0
unset WHYIO_SERVER
! whyio jobstats --timeout=100ms unix:/nowhere/sock
! whyio jobstats @/nowhere/job.store
! whyio jobstats --server=unix:/nowhere/sock nothing
! whyio jobstats unix:/nowhere/sock nothing
! whyio jobstats --clear nothing
whyio jobstats
