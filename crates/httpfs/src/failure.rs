//! What goes wrong with a request, as the Java exception that Hadoop's gateway would show.

use std::io;
use surus_client::ClientError;
use surus_types::HdfsError;

#[derive(Debug)]
pub enum Failure {
    /// Between the gateway and the cluster.
    Client(ClientError),
    /// In the request itself.
    Request(HdfsError),
}

impl Failure {
    /// Full name of the Java class.
    pub fn java_class(&self) -> &str {
        match self {
            Failure::Client(error) => error.java_class(),
            Failure::Request(error) => error.class.java_name(),
        }
    }

    pub fn message(&self) -> String {
        match self {
            Failure::Client(error) => error.message(),
            Failure::Request(error) => error.message.clone(),
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Failure::Client(error)
    }
}

impl From<HdfsError> for Failure {
    fn from(error: HdfsError) -> Self {
        Failure::Request(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Client(error.into())
    }
}
