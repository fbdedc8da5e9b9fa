//! The shell's trash in encryption zones.

use crate::command_line::{show, surus};
use crate::server::{Server, start_command};

/// Keys that `hadoop key create` made.
const KEY_STORE: &str = concat!("jceks://file", env!("CARGO_MANIFEST_DIR"), "/../keys/tests/data/keys.jceks");

#[test]
fn what_is_removed_in_a_zone_stays_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = start_command(&dir.path().join("fs"));
    let provider = format!("hadoop.security.key.provider.path={KEY_STORE}");
    command.args(["-D", &provider, "-D", "fs.trash.interval=60"]);
    let server = Server::start_with(command);
    server.wait_for_safe_mode();
    let run = |words: &[&str]| {
        let fs = format!("fs.defaultFS={}", server.uri);
        let (word, rest) = words.split_first().unwrap();
        let (code, out, err) = show(&surus(&[&[*word, "-D", &fs], rest].concat()).output().unwrap());
        assert_eq!(code, 0, "{words:?}: {out}{err}");
        out
    };
    run(&["dfs", "-mkdir", "/z"]);
    run(&["crypto", "-createZone", "-keyName", "mykey", "-path", "/z"]);
    run(&["dfs", "-touchz", "/z/f", "/g"]);
    run(&["dfs", "-rm", "/z/f", "/g"]);
    let user = server.client().user().to_string();
    let listed = |root: &str| run(&["dfs", "-ls", "-C", root]);
    let (zone, home) = (format!("/z/.Trash/{user}"), format!("/user/{user}/.Trash"));
    assert_eq!(listed(&format!("{zone}/Current/z")), format!("{zone}/Current/z/f\n"));
    assert_eq!(listed(&format!("{home}/Current")), format!("{home}/Current/g\n"));
    // What lies there already is removed for good.
    run(&["dfs", "-rm", &format!("{zone}/Current/z/f")]);
    assert_eq!(listed(&format!("{zone}/Current/z")), "");
    run(&["dfs", "-expunge", "-immediate"]);
    assert_eq!([listed(&zone), listed(&home)], ["", ""]);
    // A zone goes as a whole.
    run(&["dfs", "-rm", "-r", "/z"]);
    assert_eq!(listed(&format!("{home}/Current")), format!("{home}/Current/z\n"));
}
