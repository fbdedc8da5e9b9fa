#!/usr/bin/env python3
"""Random calls over WebHDFS to a real NameNode and to Surus; every answer must be the same, but for times and inode ids.

usage: compare.py REAL_HOST:PORT SURUS_HOST:PORT [--seed N] [--seeds N] [--steps N] [--kind names|data|attributes]

Both run with dfs.namenode.fs-limits.min-block-size=0 and dfs.replication=1, root as their user, and a DataNode each.
`names`: mkdirs, create, rename, delete, attributes, listings, summaries, by three users, with odd paths among them.
`attributes`: ACLs, default ACLs, extended attributes, and who may then do what, by three users, also below /.reserved/raw.
`data`: small files with many blocks: create, append, truncate, concat, read. Everything is deleted first.
Answers that differ on purpose: known().
"""
import argparse
import http.client
import json
import random
import sys
import time
import urllib.parse

CONNECTIONS = {}
USERS = ["root", "root", "alice", "alice", "bob"]
NAMES = ["a", "b", "c", "é", "d1"]


def known(step, real):
    """Differences we keep. A real NameNode throws NullPointerException when / is renamed onto a directory."""
    return step["path"] == "/" and "NullPointerException" in real[1]


def call(server, method, path, query, user, body=None):
    url = "/webhdfs/v1" + urllib.parse.quote(path) + "?" + urllib.parse.urlencode(query + [("user.name", user)])
    for attempt in range(2):
        connection = CONNECTIONS.get(server)
        if connection is None:
            host, port = server.split(":")
            connection = CONNECTIONS[server] = http.client.HTTPConnection(host, int(port), timeout=30)
        try:
            connection.request(method, url)
            response = connection.getresponse()
            text = response.read().decode("utf8", "replace")
            break
        except (OSError, http.client.HTTPException) as error:
            CONNECTIONS.pop(server, None)
            if attempt:
                return -1, str(error)
    if response.status != 307 or body is None:
        return normal(response.status, text)
    location = urllib.parse.urlparse(response.getheader("Location"))
    data = http.client.HTTPConnection(location.hostname, location.port, timeout=30)
    data.request(method, location.path + "?" + location.query, body)
    response = data.getresponse()
    text = response.read().decode("utf8", "replace")
    data.close()
    return normal(response.status, text)


def normal(status, text):
    try:
        value = json.loads(text)
    except ValueError:
        return status, text[:4000]
    if isinstance(value, dict) and "RemoteException" in value:
        remote = value["RemoteException"]
        # A DataNode passes on the stack trace of the NameNode.
        value = [remote["exception"], (remote.get("message") or "").split("\n\tat ")[0]]
    return status, json.dumps(blur(value), sort_keys=True, ensure_ascii=False)


def blur(value):
    if isinstance(value, list):
        return [blur(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        is_time = key in ("modificationTime", "accessTime") and (item > 10**12 or item == 0)
        out[key] = "T" if is_time else "I" if key in ("fileId", "Location") else blur(item)
    return out


def odd_path(rnd, path):
    odd = {
        0.02: path + "/",
        0.03: path.replace("/t/", "/t//"),
        0.04: "/t",
        0.05: "/",
        0.06: "/.reserved",
        0.07: "/.reserved/raw" + path,
        0.08: path + "/.snapshot",
        0.085: "/.reserved/.inodes/16385/" + path[1:],
        0.09: path + "/..",
        0.095: path + "/x:y",
        0.10: "/.reserved/.inodes",
        0.105: "/.snapshot/x",
    }
    x = rnd.random()
    return next((value for limit, value in odd.items() if x < limit), path)


def names_path(rnd):
    return odd_path(rnd, "/t/" + "/".join(rnd.choice(NAMES) for _ in range(rnd.randint(1, 4))))


def names_step(rnd):
    kinds = "mkdirs create delete rename rename2 chmod chown times status list summary quota access".split()
    kind = rnd.choices(kinds, [8, 8, 3, 6, 6, 3, 3, 2, 6, 4, 3, 2, 2])[0]
    path, mode, user = names_path(rnd), rnd.choice(["755", "777", "700", "0", "1777", "644", "711"]), rnd.choice(USERS)
    if kind in ("mkdirs", "create"):
        # A real NameNode keeps the parents it made before it refuses the last name; Surus makes all or nothing. A
        # DataNode of 3.5.0 hides the exception's class for /.reserved.
        path = path.replace("/.snapshot", "")
        path = "/t/a" if path in ("", "/.reserved") else path
    owner = rnd.choice([[("owner", "alice")], [("group", "g")], [("owner", "bob"), ("group", "alice")], [("owner", "root")]])
    table = {
        "mkdirs": ("PUT", [("op", "MKDIRS"), ("permission", mode)]),
        "create": ("PUT", [("op", "CREATE"), ("overwrite", rnd.choice(["true", "false"])), ("permission", "644")]),
        "delete": ("DELETE", [("op", "DELETE"), ("recursive", rnd.choice(["true", "false"]))]),
        "rename": ("PUT", [("op", "RENAME"), ("destination", names_path(rnd))]),
        "rename2": (
            "PUT",
            [("op", "RENAME"), ("destination", names_path(rnd)), ("renameoptions", rnd.choice(["NONE", "OVERWRITE"]))],
        ),
        "chmod": ("PUT", [("op", "SETPERMISSION"), ("permission", mode)]),
        "chown": ("PUT", [("op", "SETOWNER")] + owner),
        "times": ("PUT", [("op", "SETTIMES"), ("modificationtime", rnd.choice(["-1", "5"])), ("accesstime", "7")]),
        "status": ("GET", [("op", "GETFILESTATUS")]),
        "list": ("GET", [("op", "LISTSTATUS")]),
        "summary": ("GET", [("op", "GETCONTENTSUMMARY")]),
        "quota": ("GET", [("op", "GETQUOTAUSAGE")]),
        "access": ("GET", [("op", "CHECKACCESS"), ("fsaction", rnd.choice(["r--", "rwx", "-w-", "--x"]))]),
    }
    method, query = table[kind]
    return dict(method=method, path=path, query=query, user=user, body=b"" if kind == "create" else None)


def acl_spec(rnd, permissions):
    words = []
    for _ in range(rnd.randint(1, 4)):
        scope = rnd.choice(["", "", "default:"])
        kind = rnd.choice(["user", "group", "mask", "other"])
        name = rnd.choice(["", "alice", "bob"]) if kind in ("user", "group") else rnd.choice(["", "", "", "", "bob"])
        letters = "".join(rnd.choice([c, "-"]) for c in "rwx") if permissions and rnd.random() < 0.97 else ""
        words.append(f"{scope}{kind}:{name}:{letters}")
    return ",".join(words)


XATTRS = ["user.a", "user.b", "user.B", "USER.a", "trusted.a", "security.a", "system.a", "raw.a", "user.", "nope.a", "security.hdfs.unreadable.by.superuser"]


def attributes_step(rnd):
    path = "/t/" + "/".join(rnd.choice("ab") for _ in range(rnd.randint(1, 3)))
    x = rnd.random()
    path = "/.reserved/raw" + path if x < 0.06 else "/.reserved/.inodes/16385" + path if x < 0.1 else path
    path = rnd.choice(["/t", "/t", "/.reserved/.inodes/16385", "/.reserved/raw", "/.reserved", "/"]) if x > 0.93 else path
    kinds = "mkdirs create delete rename chmod chown status list access modify set remove nodefault noacl getacl setx removex getx listx open".split()
    kind = rnd.choices(kinds, [8, 5, 1, 3, 3, 2, 6, 3, 4, 10, 5, 4, 1, 1, 6, 8, 2, 5, 3, 3])[0]
    mode, name = rnd.choice(["755", "777", "700", "1777", "640", "27"]), rnd.choice(XATTRS)
    unmasked = rnd.choice([[], [("unmaskedpermission", rnd.choice(["777", "666", "700"]))]])
    base = "user::rwx,group::r-x,other::" + rnd.choice(["r-x", "---"])
    spec = rnd.choice([acl_spec(rnd, True), base, base + "," + acl_spec(rnd, True), base])
    value = [("xattr.value", rnd.choice(["0x00ff", "0sYWI=", '"v"', "plain", "0x1", "v" * 1100]))] if rnd.random() < 0.8 else []
    flag = [("flag", rnd.choice(["CREATE", "REPLACE", "CREATE,REPLACE"]))] if rnd.random() < 0.95 else []
    names = [("xattr.name", rnd.choice(XATTRS)) for _ in range(rnd.choice([0, 0, 1, 2]))]
    table = {
        "mkdirs": ("PUT", [("op", "MKDIRS"), ("permission", mode)] + unmasked),
        "create": ("PUT", [("op", "CREATE"), ("overwrite", "true"), ("permission", mode)] + unmasked),
        "delete": ("DELETE", [("op", "DELETE"), ("recursive", "true")]),
        "rename": ("PUT", [("op", "RENAME"), ("destination", "/t/" + rnd.choice(["a", "b", "a/b"]))]),
        "chmod": ("PUT", [("op", "SETPERMISSION"), ("permission", mode)]),
        "chown": ("PUT", [("op", "SETOWNER"), ("owner", rnd.choice(["alice", "bob", "root"]))]),
        "status": ("GET", [("op", "GETFILESTATUS")]),
        "list": ("GET", [("op", "LISTSTATUS")]),
        "access": ("GET", [("op", "CHECKACCESS"), ("fsaction", rnd.choice(["r--", "rwx", "-w-", "--x"]))]),
        "modify": ("PUT", [("op", "MODIFYACLENTRIES"), ("aclspec", acl_spec(rnd, True))]),
        "set": ("PUT", [("op", "SETACL"), ("aclspec", spec)]),
        "remove": ("PUT", [("op", "REMOVEACLENTRIES"), ("aclspec", acl_spec(rnd, rnd.random() < 0.05))]),
        "nodefault": ("PUT", [("op", "REMOVEDEFAULTACL")]),
        "noacl": ("PUT", [("op", "REMOVEACL")]),
        "getacl": ("GET", [("op", "GETACLSTATUS")]),
        "setx": ("PUT", [("op", "SETXATTR"), ("xattr.name", name)] + value + flag),
        "removex": ("PUT", [("op", "REMOVEXATTR"), ("xattr.name", name)]),
        "getx": ("GET", [("op", "GETXATTRS"), ("encoding", rnd.choice(["text", "hex", "BASE64"]))] + names),
        "listx": ("GET", [("op", "LISTXATTRS")]),
        "open": ("GET", [("op", "GETFILECHECKSUM")]),
    }
    method, query = table[kind]
    body = b"" if kind == "create" else None
    if kind == "open":
        # Whether the redirect comes, not where it leads.
        query = [("op", "OPEN"), ("noredirect", "true")]
    return dict(method=method, path=path, query=query, user=rnd.choice(USERS), body=body)


def data_path(rnd):
    return "/t/" + rnd.choice("xy") + "/" + rnd.choice("abcd")


def data_step(rnd):
    kind = rnd.choice("create create append append truncate concat setrep status summary list open delete rename mkdirs".split())
    path, body = data_path(rnd), bytes([rnd.randrange(256)]) * rnd.choice([0, 1, 100, 511, 512, 1000, 1024, 1500, 3000])
    sources = ",".join(data_path(rnd) for _ in range(rnd.randint(1, 2)))
    block_size = rnd.choice(["512", "1024", "2048"])
    flags = [("overwrite", rnd.choice(["true", "false"])), ("blocksize", block_size), ("replication", "1")]
    part = rnd.choice([[], [("offset", "500")], [("offset", "100"), ("length", "700")], [("offset", "99999")]])
    table = {
        "create": ("PUT", path, [("op", "CREATE")] + flags, body),
        "append": ("POST", path, [("op", "APPEND")], body),
        "truncate": ("POST", path, [("op", "TRUNCATE"), ("newlength", rnd.choice(["0", "512", "1024", "100", "5000"]))], None),
        "concat": ("POST", path, [("op", "CONCAT"), ("sources", sources)], None),
        "setrep": ("PUT", path, [("op", "SETREPLICATION"), ("replication", rnd.choice(["1", "2", "0", "600"]))], None),
        "status": ("GET", path, [("op", "GETFILESTATUS")], None),
        "summary": ("GET", rnd.choice([path, "/t", "/t/x"]), [("op", "GETCONTENTSUMMARY")], None),
        "list": ("GET", "/t/x", [("op", "LISTSTATUS")], None),
        "open": ("GET", path, [("op", "OPEN")] + part, b""),
        "delete": ("DELETE", path, [("op", "DELETE")], None),
        "rename": ("PUT", path, [("op", "RENAME"), ("destination", data_path(rnd))], None),
        "mkdirs": ("PUT", rnd.choice(["/t/x", "/t/y"]), [("op", "MKDIRS")], None),
    }
    method, path, query, body = table[kind]
    return dict(method=method, path=path, query=query, user=rnd.choice(["root", "root", "root", "alice"]), body=body)


def prepare(server, kind, seed):
    listing = json.loads(call(server, "GET", "/", [("op", "LISTSTATUS")], "root")[1])
    for status in listing["FileStatuses"]["FileStatus"]:
        call(server, "DELETE", "/" + status["pathSuffix"], [("op", "DELETE"), ("recursive", "true")], "root")
    call(server, "PUT", "/", [("op", "SETPERMISSION"), ("permission", "755")], "root")
    call(server, "PUT", "/", [("op", "SETOWNER"), ("owner", "root"), ("group", "supergroup")], "root")
    for path in ("/t", "/t/x", "/t/y") if kind == "data" else ("/t",):
        call(server, "PUT", path, [("op", "MKDIRS"), ("permission", "755")], "root")
    if kind != "data":
        mode = "1777" if seed % 2 else "777"
        call(server, "PUT", "/t", [("op", "SETPERMISSION"), ("permission", mode)], "root")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("real")
    parser.add_argument("surus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--kind", choices=["names", "data", "attributes"], default="names")
    options = parser.parse_args()
    differences = 0
    for seed in range(options.seed, options.seed + options.seeds):
        rnd = random.Random(seed)
        for server in (options.real, options.surus):
            prepare(server, options.kind, seed)
        for number in range(options.steps):
            step = {"names": names_step, "data": data_step, "attributes": attributes_step}[options.kind](rnd)
            real, surus = (call(server, **step) for server in (options.real, options.surus))
            if step["query"][0][1] == "TRUNCATE" and '"boolean": false' in real[1]:
                # The last block is recovered by the DataNodes; until then both answer by their own clocks.
                time.sleep(4)
            if real != surus and not known(step, real):
                differences += 1
                shown = {key: value for key, value in step.items() if key != "body"}
                print(f"seed {seed} step {number}: {shown}\n  real  {real[0]} {real[1][:600]}\n  surus {surus[0]} {surus[1][:600]}")
    print(f"{differences} of {options.seeds * options.steps} answers differ")
    sys.exit(differences > 0)


if __name__ == "__main__":
    main()
