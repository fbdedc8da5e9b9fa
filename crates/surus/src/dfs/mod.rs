//! `surus dfs`: the file system shell.

use surus_conf::Configuration;

/// Runs one shell command; returns the exit code.
pub fn run(_conf: &Configuration, _arguments: &[String]) -> i32 {
    eprintln!("dfs: not in this build");
    255
}
