//! `surus dfs`: the file system shell, with the commands, options, output, messages and exit codes of Hadoop's FsShell.
//! Source: `FsShell.java`, Hadoop 3.5.0.

mod acl;
mod append_to_file;
mod cat;
mod checksum;
mod copy;
mod copy_commands;
mod count;
mod crc_file;
mod error;
mod find;
mod format;
mod fs;
mod getmerge;
mod help;
mod local;
mod ls;
mod mkdir;
mod permissions;
mod progress;
mod rm;
mod setrep;
mod shell;
mod show;
mod snapshot;
mod stat;
mod text;
mod touch;
mod trash;
mod truncate;
mod uri;
mod usage;
mod usage_commands;
mod xattr;

use error::Result;
use surus_conf::Configuration;

pub use error::ShellError;
pub use fs::{Fs, PathData, list_after};
pub use shell::Shell;
pub use show::minute;
pub use uri::normalize;
pub use usage::COMMANDS;

/// Wrong command line, unknown command: -1, which a shell sees as 255.
const ILLEGAL: i32 = -1;

/// Runs one shell command; returns the exit code.
pub fn run(conf: &Configuration, arguments: &[String]) -> i32 {
    let Some((word, rest)) = arguments.split_first() else {
        eprint!("{}", usage::all());
        return ILLEGAL;
    };
    let name = word.strip_prefix('-').filter(|name| is_known(name));
    let Some(name) = name else {
        eprintln!("{word}: Unknown command");
        if is_known(word) {
            eprintln!("Did you mean -{word}?  This command begins with a dash.");
        }
        eprint!("{}", usage::all());
        return ILLEGAL;
    };
    crate::logging::start_client();
    let mut shell = Shell::new(conf, name);
    let done = execute(&mut shell, name, rest);
    let code = finish(&mut shell, name, done);
    shell.flush();
    code
}

fn finish(shell: &mut Shell<'_>, name: &str, done: Result<()>) -> i32 {
    match done {
        Ok(()) => {}
        Err(ShellError::Illegal(text)) => {
            shell.flush();
            for line in text.lines() {
                eprintln!("-{name}: {line}");
            }
            eprint!("{}", usage::all());
            if let Some(row) = usage::find(name) {
                eprint!("{}", usage::one(row));
            }
            return ILLEGAL;
        }
        Err(error) => {
            shell.errors += 1;
            let message = error.message();
            shell.warn(message.split('\n').next().unwrap_or(""));
        }
    }
    if shell.errors > 0 { 1 } else { shell.exit_code }
}

fn is_known(name: &str) -> bool {
    usage::find(name).is_some() || replacement(name).is_some()
}

/// What a deprecated command tells its users to take instead.
fn replacement(name: &str) -> Option<&'static str> {
    match name {
        "lsr" => Some("ls -R"),
        "dus" => Some("du -s"),
        "rmr" => Some("-rm -r"),
        _ => None,
    }
}

fn execute(shell: &mut Shell<'_>, name: &str, arguments: &[String]) -> Result<()> {
    if let Some(instead) = replacement(name) {
        shell.warn(&format!("DEPRECATED: Please use '{instead}' instead."));
    }
    match name {
        "appendToFile" => append_to_file::run(shell, arguments),
        "cat" => cat::cat(shell, arguments, false),
        "checksum" => checksum::run(shell, arguments),
        "chgrp" => permissions::chown(shell, arguments, true),
        "chmod" => permissions::chmod(shell, arguments),
        "chown" => permissions::chown(shell, arguments, false),
        "concat" => getmerge::concat(shell, arguments),
        "copyFromLocal" | "put" => copy_commands::put(shell, arguments),
        "copyToLocal" | "get" => copy_commands::get(shell, arguments),
        "count" => count::run(shell, arguments),
        "cp" => copy_commands::cp(shell, arguments),
        "createSnapshot" => snapshot::create(shell, arguments),
        "deleteSnapshot" => snapshot::delete(shell, arguments),
        "df" => usage_commands::df(shell, arguments),
        "du" => usage_commands::du(shell, arguments, false),
        "dus" => usage_commands::du(shell, arguments, true),
        "expunge" => rm::expunge(shell, arguments),
        "find" => find::run(shell, arguments),
        "getfacl" => acl::getfacl(shell, arguments),
        "getfattr" => xattr::getfattr(shell, arguments),
        "getmerge" => getmerge::getmerge(shell, arguments),
        "head" => cat::head(shell, arguments),
        "help" => help::help(shell, arguments),
        "ls" => ls::run(shell, arguments, false),
        "lsr" => ls::run(shell, arguments, true),
        "mkdir" => mkdir::run(shell, arguments),
        "moveFromLocal" => copy_commands::move_from_local(shell, arguments),
        "moveToLocal" => copy_commands::move_to_local(shell, arguments),
        "mv" => copy_commands::mv(shell, arguments),
        "renameSnapshot" => snapshot::rename(shell, arguments),
        "rm" => rm::rm(shell, arguments, false),
        "rmdir" => rm::rmdir(shell, arguments),
        "rmr" => rm::rm(shell, arguments, true),
        "setfacl" => acl::setfacl(shell, arguments),
        "setfattr" => xattr::setfattr(shell, arguments),
        "setrep" => setrep::run(shell, arguments),
        "stat" => stat::stat(shell, arguments),
        "tail" => cat::tail(shell, arguments),
        "test" => stat::test(shell, arguments),
        "text" => cat::cat(shell, arguments, true),
        "touch" => touch::touch(shell, arguments),
        "touchz" => touch::touchz(shell, arguments),
        "truncate" => truncate::run(shell, arguments),
        "usage" => help::usage(shell, arguments),
        _ => Err(ShellError::Message("not supported by this version of Surus".into())),
    }
}
