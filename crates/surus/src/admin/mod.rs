//! The administrator's tools for single features, with the output and exit codes of Hadoop's. What they share: commands
//! with dashes, options with values, exit 1 for a wrong command line and 2 for a call that failed.
//! Source: `AdminHelper.java`, Hadoop 3.5.0.

pub mod cacheadmin;
pub mod crypto;
pub mod ec;
pub mod snapshots;
pub mod storagepolicies;

use crate::dfs::{Fs, Shell};
use surus_client::{ClientError, DfsClient};
use surus_conf::Configuration;

pub const USAGE: i32 = 1;
pub const FAILED: i32 = 2;

/// One command of a tool: name with dash, options, a sentence.
pub type Row = (&'static str, &'static str, &'static str);

/// A tool's name and commands.
pub struct Tool {
    pub name: &'static str,
    pub commands: &'static [Row],
}

impl Tool {
    /// `[-command <options>]`.
    fn short(row: &Row) -> String {
        if row.1.is_empty() { format!("[{}]", row.0) } else { format!("[{} {}]", row.0, row.1) }
    }

    pub fn usage(&self) -> String {
        let mut out = format!("Usage: bin/hdfs {} [COMMAND]\n", self.name);
        for row in self.commands {
            out += &format!("          {}\n", Self::short(row));
        }
        out + "\n"
    }

    /// What is said of one command where its options are wrong.
    pub fn long(&self, name: &str) -> String {
        match self.commands.iter().find(|row| row.0 == name) {
            Some(row) => format!("{}\n{}\n", Self::short(row), row.2),
            None => String::new(),
        }
    }

    /// The command that is asked for; else the exit code. `-help` is answered here.
    pub fn command<'a>(&self, arguments: &'a [String]) -> Result<(&'a str, Vec<String>), i32> {
        let Some((word, rest)) = arguments.split_first() else {
            eprint!("{}", self.usage());
            return Err(USAGE);
        };
        if word == "-help" {
            return Err(self.help(rest));
        }
        if !self.commands.iter().any(|row| row.0 == word) {
            eprintln!("Can't understand command '{word}'");
            if !word.starts_with('-') {
                eprintln!("Command names must start with dashes.");
            }
            eprint!("{}", self.usage());
            return Err(USAGE);
        }
        crate::logging::start_client();
        Ok((word, rest.to_vec()))
    }

    fn help(&self, rest: &[String]) -> i32 {
        let Some(word) = rest.first() else {
            for row in self.commands {
                eprintln!("{}", self.long(row.0));
            }
            return 0;
        };
        let name = format!("-{}", word.trim_start_matches('-'));
        if self.commands.iter().all(|row| row.0 != name) {
            eprintln!("Unknown command '{word}'.\nValid help command names are:");
            let names: Vec<&str> = self.commands.iter().map(|row| row.0).collect();
            eprintln!("{}", names.join("\n"));
            return USAGE;
        }
        print!("{}", self.long(&name));
        0
    }
}

/// Takes `-option VALUE` out of the arguments.
pub fn pop(arguments: &mut Vec<String>, option: &str) -> Option<String> {
    let at = arguments.iter().position(|word| word == option)?;
    if at + 1 >= arguments.len() {
        return None;
    }
    let value = arguments.remove(at + 1);
    arguments.remove(at);
    Some(value)
}

/// Takes a switch out of the arguments.
pub fn pop_switch(arguments: &mut Vec<String>, option: &str) -> bool {
    let before = arguments.len();
    arguments.retain(|word| word != option);
    arguments.len() < before
}

/// `Class: first line`, as these tools print an exception. Source: `AdminHelper.prettifyException`, Hadoop 3.5.0.
pub fn pretty(error: &ClientError) -> String {
    let message = error.message();
    let first = message.split('\n').next().unwrap_or("");
    let class = error.class_name().and_then(|name| name.rsplit(['.', '$']).next());
    // Only these exceptions are unwrapped by Java's client: others keep the class of their wrapping.
    const UNWRAPPED: [&str; 6] = [
        "AccessControlException",
        "FileNotFoundException",
        "SafeModeException",
        "NSQuotaExceededException",
        "SnapshotAccessControlException",
        "NoECPolicySetException",
    ];
    match class {
        Some(class) if UNWRAPPED.contains(&class) => format!("{class}: {first}"),
        Some(_) => format!("RemoteException: {first}"),
        None => format!("IOException: {first}"),
    }
}

/// The exit code of a call; what went wrong is printed.
pub fn answer(result: Result<(), ClientError>) -> i32 {
    match result {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{}", pretty(&error));
            FAILED
        }
    }
}

/// The client of a path's file system, and the path on it.
///
/// # Errors
/// The text to print, where the file system is not HDFS.
pub fn client_of(conf: &Configuration, path: &str) -> Result<(DfsClient, String), String> {
    let mut shell = Shell::new(conf, "");
    let fs = shell.fs_of(path).map_err(|e| e.message())?;
    match &fs {
        Fs::Hdfs(client) => Ok((client.clone(), fs.path_of(path))),
        Fs::Local => Err(format!("IllegalArgumentException: FileSystem {} is not an HDFS file system", fs.uri())),
    }
}
