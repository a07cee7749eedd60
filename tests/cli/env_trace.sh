# SPDX-License-Identifier: Apache-2.0
# Lines for shells and for a TaskProlog; a shell reads them back as they were meant.
export WHYIO_CAPTURE_LIB="$PWD/libwhyio-capture.so" LD_PRELOAD=
: > libwhyio-capture.so
whyio env --trace=/scratch/run.whyio | sed "s,$PWD,HERE,"
whyio env --trace="/scratch/it's mine!" --syntax=csh --max-size=64M --keep=last | sed "s,$PWD,HERE,"
whyio env --trace=run.whyio --syntax=slurm --causal=off --max-size=1G | sed "s,$PWD,HERE,"
eval "$(whyio env --trace="/scratch/it's \$HOME" | grep TRACE)"
printf '%s\n' "$WHYIO_TRACE"
