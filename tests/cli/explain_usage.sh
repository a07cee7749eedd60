# SPDX-License-Identifier: Apache-2.0
whyio explain --fail-over=much nowhere
