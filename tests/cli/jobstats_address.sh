# SPDX-License-Identifier: Apache-2.0
whyio jobstats unix:/run/whyio.sock
