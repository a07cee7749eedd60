# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
make_trace odd odd
whyio dump --format=text --path=/home/u/missing.conf checkpoint
whyio dump --format=text --path=missing.conf checkpoint
whyio dump --format=text --path='*.conf' checkpoint
whyio dump --path=/home/u/ checkpoint | wc -l
whyio dump --path=/home/u/miss checkpoint | wc -l
whyio dump --format=text --path=/data/b odd
