# SPDX-License-Identifier: Apache-2.0
# By load: goodput, 99th percentile, queue. usage: gnuplot -e "data='FILE'; build='DIR'" admit.gnuplot
names = "fifo as-shipped hint hint-heap drr tbf mclock credit"
set terminal svg size 720,440
set key outside
set logscale x
set xtics (0.5, 1.2, 2, 5, 10)
set xlabel "offered load, x what the server can do"
row(scheme, column) = sprintf("< awk '$1 == \"load\" && $2 == %d {print $3, $%d}' %s", scheme, column, data)
set output build."/admit-goodput.svg"
set ylabel "goodput, share of the server's time"
set yrange [0:1.05]
plot for [i=0:6] row(i, 4) with linespoints title word(names, i + 1)
set autoscale y
set logscale y
set output build."/admit-latency.svg"
set ylabel "99th percentile, ms"
plot for [i=0:6] row(i, 5) with linespoints title word(names, i + 1)
set output build."/admit-queue.svg"
set ylabel "requests in the queue, mean"
plot for [i=0:6] row(i, 6) with linespoints title word(names, i + 1)
