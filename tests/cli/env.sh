# SPDX-License-Identifier: Apache-2.0
WHYIO_JOB=17 whyio env --format=json
