//! `-chmod`, `-chown`, `-chgrp`. Source: `FsShellPermissions.java`, `PermissionParser.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use surus_types::FsPermission;

const FORMAT: CommandFormat = CommandFormat::new(2, usize::MAX, &["R"]);

/// What `-chmod` does to a mode.
#[derive(Debug, PartialEq, Eq)]
pub enum ModeChange {
    Octal { mode: u16, has_sticky_digit: bool },
    Symbolic(Vec<Clause>),
}

/// `ug+rx`
#[derive(Debug, PartialEq, Eq)]
pub struct Clause {
    user: bool,
    group: bool,
    other: bool,
    operation: char,
    /// Of `rwx`, as a digit.
    bits: u16,
    /// `X`: execution where it is a directory or somebody may execute.
    execute_if: bool,
    sticky: bool,
}

impl ModeChange {
    pub fn parse(text: &str) -> Option<ModeChange> {
        Self::parse_octal(text.trim()).or_else(|| Self::parse_symbolic(text.trim()))
    }

    fn parse_octal(text: &str) -> Option<ModeChange> {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let mode = u16::from_str_radix(digits, 8).ok()?;
        let fits = digits.len() == 3 || (digits.len() == 4 && digits.starts_with(['0', '1']));
        let all_digits = digits.bytes().all(|b| b.is_ascii_digit());
        (fits && all_digits).then_some(ModeChange::Octal { mode, has_sticky_digit: digits.len() == 4 })
    }

    fn parse_symbolic(text: &str) -> Option<ModeChange> {
        let mut clauses = Vec::new();
        for part in text.split(',') {
            let part = part.trim();
            let operation_at = part.find(['+', '-', '='])?;
            let (who, rest) = part.split_at(operation_at);
            if !who.chars().all(|c| "ugoa".contains(c)) {
                return None;
            }
            let all = who.is_empty() || who.contains('a');
            let letters = &rest[1..];
            let bit = |letter| letters.contains(letter);
            if letters.is_empty() || !letters.chars().all(|c| "rwxXt".contains(c)) {
                return None;
            }
            clauses.push(Clause {
                user: all || who.contains('u'),
                group: all || who.contains('g'),
                other: all || who.contains('o'),
                operation: rest.chars().next()?,
                bits: u16::from(bit('r')) << 2 | u16::from(bit('w')) << 1 | u16::from(bit('x')),
                execute_if: bit('X'),
                sticky: bit('t'),
            });
        }
        Some(ModeChange::Symbolic(clauses))
    }

    pub fn apply(&self, old: FsPermission, is_dir: bool) -> FsPermission {
        match self {
            ModeChange::Octal { mode, has_sticky_digit: true } => FsPermission(*mode),
            ModeChange::Octal { mode, has_sticky_digit: false } => FsPermission(mode & 0o777),
            ModeChange::Symbolic(clauses) => {
                FsPermission(clauses.iter().fold(old.0, |mode, clause| clause.apply(mode, is_dir)))
            }
        }
    }
}

impl Clause {
    fn apply(&self, mode: u16, is_dir: bool) -> u16 {
        let execute = self.execute_if && (is_dir || mode & 0o111 != 0);
        let bits = self.bits | u16::from(execute);
        let mut out = mode;
        for (chosen, shift) in [(self.user, 6), (self.group, 3), (self.other, 0)] {
            if chosen {
                out = match self.operation {
                    '+' => out | bits << shift,
                    '-' => out & !(bits << shift),
                    _ => out & !(7 << shift) | bits << shift,
                };
            }
        }
        match (self.sticky, self.operation) {
            (true, '-') => out & !0o1000,
            (true, _) => out | 0o1000,
            (false, '=') => out & !0o1000,
            (false, _) => out,
        }
    }
}

struct Chmod {
    recursive: bool,
    change: ModeChange,
}

pub fn chmod(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let (options, mut paths) = take_recursive(arguments)?;
    let mode = paths.remove(0);
    let change = ModeChange::parse(&mode)
        .ok_or_else(|| ShellError::Illegal(format!("chmod : mode '{mode}' does not match the expected pattern.")))?;
    process(&mut Chmod { recursive: options, change }, shell, &paths)
}

/// A mode such as `-w` looks like an option: words that are none are taken as arguments.
fn take_recursive(arguments: &[String]) -> Result<(bool, Vec<String>)> {
    const LENIENT: CommandFormat = CommandFormat::new(2, usize::MAX, &["R"]).ignore_unknown();
    let options = LENIENT.parse(arguments)?;
    Ok((options.has("R"), options.arguments))
}

impl Command for Chmod {
    fn is_recursive(&self) -> bool {
        self.recursive
    }

    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let old = item.status()?.permission;
        let new = self.change.apply(old, item.is_dir());
        if new == old {
            return Ok(());
        }
        item.fs.set_permission(&item.path, new).map_err(|error| about("changing permissions of", item, &error))
    }
}

fn about(what: &str, item: &PathData, error: &ShellError) -> ShellError {
    ShellError::Message(format!("{what} '{}': {}", item.text, error.message()))
}

struct Chown {
    recursive: bool,
    user: Option<String>,
    group: Option<String>,
    what: &'static str,
}

/// Runs `-chown`, or `-chgrp`.
pub fn chown(shell: &mut Shell<'_>, arguments: &[String], group_only: bool) -> Result<()> {
    let options = FORMAT.parse(arguments)?;
    let mut paths = options.arguments.clone();
    let text = paths.remove(0);
    let (user, group) = if group_only { parse_group(&text)? } else { parse_owner(&text)? };
    process(&mut Chown { recursive: options.has("R"), user, group, what: "changing ownership of" }, shell, &paths)
}

/// Letters a user or group name may have. Source: `FsShellPermissions.allowedChars`.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "_./@-".contains(c))
}

type Names = (Option<String>, Option<String>);

fn parse_owner(text: &str) -> Result<Names> {
    let (user, group) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
    if !is_name(user) || !is_name(group) {
        return Err(ShellError::Illegal(format!("'{text}' does not match expected pattern for [owner][:group].")));
    }
    let given = |name: &str| (!name.is_empty()).then(|| name.to_string());
    match (given(user), given(group)) {
        (None, None) => Err(ShellError::Illegal(format!("'{text}' does not specify owner or group."))),
        names => Ok(names),
    }
}

fn parse_group(text: &str) -> Result<Names> {
    let group = text.trim();
    if group.is_empty() || !is_name(group) {
        return Err(ShellError::Illegal(format!("'{text}' does not match expected pattern for group")));
    }
    Ok((None, Some(group.to_string())))
}

impl Command for Chown {
    fn is_recursive(&self) -> bool {
        self.recursive
    }

    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let stat = item.status()?;
        // Nothing is asked for what is so already.
        let user = self.user.as_deref().filter(|user| *user != stat.owner);
        let group = self.group.as_deref().filter(|group| *group != stat.group);
        if user.is_none() && group.is_none() {
            return Ok(());
        }
        item.fs.set_owner(&item.path, user, group).map_err(|error| about(self.what, item, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, old: u16, is_dir: bool) -> u16 {
        ModeChange::parse(text).unwrap().apply(FsPermission(old), is_dir).0
    }

    #[test]
    fn modes_change_as_chmods() {
        for (text, old, is_dir, new) in [
            ("755", 0o644, false, 0o755),
            ("1755", 0o644, true, 0o1755),
            ("0755", 0o1644, true, 0o755),
            ("755", 0o1644, true, 0o755),
            ("u+x,g-r", 0o777, false, 0o737),
            ("a+X", 0o644, false, 0o644),
            ("a+X", 0o644, true, 0o755),
            ("a+X", 0o744, false, 0o755),
            ("+t", 0o755, true, 0o1755),
            ("-t", 0o1755, true, 0o755),
            ("o=r", 0o777, false, 0o774),
            ("ug=rw,o=", 0o777, false, 0),
        ] {
            if text.ends_with('=') {
                assert!(ModeChange::parse(text).is_none(), "{text}");
                continue;
            }
            assert_eq!(changed(text, old, is_dir), new, "{text} on {old:o}");
        }
        for bad in ["9", "77", "7777", "u+q", "", "x+r"] {
            assert!(ModeChange::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn owners_and_groups() {
        let names = |text| parse_owner(text).unwrap();
        assert_eq!(names("a:b"), (Some("a".into()), Some("b".into())));
        assert_eq!(names(":b"), (None, Some("b".into())));
        assert_eq!(names("a"), (Some("a".into()), None));
        assert_eq!(parse_owner(":").unwrap_err().message(), "':' does not specify owner or group.");
        assert!(parse_owner("a b").is_err() && parse_group("").is_err());
    }
}
