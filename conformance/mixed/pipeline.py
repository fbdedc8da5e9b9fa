"""Prints the order of a write pipeline: which DataNode sends to which, from the connections the kernel knows.

usage: pipeline.py PORT=NAME PORT=NAME ...    the data-transfer port and a name of each DataNode
Prints the names, first to last, when all are in one chain; else nothing."""
import os
import sys

ESTABLISHED, LISTEN = "01", "0A"


def sockets():
    """(inode, local port, remote port, state) of every TCP socket over IPv4 or IPv6."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as lines:
            for line in list(lines)[1:]:
                fields = line.split()
                local, remote = (int(fields[i].rsplit(":", 1)[1], 16) for i in (1, 2))
                yield fields[9], local, remote, fields[3]


def owners():
    """Process of each socket, by inode."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                target = os.readlink(f"/proc/{pid}/fd/{fd}")
                if target.startswith("socket:["):
                    found[target[8:-1]] = pid
        except OSError:
            pass  # it ended meanwhile
    return found


def main():
    names = {int(port): name for port, name in (word.split("=") for word in sys.argv[1:])}
    pids, table = owners(), list(sockets())
    node_of = {pids.get(inode): local for inode, local, _, state in table if state == LISTEN and local in names}
    following = {}
    for inode, _, remote, state in table:
        sender = node_of.get(pids.get(inode))
        if state == ESTABLISHED and sender and remote in names and remote != sender:
            following.setdefault(sender, set()).add(remote)
    heads = set(names) - set().union(*following.values()) if following else set()
    if len(heads) != 1 or any(len(to) != 1 for to in following.values()):
        return
    order = [heads.pop()]
    while order[-1] in following and len(order) <= len(names):
        order += following[order[-1]]
    if len(order) == len(names):
        print(*(names[port] for port in order))


main()
