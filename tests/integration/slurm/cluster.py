# SPDX-License-Identifier: Apache-2.0
"""A Slurm of four nodes on this host, for a while. Missing says why there can be none."""
import contextlib
import os
import shutil
import socket
import subprocess
import time

NODES = 4
CONF = """ClusterName=whyio
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/none
CryptoType=crypto/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={scratch}/state
SlurmdSpoolDir={scratch}/spool.%n
TmpFS={scratch}
MessageTimeout=60
SlurmctldPidFile={scratch}/slurmctld.pid
SlurmdPidFile={scratch}/slurmd.%n.pid
SlurmctldLogFile={scratch}/slurmctld.log
SlurmdLogFile={scratch}/slurmd.%n.log
SlurmctldPort={ports[0]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes=node[1-{count}] Default=YES MaxTime=10 State=UP OverSubscribe=FORCE:4
"""
NODE = "NodeName=node{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 State=UNKNOWN"


class Missing(Exception):
    pass


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def wait_until_idle(environment):
    for _ in range(150):
        state = subprocess.run(["sinfo", "--noheader", "--format=%t %D"], env=environment, check=False,
                               capture_output=True, text=True).stdout.split()
        if state == ["idle", str(NODES)]:
            return
        time.sleep(0.2)
    raise Missing(f"the nodes do not come up: {state}")


@contextlib.contextmanager
def cluster(scratch, more=""):
    """The environment in which srun finds the cluster. `more`: lines of its configuration."""
    for program in ("slurmctld", "slurmd", "srun"):
        if shutil.which(program) is None:
            raise Missing(f"{program} is not installed")
    if os.geteuid() != 0:
        raise Missing("slurmd needs root")
    host, ports = socket.gethostname(), free_ports(NODES + 1)
    nodes = "\n".join(NODE.format(number=i, host=host, port=ports[i]) for i in range(1, NODES + 1))
    conf = os.path.join(scratch, "slurm.conf")
    with open(conf, "w", encoding="ascii") as file:
        file.write(CONF.format(host=host, scratch=scratch, ports=ports, nodes=nodes, count=NODES) + more)
    os.mkdir(os.path.join(scratch, "state"))
    # Of another cluster's job with the same number Open MPI would take the memory that ranks share.
    environment = dict(os.environ, SLURM_CONF=conf, OMPI_MCA_btl_vader_backing_directory=scratch)
    commands = [["slurmctld", "-D"]]
    for i in range(1, NODES + 1):
        os.mkdir(os.path.join(scratch, f"spool.node{i}"))
        commands.append(["slurmd", "-D", "-N", f"node{i}"])
    daemons = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for command in commands]
    try:
        wait_until_idle(environment)
        yield environment
    finally:
        for daemon in daemons:
            daemon.terminate()
        for daemon in daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
