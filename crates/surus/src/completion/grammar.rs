//! What a command takes, read from the texts that tell its usage.

use crate::{admin, daemons, dfs, dfsadmin, fsck, hadoop, oev, oiv};

/// Hadoop's options before those of a command.
pub const GENERIC_OPTIONS: [&str; 3] = ["-D", "-conf", "-fs"];

/// How many of the words are generic options with their values.
pub fn generic_options(words: &[String]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count) {
        count += match word.as_str() {
            word if GENERIC_OPTIONS.contains(&word) => 2,
            word if word.starts_with("-D") => 1,
            _ => break,
        };
    }
    count.min(words.len())
}

/// What may come next.
#[derive(Debug, Default)]
pub struct Expected {
    pub words: Vec<String>,
    /// Paths of the file system.
    pub paths: bool,
    /// Local files.
    pub files: bool,
    /// Generic options, where nothing else was given yet.
    pub generic: bool,
}

/// The shape of a command's arguments.
pub enum Grammar {
    /// A command of its own comes first: its name with the dash, and its usage.
    Commands(Vec<(String, &'static str)>),
    /// Options in any order, and what else there may be.
    Options(&'static str, Operands),
}

/// What stands behind options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    None,
    Paths,
    Files,
}

impl Grammar {
    /// The grammar of a command that takes Hadoop's kind of options.
    pub fn of(command: &str) -> Option<Grammar> {
        let of_tool = |tool: &admin::Tool| {
            Grammar::Commands(tool.commands.iter().map(|row| (row.0.to_string(), row.1)).collect())
        };
        Some(match command {
            "dfs" | "fs" => {
                Grammar::Commands(dfs::COMMANDS.iter().map(|row| (format!("-{}", row.name), row.usage)).collect())
            }
            "dfsadmin" => {
                Grammar::Commands(dfsadmin::COMMANDS.iter().map(|row| (format!("-{}", row.0), row.1)).collect())
            }
            "ec" => of_tool(&admin::ec::TOOL),
            "crypto" => of_tool(&admin::crypto::TOOL),
            "cacheadmin" => of_tool(&admin::cacheadmin::TOOL),
            "storagepolicies" => of_tool(&admin::storagepolicies::TOOL),
            "fsck" => Grammar::Options(fsck::USAGE, Operands::Paths),
            "lsSnapshot" | "snapshotDiff" => Grammar::Options("", Operands::Paths),
            "lsSnapshottableDir" | "groups" | "httpfs" => Grammar::Options("", Operands::None),
            "oiv" => Grammar::Options(oiv::USAGE, Operands::Files),
            "oev" => Grammar::Options(oev::USAGE, Operands::Files),
            "getconf" => Grammar::Options(hadoop::GETCONF_USAGE, Operands::None),
            "namenode" => Grammar::Options(daemons::NAMENODE_USAGE, Operands::None),
            "datanode" => Grammar::Options(daemons::DATANODE_USAGE, Operands::None),
            _ => return None,
        })
    }

    /// What may come behind `words`, which hold no generic options.
    pub fn expected(&self, words: &[String], current: &str) -> Expected {
        match self {
            Grammar::Commands(commands) => match words.split_first() {
                None => Expected {
                    words: commands.iter().map(|(name, _)| name.clone()).collect(),
                    generic: true,
                    ..Expected::default()
                },
                Some((name, _)) if name == "-help" || name == "-usage" => Expected {
                    words: commands.iter().map(|(name, _)| name.trim_start_matches('-').to_string()).collect(),
                    ..Expected::default()
                },
                Some((name, arguments)) => match commands.iter().find(|(known, _)| known == name) {
                    Some((_, usage)) => of_command(usage, arguments, current),
                    None => Expected::default(),
                },
            },
            Grammar::Options(usage, operands) => match words.last().map(String::as_str) {
                Some("-p" | "--processor") => Expected { words: processors(usage), ..Expected::default() },
                _ => Expected {
                    words: if *operands == Operands::None || current.starts_with('-') {
                        options(usage)
                    } else {
                        Vec::new()
                    },
                    paths: *operands == Operands::Paths,
                    files: *operands == Operands::Files,
                    generic: words.is_empty(),
                },
            },
        }
    }
}

fn processors(usage: &str) -> Vec<String> {
    let names: &[&str] = if usage == oev::USAGE {
        &["binary", "stats", "xml"]
    } else {
        &["XML", "ReverseXML", "Delimited", "FileDistribution", "DetectCorruption", "Web"]
    };
    names.iter().map(|name| name.to_string()).collect()
}

/// What may come behind a command of a tool and its arguments so far.
fn of_command(usage: &str, arguments: &[String], current: &str) -> Expected {
    if let Some(value) = arguments.last().and_then(|option| value_of(usage, option)) {
        return Expected {
            paths: value.contains("path") || value.contains("dir"),
            files: value.to_ascii_lowercase().contains("file"),
            ..Expected::default()
        };
    }
    let mut words = alternatives(usage);
    if current.starts_with('-') {
        words = options(usage);
    }
    let operands = arguments.iter().filter(|word| !word.starts_with('-')).count();
    let local = usage.contains("<localsrc>") || usage.contains("<localdst>");
    let local_first = usage.contains("<localsrc>");
    let is_local = usage.contains("<filename>") || usage.contains("<local directory>");
    // What must stand on its own: not the value of an option.
    let remote = ["<path>", "<src>", "<dst>", "<dir>", "<dirname>", "<snapshotDir>", "<file>", "path>"];
    let takes_paths = remote.iter().any(|word| usage.contains(word)) && !usage.contains("-path <path>");
    Expected {
        words,
        paths: takes_paths && !(local_first && operands == 0),
        files: is_local || local && (local_first || operands > 0),
        generic: false,
    }
}

/// The words of a usage with their brackets.
fn tokens(usage: &str) -> impl Iterator<Item = &str> {
    usage.split([' ', '\n', '\t']).filter(|token| !token.is_empty())
}

const BRACKETS: [char; 6] = ['[', ']', '{', '}', '(', ')'];

/// Every option that a usage names: `[-R]`, `{-b|-k}`, `-i,--inputFile`, and the letters of `-[defs]`.
fn options(usage: &str) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens(usage) {
        if let Some((letters, _)) = token.strip_prefix("-[").and_then(|rest| rest.split_once(']')) {
            found.extend(letters.chars().map(|letter| format!("-{letter}")));
            continue;
        }
        for part in token.split(['|', ',']) {
            let part = part.trim_matches(BRACKETS).trim_end_matches(':');
            let name = part.trim_start_matches('-');
            let is_option = part.len() > name.len() && name.starts_with(|c: char| c.is_ascii_alphabetic());
            if is_option && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
                found.push(part.to_string());
            }
        }
    }
    found
}

/// The words of which one is to be chosen: `<enter | leave>`, `true|false`.
fn alternatives(usage: &str) -> Vec<String> {
    let joined = usage.replace(" | ", "|");
    let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphabetic());
    let mut found = Vec::new();
    for token in tokens(&joined).filter(|token| token.contains('|')) {
        let token = token.trim_matches(['[', ']', '{', '}', '(', ')', '<', '>']);
        if token.split('|').all(|word| is_word(&word)) {
            found.extend(token.split('|').map(str::to_string));
        }
    }
    found
}

/// What an option is followed by: `<path>` where the usage says `-path <path>`.
fn value_of<'a>(usage: &'a str, option: &str) -> Option<&'a str> {
    let mut tokens = tokens(usage);
    tokens.find(|token| token.trim_start_matches(['[', '{', '(']) == option && option.starts_with('-'))?;
    tokens.next().filter(|next| !next.starts_with(['[', '{', '-', '|']))
}
