# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio dump --fields=t_ns,op,path,args,errno_name --op=open checkpoint
