//! What can go wrong between a caller and the cluster, with the texts that Hadoop's clients show.

use std::fmt;
use std::io;
use surus_conf::ConfError;
use surus_net::rpc::RpcError;
use surus_types::ExceptionClass;

/// The result of every call of this crate.
pub type Result<T, E = ClientError> = std::result::Result<T, E>;

/// Java classes that `RemoteException.unwrapRemoteException` cannot make, since they are no `IOException`: they stay
/// `RemoteException`.
const NOT_UNWRAPPED: [ExceptionClass; 8] = [
    ExceptionClass::HadoopIllegalArgument,
    ExceptionClass::IllegalArgument,
    ExceptionClass::UnsupportedOperation,
    ExceptionClass::NullPointer,
    ExceptionClass::Runtime,
    ExceptionClass::IllegalState,
    ExceptionClass::Security,
    ExceptionClass::Assertion,
];

/// Why an operation failed.
#[derive(Debug, Clone)]
pub enum ClientError {
    /// The server's exception: Java class name and message.
    Remote { class: String, message: String },
    /// The NameNode could not be reached, or the connection broke.
    Rpc(RpcError),
    /// The cluster wants a mechanism that this client lacks.
    Security(String),
    /// A configured host has no address.
    UnknownHost(String),
    /// A configuration value is missing or wrong.
    Config(ConfError),
    /// The caller asked for something that cannot be: Java's IllegalArgumentException.
    Illegal(String),
    /// Anything else, in words.
    Io(String),
}

impl ClientError {
    /// An `IOException` with this message.
    pub fn io(message: impl Into<String>) -> Self {
        ClientError::Io(message.into())
    }

    /// The kind of the server's exception, where it is one our table has.
    pub fn class(&self) -> Option<ExceptionClass> {
        match self {
            ClientError::Remote { class, .. } => ExceptionClass::from_java_name(class),
            _ => None,
        }
    }

    /// Whether the server answered with this exception.
    pub fn is(&self, class: ExceptionClass) -> bool {
        self.class() == Some(class)
    }

    /// The Java class name of the server's exception.
    pub fn class_name(&self) -> Option<&str> {
        match self {
            ClientError::Remote { class, .. } => Some(class),
            _ => None,
        }
    }

    /// The class of the exception that a Java client would have thrown for this.
    /// Source: `RemoteException.java`, Hadoop 3.5.0.
    pub fn java_class(&self) -> &str {
        match self {
            ClientError::Remote { class, .. } => match self.class() {
                Some(known) if NOT_UNWRAPPED.contains(&known) => "org.apache.hadoop.ipc.RemoteException",
                _ => class,
            },
            ClientError::Illegal(_) => ExceptionClass::IllegalArgument.java_name(),
            ClientError::UnknownHost(_) => "java.net.UnknownHostException",
            ClientError::Rpc(RpcError::Connect { source, .. }) if source.kind() == io::ErrorKind::ConnectionRefused => {
                ExceptionClass::Connect.java_name()
            }
            _ => ExceptionClass::Io.java_name(),
        }
    }

    /// The message alone, as Java's `getLocalizedMessage` of the exception would give it.
    pub fn message(&self) -> String {
        match self {
            ClientError::Remote { message, .. } => message.clone(),
            other => other.to_string(),
        }
    }

    /// The error behind an `io::Error` that a `Reader` or a `Writer` gave.
    pub fn from_io(error: &io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<ClientError>()) {
            Some(own) => own.clone(),
            None => ClientError::io(io_text(error)),
        }
    }
}

/// The text of an operating-system error without Rust's `(os error N)`.
pub fn io_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Remote { class, message } => write!(f, "{class}: {message}"),
            ClientError::Rpc(error) => rpc_text(error, f),
            ClientError::Security(text) | ClientError::Illegal(text) | ClientError::Io(text) => f.write_str(text),
            ClientError::UnknownHost(host) => write!(f, "java.net.UnknownHostException: {host}"),
            ClientError::Config(error) => error.fmt(f),
        }
    }
}

/// The first line that Hadoop's client prints for a failed call. Source: `NetUtils.wrapException`, Hadoop 3.5.0.
fn rpc_text(error: &RpcError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let wiki = "For more details see:  http://wiki.apache.org/hadoop/";
    match error {
        RpcError::Connect { addr, source } if source.kind() == io::ErrorKind::ConnectionRefused => write!(
            f,
            "Call From {} to {addr} failed on connection exception: java.net.ConnectException: Connection refused; {wiki}ConnectionRefused",
            local_host()
        ),
        RpcError::Connect { addr, source } if source.kind() == io::ErrorKind::TimedOut => write!(
            f,
            "Call From {} to {addr} failed on socket timeout exception: org.apache.hadoop.net.ConnectTimeoutException: connecting took too long; {wiki}SocketTimeout",
            local_host()
        ),
        RpcError::Timeout { addr, after } => write!(
            f,
            "Call From {} to {addr} failed on socket timeout exception: java.net.SocketTimeoutException: no answer within {} ms; {wiki}SocketTimeout",
            local_host(),
            after.as_millis()
        ),
        other => write!(f, "{other}"),
    }
}

/// `name/address` of this machine, as Hadoop's texts begin.
fn local_host() -> String {
    let name = host_name();
    use std::net::ToSocketAddrs;
    let address = (name.as_str(), 0u16).to_socket_addrs().ok().and_then(|mut all| all.next());
    match address {
        Some(address) => format!("{name}/{}", address.ip()),
        None => name,
    }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl std::error::Error for ClientError {}

impl From<RpcError> for ClientError {
    fn from(error: RpcError) -> Self {
        match error {
            RpcError::Remote { class, message } => ClientError::Remote { class, message },
            RpcError::Authentication { .. } => ClientError::Security(error.to_string()),
            other => ClientError::Rpc(other),
        }
    }
}

impl From<ConfError> for ClientError {
    fn from(error: ConfError) -> Self {
        ClientError::Config(error)
    }
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        ClientError::from_io(&error)
    }
}

impl From<ClientError> for io::Error {
    fn from(error: ClientError) -> Self {
        let kind = match &error {
            ClientError::Rpc(RpcError::Io { source, .. } | RpcError::Connect { source, .. }) => source.kind(),
            ClientError::Rpc(RpcError::Timeout { .. }) => io::ErrorKind::TimedOut,
            _ if error.is(ExceptionClass::FileNotFound) => io::ErrorKind::NotFound,
            _ if error.is(ExceptionClass::AccessControl) => io::ErrorKind::PermissionDenied,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_survives_the_way_through_io() {
        let error = ClientError::Remote { class: "java.io.FileNotFoundException".into(), message: "no".into() };
        let io: io::Error = error.into();
        assert_eq!(io.kind(), io::ErrorKind::NotFound);
        assert!(ClientError::from_io(&io).is(ExceptionClass::FileNotFound));
        assert_eq!(io_text(&io::Error::from_raw_os_error(2)), "No such file or directory");
    }
}
