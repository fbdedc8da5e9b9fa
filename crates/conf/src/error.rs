//! What can be wrong with a configuration. Every message names the place and what would be right.

use std::fmt;

/// A site file that does not parse, or a value that its key does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfError {
    /// The text of a site file is not what Hadoop calls a configuration.
    File { file: String, line: usize, problem: String },
    /// A key's value is not allowed.
    Value { key: String, source: String, value: String, allowed: String },
    /// A `-D` argument is not of the form `key=value`.
    Override { argument: String },
}

impl fmt::Display for ConfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfError::File { file, line, problem } => write!(f, "{file}, line {line}: {problem}"),
            ConfError::Value { key, source, value, allowed } => {
                write!(f, "{key} = \"{value}\" (from {source}) is not allowed: it must be {allowed}")
            }
            ConfError::Override { argument } => write!(f, "-D {argument}: it must be key=value"),
        }
    }
}

impl std::error::Error for ConfError {}
