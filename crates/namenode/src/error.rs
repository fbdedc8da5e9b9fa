//! Why a NameNode does not start.

use std::fmt;
use std::io;
use surus_conf::ConfError;

/// What keeps a NameNode from starting, or a name directory from being formatted. The text says what to do.
#[derive(Debug)]
pub enum StartError {
    Configuration(ConfError),
    /// An address could not be bound.
    Bind {
        key: &'static str,
        address: String,
        error: io::Error,
    },
    /// The name directories.
    Storage(String),
    Io {
        doing: &'static str,
        error: io::Error,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Configuration(error) => error.fmt(f),
            StartError::Bind { key, address, error } if error.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "{key}: {address} is in use by another process; stop it or choose another port")
            }
            StartError::Bind { key, address, error } => write!(f, "{key}: cannot listen on {address}: {error}"),
            StartError::Storage(text) => f.write_str(text),
            StartError::Io { doing, error } => write!(f, "{doing}: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<ConfError> for StartError {
    fn from(error: ConfError) -> Self {
        StartError::Configuration(error)
    }
}
