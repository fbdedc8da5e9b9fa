//! Every answer that a real NameNode gave to the calls in `data/errors-3.5.0.tsv`: exception class and text, or the result.

use crate::harness::{Harness, caller};
use surus_namespace::edit_op::RenameOptions;
use surus_namespace::ops::concat::Concat;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::rename::{Rename, Rename2};
use surus_namespace::ops::set_owner::SetOwner;
use surus_namespace::ops::set_permission::SetPermission;
use surus_namespace::ops::set_times::SetTimes;
use surus_namespace::{Namespace, NamespaceConfig};
use surus_types::{FsAction, FsPermission, HdfsError};

/// The tree the cases were recorded on.
fn fixture() -> Harness {
    let config = NamespaceConfig { fs_owner: "root".into(), ..NamespaceConfig::default() };
    let mut h = Harness::new(Namespace::new(config));
    let directories: &[(&str, u16)] = &[
        ("/d/sub", 0o755),
        ("/home", 0o777),
        ("/home/private/in", 0o755),
        ("/home/private", 0o700),
        ("/sticky", 0o1777),
        ("/user/alice", 0o755),
        ("/ren/a/b", 0o755),
        ("/ren/full/x", 0o755),
        ("/cc/dir", 0o755),
        ("/l", 0o755),
        ("/x", 0o755),
        // Made by a case that was left out.
        ("/zz", 0o755),
    ];
    for &(path, mode) in directories {
        mkdirs(&mut h, path, mode, true).unwrap();
        h.run(&SetPermission { src: path, permission: FsPermission(mode) }).unwrap();
    }
    let files = ["/d/f", "/d/g", "/sticky/f", "/ren/f", "/ren/g", "/cc/a", "/cc/b", "/other", "/l/open"];
    for path in files {
        h.put_file(path, 0o644, 1_048_576, &[100]);
    }
    h.put_file("/home/secret", 0o600, 1_048_576, &[100]);
    h.put_file("/cc/empty", 0o644, 1_048_576, &[]);
    h.put_file("/cc/bigblock", 0o644, 2_097_152, &[100]);
    h.open("/l/open", "client");
    h.run(&SetOwner { src: "/user/alice", user: Some("alice"), group: None }).unwrap();
    h
}

fn mkdirs(h: &mut Harness, src: &str, mode: u16, create_parent: bool) -> Result<bool, HdfsError> {
    h.run(&Mkdirs { src, permission: FsPermission(mode), unmasked: None, create_parent })
}

/// Paths the table abbreviates.
fn expand(word: &str) -> String {
    match word {
        "/home/{256" => format!("/home/{}", "n".repeat(256)),
        "/home/{128" => format!("/home/{}", "ж".repeat(128)),
        "{8035" => format!("/{}", "abcdefghi/".repeat(804)),
        "{1001" => "/a".repeat(1001),
        quoted => quoted.trim_matches('"').to_string(),
    }
}

/// `result` of the table, for calls that answer something.
fn call(h: &mut Harness, case: &str, words: &[&str]) -> Result<String, HdfsError> {
    let arg = |i: usize| words.get(i).map(|w| expand(w)).unwrap_or_default();
    let (a, b) = (arg(1), arg(2));
    let done = |_| "null".to_string();
    match words[0] {
        "mkdirs" => mkdirs(h, &a, 0o755, !case.contains("createParent false")).map(|b| b.to_string()),
        "delete" => h.run(&Delete { src: &a, recursive: b != "false" }).map(|b| b.to_string()),
        "rename" => {
            let dst = if b.is_empty() || b == "as" { "/home/moved".to_string() } else { b };
            h.run(&Rename { src: &a, dst: &dst }).map(|b| b.to_string())
        }
        "rename2" => {
            let overwrite = words.contains(&"OVERWRITE");
            let options = RenameOptions { overwrite, to_trash: false };
            h.run(&Rename2 { src: &a, dst: &b, options }).map(done)
        }
        "setPermission" => h.run(&SetPermission { src: &a, permission: FsPermission(0o600) }).map(done),
        "setOwner" if b == "group" => {
            let group = arg(3);
            h.run(&SetOwner { src: &a, user: None, group: Some(&group) }).map(done)
        }
        "setOwner" => h.run(&SetOwner { src: &a, user: Some(&b), group: None }).map(done),
        "setTimes" => {
            let time = |i: usize| arg(i).parse().unwrap_or(5);
            let request = SetTimes { src: &a, modification_time: time(2), access_time: time(3) };
            h.run(&request).map(done)
        }
        "concat" if a == "as" => h.run(&Concat { target: "/d/f", sources: &["/d/g"] }).map(done),
        "concat" => {
            let list: Vec<String> = words[2..].iter().map(|w| w.replace(['[', ']', ','], "")).collect();
            let sources: Vec<&str> = list.iter().map(String::as_str).filter(|s| !s.is_empty()).collect();
            h.run(&Concat { target: &a, sources: &sources }).map(done)
        }
        "renewLease" => h.namespace.renew_lease("c", &["x"], 0).map(done),
        "createSymlink" => Err(h.namespace.create_symlink()),
        _ => read(h, words[0], &a, words),
    }
}

fn read(h: &Harness, method: &str, src: &str, words: &[&str]) -> Result<String, HdfsError> {
    let (namespace, env) = (&h.namespace, h.env());
    let something = |found: bool| if found { "something" } else { "null" }.to_string();
    match method {
        "getFileInfo" => namespace.get_file_info(&env, src, |status| something(status.is_some())),
        "getListing" => {
            let after = if words.get(2) == Some(&"after") { words[3].as_bytes() } else { b"" };
            let end = namespace.get_listing(&env, src, after, false, 1000, |_| true)?;
            Ok(something(end.is_some()))
        }
        "getContentSummary" => namespace.get_content_summary(&env, src).map(|_| "something".into()),
        "getQuotaUsage" => namespace.get_quota_usage(&env, src).map(|_| "something".into()),
        "checkAccess" => {
            let action = if words[2] == "WRITE" { FsAction::WRITE } else { FsAction::READ };
            namespace.check_access_of(&env, src, action).map(|()| "null".into())
        }
        "getPreferredBlockSize" => namespace.get_preferred_block_size(&env, src).map(|n| n.to_string()),
        "isFileClosed" => namespace.is_file_closed(&env, src).map(|b| b.to_string()),
        "getEnclosingRoot" => namespace.get_enclosing_root(&env, src),
        "getLinkTarget" => namespace.get_link_target(&env, src).map(|_| "something".into()),
        other => panic!("{other}?"),
    }
}

#[test]
fn answers_of_a_real_namenode() {
    let table = include_str!("data/errors-3.5.0.tsv");
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut h = fixture();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [case, command, class, message] = fields[..] else { panic!("{line}") };
        // The concat cases build on each other; so does nothing else.
        if !command.starts_with("concat") {
            h = fixture();
        }
        let mut words: Vec<&str> = command.split(' ').collect();
        h.caller = if case.ends_with(" as alice") {
            caller("alice", &["alice"], false)
        } else if command.ends_with(" as alice") {
            words.truncate(words.len() - 2);
            if words.len() == 1 {
                words.push("as");
            }
            caller("alice", &["alice"], false)
        } else {
            caller("root", &["root"], true)
        };
        let got = match call(&mut h, case, &words) {
            Err(error) => format!("{}\t{}", error.class.java_name(), abbreviate(&error.message)),
            Ok(result) => format!("-\tno exception, result {result}"),
        };
        let expected = format!("{class}\t{message}");
        let same = match expected.split_once("result Hdfs") {
            Some((before, _)) => got.starts_with(before),
            None => expected == got,
        };
        count += 1;
        if !same {
            wrong.push(format!("{case}: {command}\n  expected {expected}\n  got      {got}"));
        }
    }
    assert!(count > 90, "only {count} cases");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// The table cuts texts with long names.
fn abbreviate(message: &str) -> String {
    message.replace(&"n".repeat(256), &format!("{}{{MORE}}", "n".repeat(200)))
}
