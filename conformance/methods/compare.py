"""Compares the rows of all calls with the golden ones and writes docs/methods.md. usage: compare.py FOLDER ROWS RESULT AUDIT; see run.sh."""
import difflib
import re
import sys

folder, rows_path, result_path, audit_path = sys.argv[1:]
METHODS = 111


def rows(path):
    lines = [line.split("\t") for line in open(path, encoding="utf-8").read().split("\n")[1:] if line]
    return [(cells[1], cells[2], cells[3], cells[4], cells[5] if len(cells) > 5 else "") for cells in lines]


def excused(want, got):
    """On purpose: the answer may differ, or only in what the entry's last column matches."""
    method, request = want[1:3]
    return any(
        m == method and p.search(request) and (part is None or want[3] == got[3] and part.sub("", want[4]) == part.sub("", got[4]))
        for m, p, part in differs
    )


def listed(name):
    lines = open(f"{folder}/{name}", encoding="utf-8").read().split("\n")
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


golden, ours = rows(f"{folder}/golden.tsv"), rows(rows_path)
if [g[:3] for g in golden] != [o[:3] for o in ours][: len(golden)]:
    print("the rows are not those of golden.tsv: was cases.txt changed? run with --hadoop first")
differs = [(cells[0], re.compile(cells[1]), re.compile(cells[3]) if len(cells) > 3 else None) for cells in listed("differs.txt")]
why = dict((cells[0], cells[1]) for cells in listed("why.txt"))
passed = failed = skipped = 0
methods = {}
with open(result_path, "w", encoding="utf-8") as result:
    for index, want in enumerate(golden):
        got = ours[index] if index < len(ours) else ("", "", "", "no row", "")
        user, method, request = want[:3]
        name = f"{index + 1} {user} {method} {request}"
        stats = methods.setdefault(method, {"equal": 0, "all": 0, "answers": 0, "exceptions": {}})
        stats["all"] += 1
        if got == want:
            passed += 1
            stats["equal"] += 1
            stats["answers"] += want[3] == "-"
            if want[3] != "-":
                stats["exceptions"][want[3]] = stats["exceptions"].get(want[3], 0) + 1
            result.write(f"{name}\tpass\n")
        elif excused(want, got):
            skipped += 1
            result.write(f"{name}\tskip\twant {want[3:]}\tgot {got[3:]}\n")
        else:
            failed += 1
            result.write(f"{name}\tfail\twant {want[3:]}\tgot {got[3:]}\n")
            print(f"FAILED {name}\n   want {' '.join(want[3:])[:300]}\n   got  {' '.join(got[3:])[:300]}")

# The audit log: a line that is missing, too many or different counts as one failure.
audit = [open(path, encoding="utf-8", errors="replace").read().splitlines() for path in (f"{folder}/golden-audit.txt", audit_path)]
audit_differs = [re.compile(pattern) for pattern, *_ in listed("audit-differs.txt")]
audit = [[line for line in lines if not any(p.search(line) for p in audit_differs)] for lines in audit]
for kind, a, b, c, d in difflib.SequenceMatcher(None, *audit, autojunk=False).get_opcodes():
    if kind == "equal":
        passed += b - a
    else:
        failed += max(b - a, d - c)
        print(f"FAILED audit log\n   want {audit[0][a:b]}\n   got  {audit[1][c:d]}")


def state(method, stats):
    if stats["equal"] == 0:
        return "**differs from Hadoop**"
    if stats["answers"] > 0:
        return "works"
    first = max(stats["exceptions"], key=stats["exceptions"].get).split(".")[-1]
    return f"answers {first}, as Hadoop: {why.get(method, 'every request here is refused')}"


client = sorted(m for m in methods if "." not in m)
with open(f"{folder}/../../docs/methods.md", "w", encoding="utf-8") as page:
    page.write("# Methods of the NameNode\n\nMade by `cargo xtask conformance methods`: each method is called with the same good and absurd requests, below every client library,\n")
    page.write("on real Hadoop 3.5.0 (`conformance/methods/golden.tsv`) and on Surus; answer or exception, class and text, must be the same.\n\n")
    page.write(f"## ClientProtocol ({len(client)} of {METHODS} called)\n\n| method | state | equal |\n| --- | --- | --- |\n")
    for method in client:
        page.write(f"| {method} | {state(method, methods[method])} | {methods[method]['equal']}/{methods[method]['all']} |\n")
    page.write("\n## Other protocols\n\n| method | state | equal |\n| --- | --- | --- |\n")
    for method in sorted(m for m in methods if "." in m):
        page.write(f"| {method} | {state(method, methods[method])} | {methods[method]['equal']}/{methods[method]['all']} |\n")
    page.write("\n`nn` NamenodeProtocol, `reconf` ReconfigurationProtocol, `refresh` GenericRefreshProtocol, `acl` RefreshAuthorizationPolicyProtocol, `queue` RefreshCallQueueProtocol,\n")
    page.write("`users` RefreshUserMappingsProtocol, `groups` GetUserMappingsProtocol, `ha` HAServiceProtocol.\n")
    if any(skip for skip in differs):
        page.write("\n## On purpose otherwise\n\n| method | request | why |\n| --- | --- | --- |\n")
        for cells in listed("differs.txt"):
            page.write(f"| {cells[0]} | `{cells[1]}` | {cells[2] if len(cells) > 2 else ''} |\n")
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
