//! `hdfs groups`: the groups of users, as the NameNode sees them.

use surus_conf::Configuration;

/// Runs `groups`; returns the exit code.
pub fn run(_conf: &Configuration, _arguments: &[String]) -> i32 {
    eprintln!("groups: not in this build");
    -1
}
