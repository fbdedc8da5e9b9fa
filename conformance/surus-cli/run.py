#!/usr/bin/env python3
"""Hadoop's own command line cases (testHDFSConf.xml, testAclCLI*.xml, testXAttrConf.xml), played with `surus dfs` and `surus dfsadmin`.

usage: run.py SURUS hdfs://HOST:PORT [FILE.xml ...]     the cases wipe that name space; HADOOP_CONF_DIR names it as the default too
Cases come from Maven's test-sources (`conformance/hadoop.sh get`). Last line: "N passed, N failed, N skipped"; skipped are those in
allowed.txt (case, tab, reason). Exit 0: nothing else failed. The XML's comparators are Hadoop's `org.apache.hadoop.cli.util`.
"""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

PROGRAMS = {"command": "dfs", "dfs-admin-command": "dfsadmin"}
FILES = ["testHDFSConf.xml", "testAclCLI.xml", "testAclCLIWithPosixAclInheritance.xml", "testXAttrConf.xml"]


def words(command):
    """As CommandExecutor splits: at blanks, quotes keep together."""
    out, word, quote, given = [], "", None, False
    for c in command:
        if quote:
            quote, word = (None, word) if c == quote else (quote, word + c)
        elif c in "'\"":
            quote, given = c, True
        elif c == " ":
            if word or given:
                out.append(word)
            word, given = "", False
        else:
            word += c
    return out + [word] if word or given else out


def matches(kind, output, want):
    if kind == "SubstringComparator":
        return want in output
    if kind == "ExactComparator":
        return output == want
    if kind == "ExactLineComparator":
        return any(line == want for line in output.split("\n"))
    if kind == "TokenComparator":
        return all(token.strip() in output for token in want.split(","))
    if kind == "RegexpComparator":
        return any(re.search(want, line) for line in output.split("\n"))
    return re.search(want, output, re.M) is not None


class Player:
    def __init__(self, surus, uri, data):
        self.surus, self.uri, self.data = surus, uri, data

    def expand(self, text):
        pairs = [("NAMENODE", self.uri), ("#LF#", "\n"), ("CLITEST_DATA", "file:" + self.data), ("USERNAME", "root")]
        for name, value in pairs:
            text = text.replace(name, value)
        return text

    def run(self, commands):
        """Output of the last; None where a command is of another tool."""
        output = ""
        for command in commands:
            if command.tag not in PROGRAMS:
                return None
            line = [self.surus, PROGRAMS[command.tag]] + words(self.expand((command.text or "").strip()))
            done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=120)
            output = done.stdout.decode("utf8", "replace")
        return output

    def play(self, case):
        """What was wanted and did not come; None where the case is of another tool."""
        output = self.run(case.find("test-commands"))
        cleanup = case.find("cleanup-commands")
        self.run(cleanup if cleanup is not None else [])
        if output is None:
            return None
        wanted = [(c.find("type").text, self.expand(c.find("expected-output").text or "")) for c in case.find("comparators")]
        return [f"{kind} wants {want!r}, got {output[:300]!r}" for kind, want in wanted if not matches(kind, output, want)]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    peer = os.environ.get("HADOOP_PEER", "/tmp/hadoop-peer")
    data = os.path.join(peer, os.environ.get("HADOOP_VERSION", "3.5.0"), "target/testres")
    player = Player(sys.argv[1], sys.argv[2], data)
    with open(os.path.join(here, "allowed.txt"), encoding="utf8") as lines:
        allowed = {line.split("\t")[0] for line in lines if line.strip() and not line.startswith("#")}
    passed = failed = skipped = 0
    for file in sys.argv[3:] or [os.path.join(data, name) for name in FILES]:
        for number, case in enumerate(ET.parse(file).getroot().iter("test"), 1):
            wrong = player.play(case)
            name = f"{os.path.basename(file).removesuffix('.xml')}#{number}"
            if wrong is None:
                continue
            if not wrong:
                passed += 1
            elif name in allowed:
                skipped += 1
            else:
                failed += 1
                print(f"FAILED {name} {case.find('description').text}\n  {wrong[0]}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
