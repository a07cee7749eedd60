# SPDX-License-Identifier: Apache-2.0
whyio env --keep=last || echo $?
whyio env --trace=d --keep=last || echo $?
whyio env --trace=d --max-size=1K || echo $?
whyio env --trace=d --syntax=fish || echo $?
whyio env --trace= || echo $?
whyio env --trace=d --format=json || echo $?
