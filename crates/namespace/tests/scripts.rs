//! Scripts of calls with their answers: `data/scripts/*.txt`. A line that begins with `=` is the answer to the line above;
//! `UPDATE_GOLDEN=1 cargo test -p surus-namespace scripts` writes what the code answers now; read the diff.

use crate::harness::{Harness, caller};
use std::fmt::Write;
use surus_namespace::edit_op::RenameOptions;
use surus_namespace::edit_op::{CachePool, ErasureCodingPolicyOp};
use surus_namespace::ops::cache::{
    AddCacheDirective, ChangeCachePool, DirectiveInfo, Expiration, ModifyCacheDirective, RemoveCacheDirective,
};
use surus_namespace::ops::change_acl::ChangeAcl;
use surus_namespace::ops::concat::Concat;
use surus_namespace::ops::create::{Create, NewFileKey, flag};
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::encryption_zone::{CreateEncryptionZone, ZoneEntry};
use surus_namespace::ops::erasure_coding::{
    AddErasureCodingPolicies, ChangeErasureCodingPolicy, PolicyChange, SetErasureCodingPolicy, UnsetErasureCodingPolicy,
};
use surus_namespace::ops::get_block_locations::GetBlockLocations;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::remove_xattr::RemoveXAttr;
use surus_namespace::ops::rename::{Rename, Rename2};
use surus_namespace::ops::set_owner::SetOwner;
use surus_namespace::ops::set_permission::SetPermission;
use surus_namespace::ops::set_quota::SetQuota;
use surus_namespace::ops::set_replication::SetReplication;
use surus_namespace::ops::set_storage_policy::SetStoragePolicy;
use surus_namespace::ops::set_times::SetTimes;
use surus_namespace::ops::set_xattr::SetXAttr;
use surus_namespace::ops::snapshot::{AllowSnapshot, CreateSnapshot};
use surus_namespace::tree::XAttrView;
use surus_namespace::{Namespace, NamespaceConfig};
use surus_types::acl::parse_acl_spec;
use surus_types::xattr::{parse_xattr_name, prefixed};
use surus_types::{
    AclChange, ContentSummary, FsAction, FsPermission, HdfsError, InodeId, STORAGE_TYPES, StorageType, XAttr,
};

fn octal(word: &str) -> u16 {
    u16::from_str_radix(word, 8).unwrap()
}

fn call(h: &mut Harness, words: &[&str]) -> Result<String, HdfsError> {
    let done = |()| "ok".to_string();
    match *words {
        ["config", "max-directory-items", n] => h.namespace.config.max_directory_items = n.parse().unwrap(),
        ["config", "max-component-length", n] => h.namespace.config.max_component_length = n.parse().unwrap(),
        ["config", "max-objects", n] => h.namespace.config.max_objects = n.parse().unwrap(),
        ["config", "permissions", on] => h.namespace.config.permissions_enabled = on == "on",
        ["config", "protected", path] => h.namespace.config.protected_directories = vec![path.into()],
        ["config", "protect-subdirectories"] => h.namespace.config.protect_subdirectories = true,
        ["config", "acls", on] => h.namespace.config.acls_enabled = on == "on",
        ["config", "xattrs", on] => h.namespace.config.xattrs_enabled = on == "on",
        ["config", "posix-acl-inheritance", on] => h.namespace.config.posix_acl_inheritance = on == "on",
        ["config", "max-xattrs-per-inode", n] => h.namespace.config.max_xattrs_per_inode = n.parse().unwrap(),
        ["config", "max-xattr-size", n] => h.namespace.config.max_xattr_size = n.parse().unwrap(),
        ["as", user] => h.caller = caller(user, &[user], user == "root"),
        ["as", user, ref groups @ ..] => h.caller = caller(user, groups, false),
        ["time", ms] => h.now_ms = ms.parse().unwrap(),
        ["file", path, mode, ref lengths @ ..] => {
            let lengths: Vec<u64> = lengths.iter().map(|n| n.parse().unwrap()).collect();
            h.put_file(path, octal(mode), 1 << 20, &lengths);
        }
        ["open", path, client] => h.open(path, client),
        ["mkdirs", src, mode] => return mkdirs(h, src, mode, true),
        ["mkdirs", src, mode, unmasked] => {
            let [permission, unmasked] = [mode, unmasked].map(|mode| FsPermission(octal(mode)));
            let request = Mkdirs { src, permission, unmasked: Some(unmasked), create_parent: true };
            return h.run(&request).map(|b| b.to_string());
        }
        ["mkdir", src, mode] => return mkdirs(h, src, mode, false),
        ["delete", src] => return h.run(&Delete { src, recursive: true }).map(|b| b.to_string()),
        ["rmdir", src] => return h.run(&Delete { src, recursive: false }).map(|b| b.to_string()),
        ["rename", src, dst] => return h.run(&Rename { src, dst }).map(|b| b.to_string()),
        ["rename2", src, dst, ref flags @ ..] => {
            let options = RenameOptions { overwrite: flags.contains(&"overwrite"), to_trash: flags.contains(&"trash") };
            return h.run(&Rename2 { src, dst, options }).map(done);
        }
        ["chmod", src, mode] => return h.run(&SetPermission { src, permission: FsPermission(octal(mode)) }).map(done),
        ["chown", src, user] => return h.run(&SetOwner { src, user: Some(user), group: None }).map(done),
        ["chgrp", src, group] => return h.run(&SetOwner { src, user: None, group: Some(group) }).map(done),
        ["touch", src, mtime, atime] => {
            let (modification_time, access_time) = (mtime.parse().unwrap(), atime.parse().unwrap());
            return h.run(&SetTimes { src, modification_time, access_time }).map(done);
        }
        ["concat", target, ref sources @ ..] => return h.run(&Concat { target, sources }).map(done),
        ["quota", src, names, space] => return quota(h, src, names, space, None),
        ["type-quota", src, storage_type, space] => {
            return quota(h, src, "leave", space, StorageType::from_name(storage_type));
        }
        ["policy", src, policy] => {
            return h.run(&SetStoragePolicy { src, policy: (policy != "none").then_some(policy) }).map(done);
        }
        ["ec-set", src, policy] => {
            let policy = (policy != "default").then_some(policy);
            return h.run(&SetErasureCodingPolicy { src, policy }).map(done);
        }
        ["ec-unset", src] => return h.run(&UnsetErasureCodingPolicy { src }).map(done),
        ["ec-enable", name] => return ec_change(h, name, PolicyChange::Enable),
        ["ec-disable", name] => return ec_change(h, name, PolicyChange::Disable),
        ["ec-remove", name] => return ec_change(h, name, PolicyChange::Remove),
        ["ec-add", codec, k, m, cell] => {
            let policy = ErasureCodingPolicyOp {
                codec: codec.into(),
                data_units: k.parse().unwrap(),
                parity_units: m.parse().unwrap(),
                cell_size: cell.parse().unwrap(),
                extra_options: Vec::new(),
            };
            let added = h.run(&AddErasureCodingPolicies { policies: vec![policy] })?;
            return Ok(format!("{added:?}"));
        }
        ["ec-list"] => {
            let all = h.namespace.tree.ec_policies().by_name().into_iter();
            return Ok(all.map(|i| format!("{} {} {} ", i.policy.name, i.policy.id, i.state.name())).collect());
        }
        ["create", src, ec_policy_name, ref rest @ ..] => {
            let flags = flag::CREATE | if rest.contains(&"replicate") { flag::SHOULD_REPLICATE } else { 0 };
            let permission = FsPermission(0o644);
            let request = Create {
                src,
                permission,
                unmasked: None,
                client_name: "c",
                flags,
                create_parent: true,
                replication: 3,
                block_size: if rest.contains(&"small") { 1 << 16 } else { 1 << 20 },
                ec_policy_name: if ec_policy_name == "none" { "" } else { ec_policy_name },
                storage_policy: "",
                encryption: None,
            };
            return h.run(&request).map(|_| "ok".into());
        }
        ["zone", src, info] => return h.run(&CreateEncryptionZone { src, info: info.as_bytes() }).map(done),
        ["snapshot", root, name] => {
            h.run(&AllowSnapshot { root })?;
            return h.run(&CreateSnapshot { root, name, default_name: "" }).map(|_| "ok".into());
        }
        ["create-with-key", src, zone, info] => return create_with_key(h, src, zone, info),
        ["pool", verb, name, ref rest @ ..] => return pool(h, verb, name, rest),
        ["directive", verb, ref rest @ ..] => return directive(h, verb, rest),
        ["cache"] => return Ok(format!("{:?}", h.namespace.cache)),
        ["needed", pool] => return Ok(format!("{:?}", h.namespace.pool_needed(pool, h.now_ms))),
        ["setrep", src, n] => {
            return h.run(&SetReplication { src, replication: n.parse().unwrap() }).map(|b| b.to_string());
        }
        ["setfacl", src, verb, ref spec @ ..] => {
            let spec = parse_acl_spec(spec.first().unwrap_or(&""), verb != "remove").unwrap();
            let change = match verb {
                "modify" => AclChange::Modify(&spec),
                "remove" => AclChange::RemoveEntries(&spec),
                "set" => AclChange::Set(&spec),
                "nodefault" => AclChange::RemoveDefault,
                _ => AclChange::Remove,
            };
            return h.run(&ChangeAcl { src, change }).map(done);
        }
        ["setfattr", src, name, value, flags] => {
            let flags = ["create", "replace"].iter().position(|f| *f == flags).map_or(0, |i| 1 << i);
            let xattr = xattr(name, (value != "-").then(|| value.into()));
            return h.run(&SetXAttr { src, xattr: &xattr, flags }).map(done);
        }
        ["rmfattr", src, name] => return h.run(&RemoveXAttr { src, xattr: &xattr(name, None) }).map(done),
        ["log"] => return Ok(h.log.drain(..).map(|op| format!("\n= {op:?}")).collect()),
        _ => return read(h, words),
    }
    Ok("ok".into())
}

/// `key=value` words.
fn values<'w>(words: &[&'w str], key: &str) -> Option<&'w str> {
    words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

fn pool(h: &mut Harness, verb: &str, name: &str, rest: &[&str]) -> Result<String, HdfsError> {
    let info = CachePool {
        name: name.into(),
        owner: values(rest, "owner").map(Into::into),
        group: values(rest, "group").map(Into::into),
        mode: values(rest, "mode").map(|mode| FsPermission(octal(mode))),
        limit: values(rest, "limit").map(|n| n.parse().unwrap()),
        max_relative_expiry: values(rest, "ttl").map(|n| n.parse().unwrap()),
        default_replication: values(rest, "replication").map(|n| n.parse().unwrap()),
    };
    h.run(&match verb {
        "add" => ChangeCachePool::Add(info),
        "modify" => ChangeCachePool::Modify(info),
        _ => ChangeCachePool::Remove(name),
    })
    .map(|()| "ok".into())
}

fn directive(h: &mut Harness, verb: &str, rest: &[&str]) -> Result<String, HdfsError> {
    let number = |key: &str| values(rest, key).map(|n| n.parse::<i64>().unwrap());
    let info = DirectiveInfo {
        id: number("id"),
        path: values(rest, "path"),
        replication: number("replication").map(|n| n as i32),
        pool: values(rest, "pool"),
        expiration: number("in").map(|millis| Expiration { millis, is_relative: true }),
    };
    let force = rest.contains(&"force");
    match verb {
        "add" => h.run(&AddCacheDirective { info, force }).map(|id| id.to_string()),
        "modify" => h.run(&ModifyCacheDirective { info, force }).map(|()| "ok".into()),
        _ => h.run(&RemoveCacheDirective { id: info.id.unwrap() }).map(|()| "ok".into()),
    }
}

fn ec_change(h: &mut Harness, name: &str, change: PolicyChange) -> Result<String, HdfsError> {
    h.run(&ChangeErasureCodingPolicy { name, change }).map(|()| "ok".into())
}

fn quota(
    h: &mut Harness,
    src: &str,
    names: &str,
    space: &str,
    storage_type: Option<StorageType>,
) -> Result<String, HdfsError> {
    let number = |word: &str| if word == "leave" { i64::MAX } else { word.parse().unwrap() };
    let request = SetQuota { src, namespace_quota: number(names), space_quota: number(space), storage_type };
    h.run(&request).map(|()| "ok".into())
}

fn mkdirs(h: &mut Harness, src: &str, mode: &str, create_parent: bool) -> Result<String, HdfsError> {
    let permission = FsPermission(octal(mode));
    h.run(&Mkdirs { src, permission, unmasked: None, create_parent }).map(|b| b.to_string())
}

fn read(h: &Harness, words: &[&str]) -> Result<String, HdfsError> {
    let (ns, env) = (&h.namespace, h.env());
    match *words {
        ["stat", src] => ns.get_file_info(&env, src, |status| match status {
            None => "null".into(),
            Some(s) => format!(
                "{:?} {} {}:{} {} length {} mtime {} atime {} children {}",
                s.file_type,
                s.permission,
                s.owner,
                s.group,
                s.inode_id.0 as i64,
                s.length,
                s.modification_time_ms,
                s.access_time_ms,
                s.children
            ),
        }),
        ["ec", src] => ns.get_file_info(&env, src, |status| {
            let status = status.unwrap();
            format!("{} flags {} x{}", status.ec_policy.map_or("-", |p| &p.name), status.flags, status.replication)
        }),
        ["ec-shown", src] => ns.get_content_summary(&env, src).map(|s| format!("{:?}", s.ec_policy)),
        ["ls", src] => list(h, src, "", u32::MAX),
        ["ls", src, after, limit] => list(h, src, after.trim_matches('-'), limit.parse().unwrap()),
        ["summary", src] => ns.get_content_summary(&env, src).map(summary),
        ["usage", src] => ns.get_quota_usage(&env, src).map(summary),
        ["access", src, bits] => ns.check_access_of(&env, src, FsAction(bits.parse().unwrap())).map(|()| "ok".into()),
        ["closed", src] => ns.is_file_closed(&env, src).map(|b| b.to_string()),
        ["getfacl", src] => ns.get_acl_status(&env, src).map(|status| {
            let entries: Vec<String> = status.entries.map(|e| e.to_entry().to_string()).collect();
            format!("{} {}:{} {}", status.permission.unwrap(), status.owner, status.group, entries.join(","))
        }),
        ["getfattr", src, ref names @ ..] => {
            let names: Vec<XAttr> = names.iter().map(|name| xattr(name, None)).collect();
            ns.get_xattrs(&env, src, &names).map(|found| {
                let show = |x: &XAttrView<'_>| format!("{}={}", prefixed(x.namespace, x.name), x.value.escape_ascii());
                found.iter().map(show).collect::<Vec<_>>().join(" ")
            })
        }
        ["locations", src] => {
            let request = GetBlockLocations { src, offset: 0, length: 1 };
            ns.check_block_locations(&env, &request).map(|_| "found".into())
        }
        ["zones", after, limit] => {
            let (zones, more) = ns.encryption_zones(InodeId(after.parse().unwrap()), limit.parse().unwrap());
            let zones: Vec<String> = zones.iter().map(zone).collect();
            Ok(format!("{} more: {more}", zones.join(" ")))
        }
        ["zone-of", src] => ns.encryption_zone_of(&env, src).map(|found| found.as_ref().map_or("none".into(), zone)),
        ["encryption", src] => ns.get_file_info(&env, src, |status| {
            let status = status.expect("it exists");
            let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
            let info = status.encryption.map_or("none".into(), |e| format!("{} in {}", text(e.file), text(e.zone)));
            format!("flags {} info {info}", status.flags)
        }),
        ["root-of", src] => ns.get_enclosing_root(&env, src),
        ref other => panic!("{other:?}?"),
    }
}

fn zone(zone: &ZoneEntry) -> String {
    format!("{} {} {}", zone.id, zone.path, zone.info.escape_ascii())
}

fn create_with_key(h: &mut Harness, src: &str, zone: &str, info: &str) -> Result<String, HdfsError> {
    let zone = h.namespace.tree.inode(h.namespace.tree.lookup(zone).unwrap()).id();
    let request = Create {
        src,
        permission: FsPermission(0o644),
        unmasked: None,
        client_name: "c",
        flags: flag::CREATE | flag::OVERWRITE,
        create_parent: true,
        replication: 3,
        block_size: 1 << 20,
        ec_policy_name: "",
        storage_policy: "",
        encryption: Some(NewFileKey { zone, info: info.as_bytes() }),
    };
    h.run(&request).map(|_| "ok".into())
}

fn xattr(name: &str, value: Option<Vec<u8>>) -> XAttr {
    let (namespace, name) = parse_xattr_name(name).unwrap();
    XAttr { namespace, name: name.into(), value }
}

fn list(h: &Harness, src: &str, after: &str, limit: u32) -> Result<String, HdfsError> {
    let mut out = String::new();
    let end = h.namespace.get_listing(&h.env(), src, after.as_bytes(), false, limit, |entry| {
        write!(out, "{} ", if entry.status.name.is_empty() { b"(itself)" } else { entry.status.name }.escape_ascii())
            .unwrap();
        true
    })?;
    Ok(match end {
        None => "null".into(),
        Some(end) => format!("{out}+{}", end.remaining),
    })
}

fn play(script: &str) -> String {
    let config = NamespaceConfig { fs_owner: "root".into(), ..NamespaceConfig::default() };
    let mut h = Harness::new(Namespace::new(config));
    let mut out = String::new();
    for line in script.lines().filter(|line| !line.starts_with('=')) {
        writeln!(out, "{line}").unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() || line.starts_with('#') {
            continue;
        }
        let answer = match call(&mut h, &words) {
            Ok(answer) => answer,
            Err(e) => format!("{}: {}", e.class.simple_name(), e.message),
        };
        if answer != "ok" {
            writeln!(out, "= {}", answer.trim_start_matches("\n= ")).unwrap();
        }
    }
    out
}

#[test]
fn scripts_answer_as_before() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/scripts");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let script = std::fs::read_to_string(&file).unwrap();
        let got = play(&script);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, got).unwrap();
        } else {
            assert_eq!(got, script, "{}", file.display());
        }
    }
}

/// Counts and quotas; types only where they have either.
fn summary(s: ContentSummary) -> String {
    let mut out = format!(
        "length {} files {} directories {} quota {} space {} of {}",
        s.length, s.file_count, s.directory_count, s.quota, s.space_consumed, s.space_quota
    );
    for t in STORAGE_TYPES {
        let (used, quota) = (s.type_consumed.get(t), s.type_quotas.get(t));
        if used != 0 || quota != -1 {
            write!(out, " {} {used} of {quota}", t.name()).unwrap();
        }
    }
    out
}
