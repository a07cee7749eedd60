# SPDX-License-Identifier: Apache-2.0
make_trace empty empty
whyio dump --sort=size empty || echo "exit status $?"
whyio dump --fields=op,path3 empty || echo "exit status $?"
whyio dump --fields=op,op empty || echo "exit status $?"
whyio dump --from=yesterday empty || echo "exit status $?"
whyio dump --from=2 --to=1 empty || echo "exit status $?"
whyio dump --annotate --sort=duration empty || echo "exit status $?"
whyio dump --format=text --fields=op empty || echo "exit status $?"
whyio dump --format=yaml empty || echo "exit status $?"
whyio dump --pid=x empty || echo "exit status $?"
