//! The options of a command: which it has, how many paths it wants. Source: `CommandFormat.java`, Hadoop 3.5.0.

use super::error::ShellError;
use std::collections::BTreeMap;

/// What a command accepts.
pub struct CommandFormat {
    min: usize,
    max: usize,
    flags: &'static [&'static str],
    valued: &'static [&'static str],
    ignore_unknown: bool,
}

/// What was given.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    flags: Vec<&'static str>,
    values: BTreeMap<&'static str, String>,
    /// What is left: paths.
    pub arguments: Vec<String>,
}

impl Options {
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }
    pub fn value(&self, option: &str) -> Option<&str> {
        self.values.get(option).map(String::as_str)
    }
    pub fn flags(&self) -> &[&'static str] {
        &self.flags
    }
}

impl CommandFormat {
    pub const fn new(min: usize, max: usize, flags: &'static [&'static str]) -> Self {
        CommandFormat { min, max, flags, valued: &[], ignore_unknown: false }
    }

    pub const fn valued(mut self, options: &'static [&'static str]) -> Self {
        self.valued = options;
        self
    }

    /// Words with a dash that are no option of the command are arguments.
    pub const fn ignore_unknown(mut self) -> Self {
        self.ignore_unknown = true;
        self
    }

    /// Takes the options off the front.
    ///
    /// # Errors
    /// An unknown option, too few or too many arguments.
    pub fn parse(&self, arguments: &[String]) -> Result<Options, ShellError> {
        let mut options = Options { arguments: arguments.to_vec(), ..Options::default() };
        let rest = &mut options.arguments;
        let mut at = 0;
        while at < rest.len() {
            let word = rest[at].clone();
            if word == "--" {
                rest.remove(at);
                break;
            }
            let Some(name) = word.strip_prefix('-').filter(|name| !name.is_empty()) else { break };
            if let Some(flag) = self.flags.iter().find(|flag| **flag == name) {
                rest.remove(at);
                options.flags.push(flag);
            } else if let Some(option) = self.valued.iter().find(|option| **option == name) {
                rest.remove(at);
                let has_value = at < rest.len() && rest.len() > self.min;
                let value = if has_value { rest.remove(at) } else { String::new() };
                if !value.starts_with('-') || value == "-" {
                    options.values.insert(option, value);
                }
            } else if self.ignore_unknown {
                at += 1;
            } else {
                return Err(ShellError::Illegal(format!("Illegal option {word}")));
            }
        }
        let count = rest.len();
        if count < self.min {
            return Err(ShellError::Illegal(format!("Not enough arguments: expected {} but got {count}", self.min)));
        }
        if count > self.max {
            return Err(ShellError::Illegal(format!("Too many arguments: expected {} but got {count}", self.max)));
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| w.to_string()).collect()
    }
    const LS: CommandFormat = CommandFormat::new(0, usize::MAX, &["R", "h"]);

    #[test]
    fn options_end_at_the_first_path() {
        let options = LS.parse(&strings(&["-R", "/a", "-h"])).unwrap();
        assert!(options.has("R") && !options.has("h"));
        assert_eq!(options.arguments, ["/a", "-h"]);
        let options = LS.parse(&strings(&["--", "-R"])).unwrap();
        assert_eq!(options.arguments, ["-R"]);
        assert_eq!(LS.parse(&strings(&["-"])).unwrap().arguments, ["-"]);
    }

    #[test]
    fn wrong_words_are_told_as_hadoop_tells_them() {
        let text = |format: &CommandFormat, words: &[&str]| match format.parse(&strings(words)) {
            Err(error) => error.message(),
            Ok(_) => String::new(),
        };
        assert_eq!(text(&LS, &["-Z"]), "Illegal option -Z");
        let two = CommandFormat::new(2, 2, &[]);
        assert_eq!(text(&two, &["a"]), "Not enough arguments: expected 2 but got 1");
        assert_eq!(text(&two, &["a", "b", "c"]), "Too many arguments: expected 2 but got 3");
    }

    #[test]
    fn an_option_takes_its_value() {
        let format = CommandFormat::new(1, usize::MAX, &["f"]).valued(&["t"]);
        let options = format.parse(&strings(&["-t", "4", "-f", "/a"])).unwrap();
        assert_eq!((options.value("t"), options.has("f")), (Some("4"), true));
        assert_eq!(options.arguments, ["/a"]);
    }
}
