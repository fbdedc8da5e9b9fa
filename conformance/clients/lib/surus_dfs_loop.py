"""Runs `surus dfs` commands for the FsShell adapter, in the place of FsShellLoop.java and with its protocol: a process a command.
Environment: SURUS, the binary. Input, per command: the number of words, the length of each word, one number a line, then the words' bytes.
Output, per command: a line "STATUS STDOUT_LENGTH STDERR_LENGTH", then both streams' bytes."""
import os, subprocess, sys

source, answer = sys.stdin.buffer, sys.stdout.buffer
while True:
    line = source.readline()
    if not line:
        break
    lengths = [int(source.readline()) for _ in range(int(line))]
    words = [source.read(length) for length in lengths]
    done = subprocess.run([os.environ["SURUS"], "dfs", *words], capture_output=True, stdin=subprocess.DEVNULL)
    answer.write(f"{done.returncode & 255} {len(done.stdout)} {len(done.stderr)}\n".encode() + done.stdout + done.stderr)
    answer.flush()
