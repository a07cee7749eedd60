# SPDX-License-Identifier: Apache-2.0
whyio jobstats --format=xml nothing
