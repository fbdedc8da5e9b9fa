//! The one binary: daemons, the file system's command line, and `hdfs` and `hadoop` when it is called by these names.

mod admin;
mod bench;
mod cli;
mod completion;
mod conf_files;
mod daemons;
mod dfs;
mod dfsadmin;
mod exit;
mod fsck;
mod hadoop;
mod httpfs;
mod limits;
mod local_time;
mod logging;
mod oev;
mod offline;
mod oiv;
mod output;

mod signals;
mod start;
mod version;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    limits::allow_huge_pages(false);
    let mut arguments = std::env::args_os().map(|a| a.to_string_lossy().into_owned());
    let called_as = arguments.next().unwrap_or_default();
    let name = called_as.rsplit('/').next().unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    let code = match name {
        _ if arguments.first().is_some_and(|word| word == completion::REQUEST) => {
            completion::run(name, &arguments[1..]);
            exit::OK
        }
        "hdfs" | "hadoop" => hadoop::run(name, &arguments),
        _ => cli::run(&called_as, &arguments),
    };
    ExitCode::from(code)
}
