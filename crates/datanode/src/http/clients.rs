//! Clients that act for the users of HTTP requests. They are kept for a while: a new one has to connect first.

use crate::node::Node;
use parking_lot::Mutex;
use std::collections::HashMap;
use surus_client::{ClientConfig, ClientError, DfsClient};
use surus_net::rpc::RpcUser;
use surus_types::FsPermission;
use surus_webhdfs::{DEFAULT_USER, Request};

/// Users with a client at a time. One over, all are let go; those in use live on until their request ends.
const CLIENTS_MAX: usize = 256;

#[derive(Default)]
pub(super) struct Clients {
    known: Mutex<HashMap<(RpcUser, String), DfsClient>>,
}

impl Clients {
    /// The client for a request's user and NameNode.
    ///
    /// # Errors
    /// The NameNode's address or the configuration makes no sense.
    pub fn get(&self, node: &Node, request: &Request) -> Result<DfsClient, ClientError> {
        let name = request.user.clone().unwrap_or_else(|| DEFAULT_USER.to_owned());
        let user = match &request.do_as {
            Some(other) => RpcUser { effective: other.clone(), real: Some(name) },
            None => RpcUser { effective: name, real: None },
        };
        let namenode = request.namenode_address.clone().unwrap_or_default();
        let key = (user, namenode);
        if let Some(client) = self.known.lock().get(&key) {
            return Ok(client.clone());
        }
        let uri = format!("hdfs://{}", key.1);
        let mut config = ClientConfig::from_conf(&node.config.configuration, Some(&uri))?.with_user(key.0.clone());
        // The permission in a request is meant as it stands.
        config.umask = FsPermission(0);
        let client = DfsClient::new(config);
        let mut known = self.known.lock();
        if known.len() >= CLIENTS_MAX {
            known.clear();
        }
        Ok(known.entry(key).or_insert(client).clone())
    }
}
