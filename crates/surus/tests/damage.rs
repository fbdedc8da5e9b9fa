//! A damaged edit log under `surus start`: named, left alone, and given up by the command that the message shows.

use crate::command_line::{show, surus};
use crate::server::{Server, start_command};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use surus_types::FsPermission;

/// The finalized segment that holds `text`, and where.
fn find(dir: &Path, text: &str) -> (PathBuf, Vec<u8>, usize) {
    for entry in std::fs::read_dir(dir.join("name/current")).unwrap() {
        let path = entry.unwrap().path();
        let is_segment = path.file_name().unwrap().to_string_lossy().starts_with("edits_0");
        let bytes = std::fs::read(&path).unwrap();
        if let Some(at) = bytes.windows(text.len()).position(|w| is_segment && w == text.as_bytes()) {
            return (path, bytes, at);
        }
    }
    panic!("{text} is in no finalized segment");
}

/// The command that the message ends in, less its first word.
fn command_shown(message: &str) -> Vec<String> {
    let line = message.lines().find(|line| line.contains("-recover")).unwrap_or_else(|| panic!("no hint: {message}"));
    let (_, command) = line.rsplit_once("surus namenode ").unwrap_or_else(|| panic!("no command: {line}"));
    ["namenode"].into_iter().chain(command.split_whitespace()).map(str::to_owned).collect()
}

#[test]
fn the_message_shows_the_command_that_gives_up_the_damage() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path().join("fs");
    let server = Server::start(&dir);
    server.wait_for_safe_mode();
    for path in ["/kept", "/damaged-name", "/after"] {
        assert!(server.client().mkdirs(path, FsPermission(0o755), false).unwrap());
    }
    assert_eq!(server.terminate(), Some(0));
    let (path, mut bytes, at) = find(&dir, "/damaged-name");
    bytes[at + 3] ^= 1;
    std::fs::write(&path, &bytes).unwrap();

    let (code, _, message) = show(&start_command(&dir).output().unwrap());
    assert_eq!(code, 1, "{message}");
    assert!(message.contains(&path.display().to_string()) && message.contains("is damaged at offset"), "{message}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "nothing was changed");

    let words = command_shown(&message);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut asked = surus(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    asked.stdin.take().unwrap().write_all(b"n\n").unwrap();
    let (code, _, message) = show(&asked.wait_with_output().unwrap());
    assert!(code == 1 && message.contains("(Y or N)") && message.contains("as it was"), "{code} {message}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "the answer was no");

    let forced: Vec<&str> = words.iter().copied().chain(["-force"]).collect();
    let (code, out, message) = show(&surus(&forced).output().unwrap());
    assert!(code == 0 && out.contains("The edit log is whole"), "{code} {out} {message}");

    let mut server = Server::start(&dir);
    let there = |path: &str| server.client().file_status(path).is_ok();
    assert_eq!([there("/kept"), there("/damaged-name"), there("/after")], [true, false, false]);
    server.kill();
    server.wait_for_end(Duration::from_secs(1));
}
