//! A service that answers every call with an empty message: the floor every benchmark stands on.

use super::{Reply, RpcCall, RpcService};

/// Answers everything with an empty message, which Java clients read as `null` or `void`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullService;

impl RpcService for NullService {
    fn call(&self, _call: RpcCall<'_>, reply: Reply<'_>) {
        reply.ok(&());
    }
}
