//! What a command may fail with, in the texts that FsShell prints. Source: `PathIOException.java` and its kin, Hadoop 3.5.0.

use surus_client::ClientError;
use surus_types::ExceptionClass;

pub type Result<T, E = ShellError> = std::result::Result<T, E>;

#[derive(Debug, Clone)]
pub enum ShellError {
    /// A path failed; the others go on. Exit code 1.
    Message(String),
    /// The same, and there is nothing at the path.
    NotFound(String),
    /// The command line is wrong: usage, exit code 255.
    Illegal(String),
    /// Nobody reads what is printed: the command ends.
    OutputClosed,
}

impl ShellError {
    /// `` `PATH': TEXT``.
    pub fn path(path: &str, text: &str) -> Self {
        ShellError::Message(format!("`{path}': {text}"))
    }
    pub fn not_found(path: &str) -> Self {
        ShellError::NotFound(format!("`{path}': No such file or directory"))
    }
    /// As `not_found`, with the whole name of the path behind it.
    pub fn not_found_fully(path: &str, qualified: &str) -> Self {
        match path == qualified {
            true => Self::not_found(path),
            false => ShellError::NotFound(format!("`{path}': No such file or directory: `{qualified}'")),
        }
    }
    pub fn exists(path: &str) -> Self {
        Self::path(path, "File exists")
    }
    pub fn is_directory(path: &str) -> Self {
        Self::path(path, "Is a directory")
    }
    pub fn is_not_directory(path: &str) -> Self {
        Self::path(path, "Is not a directory")
    }
    /// The call failed, nobody knows why.
    pub fn failed(path: &str) -> Self {
        Self::path(path, "Input/output error")
    }

    pub fn message(&self) -> String {
        match self {
            ShellError::Message(text) | ShellError::NotFound(text) | ShellError::Illegal(text) => text.clone(),
            ShellError::OutputClosed => "Unable to write to output stream.".to_string(),
        }
    }
}

impl From<ClientError> for ShellError {
    fn from(error: ClientError) -> Self {
        match &error {
            ClientError::UnknownHost(_) | ClientError::Illegal(_) => ShellError::Illegal(error.to_string()),
            _ if error.is(ExceptionClass::FileNotFound) => ShellError::NotFound(error.message()),
            _ => ShellError::Message(error.message()),
        }
    }
}

impl From<std::io::Error> for ShellError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => ShellError::OutputClosed,
            _ => ClientError::from_io(&error).into(),
        }
    }
}

impl From<surus_conf::ConfError> for ShellError {
    fn from(error: surus_conf::ConfError) -> Self {
        ShellError::Message(error.to_string())
    }
}
