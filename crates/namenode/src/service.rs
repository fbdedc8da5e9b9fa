//! The RPC door: finds method and caller, keeps at-most-once calls from running twice, and sends, holds or parks what
//! the handlers answer.

use crate::audit;
use crate::call::{Call, Done, Method, OwnedCall, ReadHandler, Refused, ReplyTo, Run, WriteHandler};
use crate::commit::{self, Waiting};
use crate::core::Core;
use crate::parked::PARK_MS_MAX;
use crate::retry_cache::{Answer, Arrival, Key};
use crate::rpc;
use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;
use surus_namespace::WaitFor;
use surus_net::rpc::{ConnectionInfo, Reply, RpcCall, RpcService};
use surus_types::{Caller, HdfsError, RpcIds, TxId};
use surus_wire::rpc::errors;

thread_local! {
    /// Where answers are encoded before it is known whether they leave at once. Taken while in use: a handler may
    /// wake another call that is then executed inside it.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A scratch buffer above this is given back, so that one large answer does not stay in memory for ever.
const SCRATCH_KEEP: usize = 1 << 20;

/// The service of the NameNode's RPC server.
pub struct Service(pub Arc<Core>);

impl RpcService for Service {
    fn authorize(&self, connection: &ConnectionInfo) -> Result<(), HdfsError> {
        if let Some(real) = connection.real_user.as_ref().filter(|real| **real != connection.user) {
            self.0.authorize_proxy(real, &connection.user, connection.peer.ip())?;
        }
        self.0.authorize_service(connection)
    }

    fn batch_done(&self) {
        self.0.batch_done();
    }

    fn call(&self, call: RpcCall<'_>, reply: Reply<'_>) {
        commit::batch_call();
        let Some(methods) = rpc::methods(call.protocol) else {
            return reply.error(&errors::no_such_protocol(call.protocol));
        };
        if call.version != rpc::PROTOCOL_VERSION {
            return reply.error(&errors::version_mismatch(call.protocol, call.version));
        }
        let Some(method) = crate::call::find(methods, call.method) else {
            return reply.error(&errors::no_such_method(call.method, call.protocol));
        };
        let core = &self.0;
        let rpc = match method.run {
            Run::Read(_) | Run::Slow(_) => RpcIds::NONE,
            _ => RpcIds { client_id: call.client_id.to_vec(), call_id: call.call_id },
        };
        let audit_tail = match &core.config.audit_context {
            Some(rules) if audit::is_logged(method.name) => {
                rules.tail(call.caller_context, call.caller_signature, call.connection.peer.port())
            }
            _ => Box::default(),
        };
        let mut slot = Some(reply);
        let caller = core.callers.get(call.connection, || {
            // The first call of a user waits for his groups, without a thread.
            let (core, connection) = (Arc::clone(core), Arc::clone(call.connection));
            let (rpc, body): (_, Box<[u8]>) = (rpc.clone(), call.body.into());
            let audit_tail = audit_tail.clone();
            let held = slot.take().map(Reply::hold);
            Box::new(move |groups| {
                let Some(reply) = held else { return };
                let caller = core.callers.with_groups(&connection, groups);
                let (key, deadline_ms) = (None, 0);
                core.execute_owned(OwnedCall { method, caller, rpc, body, reply, key, deadline_ms, audit_tail });
            })
        });
        if let (Some(caller), Some(reply)) = (caller, slot) {
            let to = ReplyTo::Live(reply);
            let (key, deadline_ms) = (None, 0);
            core.execute(Execution { method, caller, rpc, body: call.body, to, key, deadline_ms, audit_tail });
        }
    }
}

/// A call about to be executed.
struct Execution<'a> {
    method: &'static Method,
    caller: Arc<Caller>,
    rpc: RpcIds,
    body: &'a [u8],
    to: ReplyTo<'a>,
    key: Option<Key>,
    deadline_ms: u64,
    audit_tail: Box<str>,
}

impl Execution<'_> {
    fn into_owned(self) -> OwnedCall {
        OwnedCall {
            method: self.method,
            caller: self.caller,
            rpc: self.rpc,
            body: self.body.into(),
            reply: self.to.hold(),
            key: self.key,
            deadline_ms: self.deadline_ms,
            audit_tail: self.audit_tail,
        }
    }
}

impl Core {
    /// Executes a call that waited for something.
    pub fn execute_owned(self: &Arc<Self>, call: OwnedCall) {
        let OwnedCall { method, caller, rpc, body, reply, key, deadline_ms, audit_tail } = call;
        let to = ReplyTo::Held(reply);
        self.execute(Execution { method, caller, rpc, body: &body, to, key, deadline_ms, audit_tail });
    }

    /// Executes the parked calls that wait for any of `events`.
    pub fn wake(&self, events: &[WaitFor]) {
        if events.is_empty() {
            return;
        }
        let Some(core) = self.me.upgrade() else { return };
        for call in self.parked.wake(events) {
            core.execute_owned(call);
        }
    }

    /// Executes the parked calls whose time is over; they answer whatever it is.
    pub fn expire_parked(self: &Arc<Self>) {
        for call in self.parked.expire(self.clock.monotonic_ms()) {
            self.execute_owned(call);
        }
    }

    fn execute(self: &Arc<Self>, execution: Execution<'_>) {
        let mut scratch = SCRATCH.take();
        scratch.clear();
        match execution.method.run {
            Run::Read(handler) => {
                let Execution { method, caller, rpc, body, to, audit_tail, .. } = execution;
                let call = Call { caller: &caller, rpc: &rpc, body, waited: true, audit_tail: &audit_tail };
                let result = handler(self, &call, &mut scratch);
                self.audit(method, &call, result.as_ref().map(|()| scratch.as_slice()));
                match result {
                    Ok(()) => to.ok(&scratch),
                    Err(error) => to.error(&error),
                }
            }
            Run::Slow(handler) => self.execute_slow(execution, handler),
            Run::Write(handler) => self.execute_write(execution, handler, &mut scratch),
            Run::AtMostOnce(handler) => {
                if let Some(execution) = self.first_of_its_kind(execution) {
                    self.execute_write(execution, handler, &mut scratch);
                }
            }
        }
        if scratch.capacity() <= SCRATCH_KEEP {
            SCRATCH.set(scratch);
        }
    }

    fn execute_slow(self: &Arc<Self>, execution: Execution<'_>, handler: ReadHandler) {
        let (core, owned) = (Arc::clone(self), execution.into_owned());
        self.runtime.spawn_blocking(move || {
            let OwnedCall { caller, rpc, body, audit_tail, .. } = &owned;
            let call = Call { caller, rpc, body, waited: true, audit_tail };
            let mut out = Vec::new();
            let result = handler(&core, &call, &mut out);
            core.audit(owned.method, &call, result.as_ref().map(|()| out.as_slice()));
            match result {
                Ok(()) => owned.reply.ok_encoded(|buffer| buffer.extend_from_slice(&out)),
                Err(error) => owned.reply.error(&error),
            }
        });
    }

    fn execute_write(self: &Arc<Self>, mut execution: Execution<'_>, handler: WriteHandler, scratch: &mut Vec<u8>) {
        let now_ms = self.clock.monotonic_ms();
        let waited = execution.deadline_ms != 0 && now_ms >= execution.deadline_ms;
        let Execution { caller, rpc, body, audit_tail, .. } = &execution;
        let call = Call { caller, rpc, body, waited, audit_tail };
        let result = handler(self, &call, scratch);
        match &result {
            Ok(_) => self.audit(execution.method, &call, Ok(scratch)),
            Err(Refused::Error(error)) => self.audit(execution.method, &call, Err(error)),
            Err(Refused::Park { .. }) => {}
        }
        match result {
            Ok(done) => self.answer(execution, done, scratch),
            Err(Refused::Error(error)) => self.fail(execution, &error),
            Err(Refused::Park { otherwise, .. }) if waited => self.fail(execution, &otherwise),
            Err(Refused::Park { until, generation, .. }) => {
                if execution.deadline_ms == 0 {
                    execution.deadline_ms = now_ms + PARK_MS_MAX;
                }
                let deadline_ms = execution.deadline_ms;
                // Where something woke meanwhile it looks again at once.
                if let Err(owned) = self.parked.park(until, generation, deadline_ms, execution.into_owned()) {
                    self.execute_owned(owned);
                }
            }
        }
    }

    fn audit(&self, method: &Method, call: &Call<'_>, result: Result<&[u8], &HdfsError>) {
        if audit::is_on() {
            audit::rpc(self, method.name, call, result);
        }
    }

    /// Sends an answer, not before its transaction is durable; the same one to the repeats that waited for it.
    fn answer(self: &Arc<Self>, execution: Execution<'_>, done: Done, encoded: &[u8]) {
        let mut repeats = Vec::new();
        if let (Some(key), Some(cache)) = (execution.key, &self.retry_cache) {
            repeats = match done.keep {
                true => cache.succeeded(key, Answer::Encoded(encoded.into()), done.txid, self.clock.monotonic_ms()),
                false => cache.failed(key),
            };
        }
        self.send(execution.to, done.txid, encoded);
        for repeat in repeats {
            match done.keep {
                true => self.send(ReplyTo::Held(repeat.reply), done.txid, encoded),
                false => self.execute_owned(repeat),
            }
        }
    }

    fn send(&self, to: ReplyTo<'_>, txid: TxId, encoded: &[u8]) {
        if self.held.is_durable(txid) {
            to.ok(encoded);
        } else {
            self.held.send_when_durable(txid, Waiting::Rpc(to.ready(encoded)));
        }
    }

    /// Sends an exception; repeats that waited are executed, as after a failure in Hadoop.
    fn fail(self: &Arc<Self>, execution: Execution<'_>, error: &HdfsError) {
        let repeats = match (execution.key, &self.retry_cache) {
            (Some(key), Some(cache)) => cache.failed(key),
            _ => Vec::new(),
        };
        execution.to.error(error);
        for repeat in repeats {
            self.execute_owned(repeat);
        }
    }

    /// Looks a call up in the retry cache. `None`: it was answered, or waits for the first of its kind.
    fn first_of_its_kind<'a>(self: &Arc<Self>, execution: Execution<'a>) -> Option<Execution<'a>> {
        let Some(cache) = self.retry_cache.as_ref().filter(|_| execution.key.is_none()) else { return Some(execution) };
        let Some(key) = Key::new(&execution.rpc.client_id, execution.rpc.call_id) else { return Some(execution) };
        match cache.arrive(key, self.clock.monotonic_ms(), execution, Execution::into_owned) {
            Arrival::Waits => None,
            Arrival::Execute(execution) => Some(Execution { key: Some(key), ..execution }),
            Arrival::Answered(execution, Answer::Encoded(encoded), txid) => {
                self.send(execution.to, txid, &encoded);
                None
            }
            Arrival::Answered(execution, Answer::Replayed, txid) => {
                let Execution { method, caller, rpc, body, to, .. } = execution;
                let call = Call { caller: &caller, rpc: &rpc, body, waited: true, audit_tail: "" };
                match rpc::replayed(self, method.name, &call) {
                    Ok(encoded) => self.send(to, txid, &encoded),
                    Err(error) => to.error(&error),
                }
                None
            }
        }
    }

    /// Whether `real` may act as `user`. The groups are looked up on the spot where a rule needs them: this happens once
    /// for a connection, and for proxy users only.
    fn authorize_proxy(self: &Arc<Self>, real: &str, user: &Arc<str>, address: IpAddr) -> Result<(), HdfsError> {
        let groups = self.callers.groups().get_blocking(user, self.clock.monotonic_ms());
        self.proxies.read().authorize(real, user, &groups, address)
    }

    /// Whether the connection's user may use the protocol it names; groups as in `authorize_proxy`.
    fn authorize_service(self: &Arc<Self>, connection: &ConnectionInfo) -> Result<(), HdfsError> {
        let acls = self.service_acls.read();
        if !acls.is_on() {
            return Ok(());
        }
        let groups = self.callers.groups().get_blocking(&connection.user, self.clock.monotonic_ms());
        let shown = self.callers.with_groups(connection, Arc::clone(&groups)).to_ugi_string();
        acls.authorize(&connection.protocol, &connection.user, &shown, &groups, connection.peer.ip())
    }
}
