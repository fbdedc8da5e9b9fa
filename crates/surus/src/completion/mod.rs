//! What can come next on a command line. The scripts for the shells ask `surus __complete WORDS`, so that commands, options and
//! paths of the file system come from the tables that the commands themselves use.
//!
//! The first line of the answer is `files` where names of local files fit as well, else `-`; then one candidate a line. One
//! that ends in `/` goes on.

mod grammar;
mod remote;

use crate::{cli, hadoop, output};
use grammar::{Expected, Grammar};
use std::collections::BTreeSet;

/// The word that asks.
pub const REQUEST: &str = "__complete";

const BASH: &str = include_str!("surus.bash");
const ZSH: &str = include_str!("surus.zsh");
const FISH: &str = include_str!("surus.fish");

/// The script for a shell, for the program called `program`; `None` for a shell that has none.
pub fn script(shell: &str, program: &str) -> Option<String> {
    let text = match shell {
        "bash" => BASH,
        "zsh" => ZSH,
        "fish" => FISH,
        _ => return None,
    };
    Some(text.replace("PROGRAM", program))
}

/// Candidates for the last of some words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub files: bool,
    pub words: BTreeSet<String>,
}

impl Answer {
    fn add<T: Into<String>>(&mut self, current: &str, words: impl IntoIterator<Item = T>) {
        self.words.extend(words.into_iter().map(Into::into).filter(|word| word.starts_with(current)));
    }
}

/// Answers a request of a shell; `words` are those behind the program's name, the last one is being typed.
pub fn run(program: &str, words: &[String]) {
    let answer = answer(program, words, &remote::list);
    let mut text = String::from(if answer.files { "files\n" } else { "-\n" });
    for word in answer.words.iter().filter(|word| !word.contains('\n')) {
        text.push_str(word);
        text.push('\n');
    }
    output::print(&text);
}

/// Paths of the file system that begin like the last argument; the others: configuration directory, generic options.
type ListPaths<'a> = dyn Fn(Option<&str>, &[String], &str) -> Vec<String> + 'a;

fn answer(program: &str, words: &[String], list: &ListPaths<'_>) -> Answer {
    let mut answer = Answer::default();
    let Some((current, before)) = words.split_last() else { return answer };
    let is_hadoop = matches!(program, "hdfs" | "hadoop");
    let (mut config, mut rest) = (None, before);
    while let Some((option, after)) = rest.split_first() {
        if !option.starts_with('-') {
            break;
        }
        let takes_value = matches!(option.as_str(), "--config" | "--loglevel" | "--daemon");
        let (value, after) = match after.split_first() {
            Some((value, after)) if takes_value => (Some(value.as_str()), after),
            None if takes_value => {
                match option.as_str() {
                    "--config" => answer.files = true,
                    "--daemon" => answer.add(current, ["start", "status", "stop"]),
                    _ => answer.add(current, ["trace", "debug", "info", "warn", "error", "off"]),
                }
                return answer;
            }
            _ => (None, after),
        };
        if option == "--config" {
            config = value;
        }
        rest = after;
    }
    let Some((command, arguments)) = rest.split_first() else {
        answer.add(current, ["--config", "--loglevel", "--help"]);
        if is_hadoop {
            answer.add(current, ["--daemon"]);
            answer.add(current, hadoop::commands(program).iter().map(|(name, _)| *name));
        } else {
            answer.add(current, cli::command_names());
        }
        return answer;
    };
    match Grammar::of(command) {
        Some(grammar) => {
            let generic = grammar::generic_options(arguments);
            let expected = grammar.expected(&arguments[generic..], current);
            if expected.generic && current.starts_with('-') {
                answer.add(current, grammar::GENERIC_OPTIONS);
            }
            complete(&mut answer, expected, current, |current| list(config, &arguments[..generic], current));
        }
        None if !is_hadoop => answer.add(current, cli::words_of(command, arguments)),
        None => {}
    }
    answer
}

fn complete(answer: &mut Answer, expected: Expected, current: &str, paths: impl Fn(&str) -> Vec<String>) {
    answer.files |= expected.files && !current.starts_with('-');
    answer.add(current, expected.words);
    if expected.paths && !current.starts_with('-') {
        answer.words.extend(paths(current));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The candidates for a command line, `files` first where local files fit, `PATHS` for paths of the file system.
    fn show(line: &str) -> String {
        let mut words: Vec<String> = line.split(' ').map(str::to_string).collect();
        let program = words.remove(0);
        let answer = answer(&program, &words, &|_, _, _| vec!["PATHS".to_string()]);
        let files = answer.files.then(|| "files".to_string());
        files.into_iter().chain(answer.words).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn commands_and_their_options() {
        let cases = [
            ("surus nam", "namenode"),
            ("hdfs lsS", "lsSnapshot lsSnapshottableDir"),
            ("hadoop f", "fs"),
            ("surus --loglevel d", "debug"),
            ("surus --config ", "files"),
            ("hdfs --daemon sta", "start status"),
            ("surus dfs -mk", "-mkdir"),
            ("surus dfs -mkdir -", "-p"),
            ("surus fs -D a=b -rm -s", "-safely -skipTrash"),
            ("surus dfs -test -", "-d -e -f -r -s -w -z"),
            ("surus dfs -help mkd", "mkdir"),
            ("surus dfs -rm -r /", "PATHS"),
            ("surus dfs -put ", "files"),
            ("surus dfs -put a ", "files PATHS"),
            ("surus dfs -get ", "PATHS"),
            ("surus dfs -get /a ", "files PATHS"),
            ("surus dfs -tail -s ", ""),
            ("surus dfsadmin -safemode ", "enter forceExit get leave wait"),
            ("surus dfsadmin -report -d", "-dead -decommissioning"),
            ("surus dfsadmin -setQuota 5 ", "PATHS"),
            ("surus ec -setP", "-setPolicy"),
            ("surus ec -setPolicy -", "-path -policy -replicate"),
            ("surus ec -setPolicy -path ", "PATHS"),
            ("surus ec -setPolicy -path /x -policy ", ""),
            ("surus namenode -f", "-force -format -fs"),
            ("surus oiv -i ", "files"),
            ("surus oiv -p Re", "ReverseXML"),
            ("hdfs oev -p ", "binary stats xml"),
            ("hdfs fsck -l", "-list-corruptfileblocks -locations"),
            ("hdfs fsck /", "PATHS"),
            ("hdfs lsSnapshot ", "PATHS"),
            ("hdfs getconf -nn", "-nnRpcAddresses"),
            ("surus start --l", "--listen --loglevel"),
            ("surus bench n", "nn null"),
            ("surus completions z", "zsh"),
            ("hdfs jar ", ""),
        ];
        for (line, want) in cases {
            assert_eq!(show(line), want, "{line}");
        }
        assert!(show("surus dfs ").contains("-ls") && show("surus dfs -f").contains("-fs"));
    }

    #[test]
    fn scripts_name_their_program() {
        for shell in ["bash", "zsh", "fish"] {
            let text = script(shell, "hdfs").unwrap();
            assert!(text.contains("hdfs __complete") && !text.contains("PROGRAM"), "{shell}");
        }
        assert_eq!(script("elvish", "surus"), None);
    }
}
