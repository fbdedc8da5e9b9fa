//! `-find`. Source: `Find.java`, `Name.java`, `Print.java`, `And.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use std::io::Write;
use surus_client::glob::{Pattern, unescape};

const FORMAT: CommandFormat = CommandFormat::new(1, usize::MAX, &["L", "H", "P"]).ignore_unknown();

#[derive(Debug)]
enum Test {
    Name { pattern: Option<Pattern>, plain: String, ignore_case: bool },
    Print { end: u8 },
}

#[derive(Debug)]
struct Find {
    tests: Vec<Test>,
}

pub fn run(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = FORMAT.parse(arguments)?;
    let (paths, tests) = split(&options.arguments)?;
    process(&mut Find { tests }, shell, &paths)
}

/// Paths up to the first word with a dash (or a parenthesis), then the expression; its parts are joined by "and".
fn split(words: &[String]) -> Result<(Vec<String>, Vec<Test>)> {
    let start = words.iter().position(|word| word.starts_with('-') && word.len() > 1).unwrap_or(words.len());
    let mut paths = words[..start].to_vec();
    if paths.is_empty() {
        paths.push(".".into());
    }
    let mut tests = Vec::new();
    let mut rest = words[start..].iter();
    let mut wants_test = false;
    while let Some(word) = rest.next() {
        let lower = word.to_ascii_lowercase();
        wants_test = false;
        match lower.as_str() {
            "-name" | "-iname" => {
                let text = rest.next().ok_or_else(|| missing_argument(&lower))?;
                tests.push(name_test(text, lower == "-iname")?);
            }
            "-print" => tests.push(Test::Print { end: b'\n' }),
            "-print0" => tests.push(Test::Print { end: 0 }),
            "-a" | "-and" if !tests.is_empty() => wants_test = true,
            _ => return Err(ShellError::Message(format!("Unexpected argument: {word}"))),
        }
    }
    if wants_test {
        return Err(ShellError::Message("Expression cannot end with -and".into()));
    }
    // Without a print of its own the expression prints what passes it.
    if !tests.iter().any(|test| matches!(test, Test::Print { .. })) {
        tests.push(Test::Print { end: b'\n' });
    }
    Ok((paths, tests))
}

fn missing_argument(option: &str) -> ShellError {
    ShellError::Message(format!("{option} requires 1 argument(s)"))
}

fn name_test(text: &str, ignore_case: bool) -> Result<Test> {
    let text = if ignore_case { text.to_lowercase() } else { text.to_string() };
    let pattern = Pattern::parse(&text).map_err(ShellError::Message)?;
    Ok(Test::Name { pattern, plain: unescape(&text), ignore_case })
}

impl Test {
    fn passes(&self, shell: &mut Shell<'_>, item: &PathData) -> bool {
        match self {
            Test::Name { pattern, plain, ignore_case } => {
                let name = if *ignore_case { item.name().to_lowercase() } else { item.name().to_string() };
                pattern.as_ref().map_or(name == *plain, |pattern| pattern.matches(&name))
            }
            Test::Print { end } => {
                shell.out.text(&item.text);
                // A failure is kept by the output.
                let _ = shell.out.write_all(&[*end]);
                true
            }
        }
    }
}

impl Command for Find {
    fn is_recursive(&self) -> bool {
        true
    }

    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        for test in &self.tests {
            if !test.passes(shell, item) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    #[test]
    fn paths_and_expressions() {
        let (paths, tests) = split(&words("/a /b -name x* -a -iname Y")).unwrap();
        assert_eq!(paths, ["/a", "/b"]);
        assert_eq!(tests.len(), 3);
        assert!(matches!(split(&words("/a -print0")).unwrap().1[..], [Test::Print { end: 0 }]));
        assert_eq!(split(&words("/a -foo")).unwrap_err().message(), "Unexpected argument: -foo");
        assert!(split(&words("/a -name")).is_err());
        assert!(split(&words("/a -a -print")).is_err());
    }
}
