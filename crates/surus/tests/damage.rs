//! A damaged edit log under `surus start`: named, left alone, and passed over or given up by the command that
//! the message shows.

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
    let mut asked = recover(&words, &[], "n\n");
    assert!(asked.0 == 1 && asked.1.contains("(Y or N)") && asked.1.contains("aborted"), "{asked:?}");
    asked = recover(&words, &[], "y\nwhat\nq\n");
    assert!(asked.0 == 1 && asked.1.contains("cannot understand") && asked.1.contains("as it was"), "{asked:?}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "the answer was no");

    let other = temporary.path().join("other");
    copy(&dir, &other);
    let elsewhere: Vec<String> =
        words.iter().map(|word| word.replace(&*dir.to_string_lossy(), &other.to_string_lossy())).collect();
    let (code, message) = recover(&elsewhere, &["-force"], "");
    assert!(code == 0 && message.contains("skipping the bad section in the log"), "{code} {message}");
    assert_eq!(left_in(&other), ["/after", "/kept"]);

    asked = recover(&words, &[], "y\ns\n");
    assert!(asked.0 == 0 && asked.1.contains("to stop reading the edit log here"), "{asked:?}");
    assert_eq!(left_in(&dir), ["/kept"]);
}

/// Runs the command with answers; exit code, and what it asked.
fn recover(words: &[String], options: &[&str], answers: &str) -> (i32, String) {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(options.iter().copied()).collect();
    let mut asked = surus(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    asked.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    let (code, out, message) = show(&asked.wait_with_output().unwrap());
    assert_eq!(code == 0, out.contains("The edit log is whole"), "{out}");
    (code, message)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Which of the directories that were made are there after a start.
fn left_in(dir: &Path) -> Vec<&'static str> {
    let mut server = Server::start(dir);
    let client = server.client();
    let left =
        ["/after", "/damaged-name", "/kept"].into_iter().filter(|path| client.file_status(path).is_ok()).collect();
    server.kill();
    server.wait_for_end(Duration::from_secs(1));
    left
}
