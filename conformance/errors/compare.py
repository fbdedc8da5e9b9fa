"""Compares rows of error texts with the golden ones. usage: compare.py FOLDER ROWS RESULT; see run.sh."""
import re
import sys

folder, rows_path, result_path = sys.argv[1:]


def rows(path):
    seen, found = {}, {}
    for line in open(path, encoding="utf-8").read().split("\n")[1:]:
        if line:
            cells = line.split("\t")
            key = tuple(cells[:3])
            seen[key] = seen.get(key, 0) + 1
            found[key + (seen[key],)] = cells[3:]
    return found


def listed(name):
    lines = [line for line in open(f"{folder}/{name}", encoding="utf-8").read().split("\n") if line and not line.startswith("#")]
    return [line.split("\t")[0] for line in lines]


golden, ours = rows(f"{folder}/golden.tsv"), rows(rows_path)
later = [re.compile(pattern) for pattern in listed("later.txt")]
differs = set(listed("differs.txt"))
passed = failed = skipped = 0
with open(result_path, "w", encoding="utf-8") as result:
    for key, want in golden.items():
        name = f"{key[0]} [{key[1]}: {key[2]}]"
        got = ours.get(key)
        if got == want:
            passed += 1
            result.write(f"{name}\tpass\n")
        elif key[0] in differs or any(p.search(name) for p in later):
            skipped += 1
            result.write(f"{name}\tskip\n")
        else:
            failed += 1
            result.write(f"{name}\tfail\twant {want}\tgot {got}\n")
            print(f"FAILED {name}\n   want {want}\n   got  {got}")
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
