# SPDX-License-Identifier: Apache-2.0
whyio calibrate . || echo "$?"
whyio calibrate -o host.json || echo "$?"
whyio calibrate . more -o host.json || echo "$?"
whyio calibrate . -o host.json --max-bytes=much || echo "$?"
whyio calibrate . -o host.json --budget=0 || echo "$?"
whyio calibrate . -o host.json --format=xml || echo "$?"
whyio calibrate nowhere -o host.json || echo "$?"
whyio calibrate . -o nowhere/host.json || echo "$?"
ls
