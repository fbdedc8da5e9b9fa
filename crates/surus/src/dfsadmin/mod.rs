//! `surus dfsadmin`: the administrator's commands.

use surus_conf::Configuration;

/// Runs one command; returns the exit code.
pub fn run(_conf: &Configuration, _arguments: &[String]) -> i32 {
    eprintln!("dfsadmin: not in this build");
    255
}
