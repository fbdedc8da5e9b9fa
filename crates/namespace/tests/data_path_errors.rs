//! Every answer that a real NameNode gave to the data-path calls in `data/data-path-3.5.0.tsv`: class and text, or result.

use crate::cluster::{BLOCK, Cluster, Outcome};
use surus_namespace::ops::add_block::AddBlock;
use surus_namespace::ops::append::Append;
use surus_namespace::ops::complete::Complete;
use surus_namespace::ops::create::{Create, flag};
use surus_namespace::ops::fsync::Fsync;
use surus_namespace::ops::get_block_locations::GetBlockLocations;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::pipeline::UpdateBlockForPipeline;
use surus_namespace::ops::recover_lease::RecoverLease;
use surus_namespace::ops::set_permission::SetPermission;
use surus_namespace::ops::set_replication::SetReplication;
use surus_namespace::ops::truncate::Truncate;
use surus_types::{Block, FsPermission, HdfsError, InodeId};

const CLIENT: &str = "DFSClient_NONMAPREDUCE_1_1";

/// The tree the cases were recorded on; `/l/open` is being written and has 100 bytes, `/t1` has 5000.
fn fixture() -> Cluster {
    let mut c = Cluster::new(1);
    c.namespace.blocks.config.pool_id = "BP-1".into();
    c.caller.address = "127.0.0.1".into();
    for directory in ["/d", "/home", "/a", "/x", "/l", "/zz"] {
        let request = Mkdirs { src: directory, permission: FsPermission(0o755), unmasked: None, create_parent: true };
        c.run(&request).done();
    }
    for src in ["/d/f", "/d/g", "/home/secret"] {
        c.put(src, 1, &[100]);
    }
    c.run(&SetPermission { src: "/home/secret", permission: FsPermission(0o600) }).done();
    c.put("/t1", 1, &[5000]);
    open(&mut c, "/l/open");
    c.namespace.set_now(c.now_ms);
    c
}

fn open(c: &mut Cluster, src: &str) {
    c.create(src, CLIENT, 1).done();
    let location = c.add_block(src, CLIENT, None).done();
    c.store(0, Block { num_bytes: 100, ..location.block }, surus_namespace::blocks::ReplicaState::Rbw);
    let fsync = Fsync { src, client_name: CLIENT, last_block_length: 100, file_id: InodeId(0) };
    c.run(&fsync).done();
}

/// Paths the table abbreviates.
fn expand(word: &str) -> String {
    match word {
        "/home/{256" => format!("/home/{}", "n".repeat(256)),
        "{8035" => format!("/{}", "abcdefghi/".repeat(804)),
        quoted => quoted.trim_matches('"').to_string(),
    }
}

fn said<R: std::fmt::Debug>(outcome: Outcome<R>, result: impl Fn(R) -> String) -> Result<String, HdfsError> {
    match outcome {
        Outcome::Done(reply) => Ok(result(reply)),
        Outcome::Failed(error) | Outcome::Parked(_, error) => Err(error),
    }
}

fn call(c: &mut Cluster, case: &str, words: &[&str]) -> Result<String, HdfsError> {
    let src = words.get(1).map(|w| expand(w)).unwrap_or_default();
    let src = src.as_str();
    let own = case.starts_with("own lease") || case.starts_with("complete: wrong") || case.ends_with("previous");
    let client = match case {
        "recovery in progress: append" => "third",
        _ if case.starts_with("truncate") => "c",
        _ if own => CLIENT,
        _ => "other",
    };
    let number = |name: &str, default: i64| {
        let at = words.iter().position(|w| *w == name);
        at.and_then(|i| words.get(i + 1)?.parse().ok()).unwrap_or(default)
    };
    let file_id = InodeId(number("fileId", 0) as u64);
    match words[0] {
        "create" => said(create(c, case, words, src, client), |_| "Hdfs".into()),
        "append" => said(c.run(&Append { src, client_name: client, new_block: false }), |_| "org".into()),
        "setReplication" => {
            let replication = words.get(2).and_then(|w| w.parse().ok()).unwrap_or(1);
            said(c.run(&SetReplication { src, replication }), |b| b.to_string())
        }
        "truncate" => {
            let new_length = words.get(2).and_then(|w| w.parse().ok()).unwrap_or(1);
            said(c.run(&Truncate { src, new_length, client_name: client }), |b| b.to_string())
        }
        "recoverLease" => said(c.run(&RecoverLease { src, client_name: client }), |b| b.to_string()),
        "addBlock" => said(
            c.run(&AddBlock {
                src,
                client_name: client,
                previous: None,
                excluded: &[],
                file_id,
                favored: &[],
                flags: 0,
            }),
            |_| "0".into(),
        ),
        "complete" => said(c.run(&Complete { src, client_name: client, last: None, file_id }), |b| b.to_string()),
        "fsync" => said(c.run(&Fsync { src, client_name: client, last_block_length: -1, file_id }), |()| "null".into()),
        "updateBlockForPipeline" => {
            let src = if case.contains("finalized") { "/d/f" } else { "/l/open" };
            let block = c.block_of(src, 0);
            said(c.run(&UpdateBlockForPipeline { block, client_name: client }), |_| "0".into())
        }
        "getBlockLocations" => {
            let numbers: Vec<i64> = words.iter().filter_map(|w| w.parse().ok()).collect();
            let (offset, length) = match numbers[..] {
                [offset] => (offset, 1),
                [offset, length] => (offset, length),
                _ => (0, 1),
            };
            let request = GetBlockLocations { src, offset, length };
            c.namespace.get_block_locations(&c.env(), &request, &mut |_| {}).map(|_| "100".into())
        }
        "getLocatedFileInfo" => {
            let mut found = "null";
            c.namespace.get_located_file_info(
                &c.env(),
                src,
                &mut |s| found = if s.is_some() { "something" } else { "null" },
                &mut |_| {},
            )?;
            Ok(found.into())
        }
        other => panic!("{other}?"),
    }
}

fn create(
    c: &mut Cluster,
    case: &str,
    words: &[&str],
    src: &str,
    client_name: &str,
) -> Outcome<surus_namespace::ops::create::CreateReply> {
    let number = |name: &str, default: u64| {
        let at = words.iter().position(|w| *w == name);
        at.and_then(|i| words.get(i + 1)?.parse().ok()).unwrap_or(default)
    };
    let flags = match words.get(2..) {
        Some(["flag", "OVERWRITE"]) => flag::OVERWRITE,
        Some(["overwrite", ..]) => flag::CREATE | flag::OVERWRITE,
        _ if words.contains(&"SHOULD_REPLICATE") => flag::CREATE | flag::SHOULD_REPLICATE,
        _ => flag::CREATE,
    };
    c.run(&Create {
        src: if words.contains(&"SHOULD_REPLICATE") { "/home/x" } else { src },
        permission: FsPermission(0o644),
        unmasked: None,
        client_name,
        flags,
        create_parent: !case.contains("createParent false"),
        replication: number("replication", 1) as u32,
        block_size: number("blockSize", BLOCK),
        ec_policy_name: if words.contains(&"ecPolicy") { words[words.len() - 1] } else { "" },
        storage_policy: "",
        encryption: None,
    })
}

/// Brings about what the case presupposes.
fn prepare(c: &mut Cluster, case: &str, words: &mut Vec<&'static str>) {
    let defaults = [("create", "/home/sm"), ("setReplication", "/d/f"), ("append", "/d/f"), ("truncate", "/d/f")];
    if case.starts_with("safe mode") {
        c.namespace.blocks.enter_manual_safe_mode();
        let default = defaults.iter().find(|(m, _)| *m == words[0]).map_or("/d/f", |d| d.1);
        words.push(default);
    }
    if case.starts_with("no DataNode") {
        c.observe(surus_namespace::blocks::Observation::DatanodeGone { uuid: "dn-0" });
        if words.len() == 1 {
            words.push("/home/nodn");
        }
        c.create("/home/nodn", "other", 1).done();
    }
    if case.starts_with("recovery in progress") {
        c.run(&RecoverLease { src: "/l/open", client_name: "other" }).done();
    }
    if case.contains("overwrite") || case.contains("lost file") {
        open(c, "/l/open2");
    }
    if case.contains("lost file") {
        // The client has nothing else open.
        c.run(&RecoverLease { src: "/l/open", client_name: "other" }).done();
        c.tick(3_000);
        create(c, "", &["create", "/l/open2", "overwrite"], "/l/open2", "other").done();
    }
    if case.starts_with("truncate in progress") {
        c.run(&Truncate { src: "/t1", new_length: 100, client_name: "c" }).done();
    }
}

#[test]
fn answers_of_a_real_namenode() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("data/data-path-3.5.0.tsv").lines().filter(|l| !l.starts_with('#')) {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let [case, command, class, message] = fields[..] else { panic!("{line}") };
        let mut c = fixture();
        let mut words: Vec<&'static str> = command.split(' ').collect();
        prepare(&mut c, case, &mut words);
        if command.ends_with(" as alice") {
            words.truncate(words.len() - 2);
            c.caller.user = "alice".into();
            c.caller.is_superuser = false;
        }
        let got = match call(&mut c, case, &words) {
            Err(error) => format!("{}\t{}", error.class.java_name(), abbreviate(&c, &error.message)),
            Ok(result) => format!("-\tno exception, result {result}"),
        };
        let expected = format!("{class}\t{}", message.replace("\\n", "\n"));
        let expected = expected.replace("{CLIENT}", CLIENT).replace("(inode {INODE})", "(inode N)");
        let same = match expected.split_once("result org") {
            Some((before, _)) => got.starts_with(before),
            None => expected == got || expected.ends_with("result 0") && got.starts_with("-\t"),
        };
        count += 1;
        if !same {
            wrong.push(format!("{case}: {command}\n  expected {expected}\n  got      {got}"));
        }
    }
    assert!(count > 70, "only {count} cases");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// What differs from run to run, and long names, as the table has them.
fn abbreviate(c: &Cluster, message: &str) -> String {
    let mut text = message.replace(&"n".repeat(256), &format!("{}{{MORE}}", "n".repeat(200)));
    for src in ["/l/open", "/d/f"] {
        let block = c.block_of(src, 0).to_string();
        text = text.replace(&format!("BP-1:{block}"), "{BP}:{BLOCK}").replace(&block, "{BLOCK}");
    }
    if let Some((before, rest)) = text.split_once("(inode ")
        && let Some((_, after)) = rest.split_once(')')
    {
        text = format!("{before}(inode N){after}");
    }
    text
}
