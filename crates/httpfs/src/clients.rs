//! Clients that act for the callers. They are kept for a while: a new one has to connect first.

use parking_lot::Mutex;
use std::collections::HashMap;
use surus_client::{ClientConfig, DfsClient};
use surus_net::rpc::RpcUser;

/// Callers with a client at a time. One over, all are let go; those in use live on until their request ends.
const CLIENTS_MAX: usize = 256;

pub struct Clients {
    own: ClientConfig,
    known: Mutex<HashMap<String, DfsClient>>,
}

impl Clients {
    /// `own`: of the gateway's user.
    pub fn new(own: ClientConfig) -> Clients {
        Clients { own, known: Mutex::default() }
    }

    /// The client that acts for `caller`: the gateway's user is the real one, whom the NameNode allows that by
    /// `hadoop.proxyuser.USER.*`.
    pub fn get(&self, caller: &str) -> DfsClient {
        let mut known = self.known.lock();
        if let Some(client) = known.get(caller) {
            return client.clone();
        }
        let own = &self.own.user;
        let own_name = own.real.as_ref().unwrap_or(&own.effective);
        let user = match own_name == caller {
            true => RpcUser { effective: caller.to_owned(), real: None },
            false => RpcUser { effective: caller.to_owned(), real: Some(own_name.clone()) },
        };
        let client = DfsClient::new(self.own.clone().with_user(user));
        if known.len() >= CLIENTS_MAX {
            known.clear();
        }
        known.entry(caller.to_owned()).or_insert(client).clone()
    }
}
