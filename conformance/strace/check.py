"""Reads strace output: after each request that holds the method name `mkdirs`, an fdatasync must end before the next
write to the same socket. usage: check.py TRACE EXPECTED"""
import re
import sys

RECV = re.compile(r"(?:recvfrom|read)\((\d+), ?\"(.*)\"")
SEND = re.compile(r"(?:sendto|write|sendmsg|writev)\((\d+),")
waiting, answered, early = {}, 0, 0
unfinished = {}
for line in open(sys.argv[1], errors="replace"):
    pid, _, text = line.rstrip("\n").partition(" ")
    text = text.strip().split(" ", 1)[-1]
    resumed = re.match(r"<\.\.\. (\w+) resumed>(.*)", text)
    if resumed:
        text = unfinished.pop(pid, "") + resumed.group(2)
    elif text.endswith("<unfinished ...>"):
        # A send counts from its beginning, the rest from its end.
        begun = text[: -len("<unfinished ...>")]
        if SEND.match(begun) and int(SEND.match(begun).group(1)) in waiting:
            text = begun
        else:
            unfinished[pid] = begun
            continue
    received, sent = RECV.match(text), SEND.match(text)
    if received and "mkdirs" in received.group(2):
        waiting[int(received.group(1))] = False
    elif re.match(r"f(data)?sync\(\d+ *\) *= 0", text):
        waiting = {fd: True for fd in waiting}
    elif sent and int(sent.group(1)) in waiting:
        synced = waiting.pop(int(sent.group(1)))
        answered += 1
        early += not synced
print(f"{answered} mkdirs answered, {early} of them before their sync")
if early or answered != int(sys.argv[2]):
    sys.exit(f"want {sys.argv[2]} answers and none early")
