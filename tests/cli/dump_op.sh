# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio dump --op=open,fsync --format=text checkpoint
