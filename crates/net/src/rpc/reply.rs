//! Answers: given at once into the batch of the connection's task, or held and given later from any thread.

use super::outbox::Outbox;
use prost::Message;
use std::sync::Arc;
use surus_types::{ExceptionClass, HdfsError};
use surus_wire::rpc::header::{ResponseIds, put_error, put_success, put_success_encoded};

/// The right and the duty to answer one call. Dropped without an answer, it answers with an error, so that no
/// client waits for ever on a call that panicked.
pub struct Reply<'a> {
    outbox: &'a Arc<Outbox>,
    out: &'a mut Vec<u8>,
    ids: ResponseIds<'a>,
    answered: bool,
}

impl<'a> Reply<'a> {
    pub(super) fn new(outbox: &'a Arc<Outbox>, out: &'a mut Vec<u8>, ids: ResponseIds<'a>) -> Self {
        Reply { outbox, out, ids, answered: false }
    }

    /// Sets the transaction id that goes into the response header (`dfs.namenode.state.context.enabled`).
    pub fn set_state_id(&mut self, state_id: i64) {
        self.ids.state_id = Some(state_id);
    }

    /// Answers with a message.
    pub fn ok(mut self, message: &impl Message) {
        self.answered = true;
        put_success(self.out, &self.ids, message);
    }

    /// Answers with the message that `encode` appends to the buffer (without a length before it). `encode` must only append.
    pub fn ok_encoded<R>(mut self, encode: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.answered = true;
        put_success_encoded(self.out, &self.ids, encode)
    }

    /// Like `ok_encoded`, but what was appended is taken back and `error` answered when `encode` fails.
    pub fn try_ok_encoded(mut self, encode: impl FnOnce(&mut Vec<u8>) -> Result<(), HdfsError>) {
        self.answered = true;
        let start = self.out.len();
        if let Err(error) = put_success_encoded(self.out, &self.ids, encode) {
            self.out.truncate(start);
            put_error(self.out, &self.ids, &error);
        }
    }

    /// Answers with an exception.
    pub fn error(mut self, error: &HdfsError) {
        self.answered = true;
        put_error(self.out, &self.ids, error);
    }

    /// Answers with a message or an exception.
    pub fn result(self, result: &Result<impl Message, HdfsError>) {
        match result {
            Ok(message) => self.ok(message),
            Err(error) => self.error(error),
        }
    }

    /// Takes the reply away from the call, to be answered later from any thread.
    pub fn hold(mut self) -> HeldReply {
        self.answered = true;
        self.outbox.hold();
        HeldReply {
            outbox: Some(self.outbox.clone()),
            call_id: self.ids.call_id,
            retry_count: self.ids.retry_count,
            state_id: self.ids.state_id,
            client_id: ClientId::new(self.ids.client_id),
        }
    }
}

impl Drop for Reply<'_> {
    fn drop(&mut self) {
        if !self.answered {
            put_error(self.out, &self.ids, &unanswered());
        }
    }
}

fn unanswered() -> HdfsError {
    HdfsError::new(ExceptionClass::Runtime, "The call ended without an answer; see the server's log")
}

/// A client id kept beyond its frame. Those of ordinary length need no allocation.
#[derive(Clone, Debug)]
enum ClientId {
    Ordinary([u8; 16]),
    Other(Box<[u8]>),
}

impl ClientId {
    fn new(bytes: &[u8]) -> Self {
        bytes.try_into().map_or_else(|_| ClientId::Other(bytes.into()), ClientId::Ordinary)
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            ClientId::Ordinary(id) => id,
            ClientId::Other(id) => id,
        }
    }
}

/// A reply taken out of its call. Answered from any thread; dropped unanswered, it answers with an error.
pub struct HeldReply {
    outbox: Option<Arc<Outbox>>,
    call_id: i32,
    retry_count: i32,
    state_id: Option<i64>,
    client_id: ClientId,
}

impl HeldReply {
    fn ids(&self) -> ResponseIds<'_> {
        ResponseIds {
            call_id: self.call_id,
            client_id: self.client_id.as_bytes(),
            retry_count: self.retry_count,
            state_id: self.state_id,
        }
    }

    /// Sets the transaction id that goes into the response header.
    pub fn set_state_id(&mut self, state_id: i64) {
        self.state_id = Some(state_id);
    }

    fn ready(mut self, frame: Vec<u8>) -> ReadyReply {
        ReadyReply { outbox: self.outbox.take(), frame }
    }

    /// Encodes the answer now, to be sent later: when its edit is durable, say.
    pub fn ready_ok(self, message: &impl Message) -> ReadyReply {
        let mut frame = Vec::with_capacity(64 + message.encoded_len());
        put_success(&mut frame, &self.ids(), message);
        self.ready(frame)
    }

    /// Encodes the answer now, from an encoder that appends the message to the buffer.
    pub fn ready_ok_encoded(self, encode: impl FnOnce(&mut Vec<u8>)) -> ReadyReply {
        let mut frame = Vec::with_capacity(256);
        put_success_encoded(&mut frame, &self.ids(), encode);
        self.ready(frame)
    }

    /// Encodes an exception now, to be sent later.
    pub fn ready_error(self, error: &HdfsError) -> ReadyReply {
        let mut frame = Vec::with_capacity(256);
        put_error(&mut frame, &self.ids(), error);
        self.ready(frame)
    }

    /// Answers with a message.
    pub fn ok(self, message: &impl Message) {
        self.ready_ok(message).send();
    }

    /// Answers with the message that `encode` appends to the buffer.
    pub fn ok_encoded(self, encode: impl FnOnce(&mut Vec<u8>)) {
        self.ready_ok_encoded(encode).send();
    }

    /// Answers with an exception.
    pub fn error(self, error: &HdfsError) {
        self.ready_error(error).send();
    }

    /// Answers with a message or an exception.
    pub fn result(self, result: &Result<impl Message, HdfsError>) {
        match result {
            Ok(message) => self.ok(message),
            Err(error) => self.error(error),
        }
    }

    /// Whether the client is gone, so that the answer has nobody to go to.
    pub fn is_disconnected(&self) -> bool {
        self.outbox.as_ref().is_none_or(|outbox| outbox.is_closed())
    }
}

impl Drop for HeldReply {
    fn drop(&mut self) {
        if let Some(outbox) = self.outbox.take() {
            let mut frame = Vec::new();
            put_error(&mut frame, &self.ids(), &unanswered());
            ReadyReply { outbox: Some(outbox), frame }.send();
        }
    }
}

/// An answer encoded and ready to leave. Dropped without being sent, the call stays unanswered.
pub struct ReadyReply {
    outbox: Option<Arc<Outbox>>,
    frame: Vec<u8>,
}

impl ReadyReply {
    /// Sends this answer alone.
    pub fn send(mut self) {
        if let Some(outbox) = self.outbox.take() {
            outbox.send_held(core::iter::once(self.frame.as_slice()));
        }
    }
}

impl Drop for ReadyReply {
    fn drop(&mut self) {
        if let Some(outbox) = self.outbox.take() {
            outbox.release(1);
        }
    }
}

/// Sends answers that became ready together: one write for each connection, in the order given.
pub fn send_together(mut replies: Vec<ReadyReply>) {
    // Stable, so that the order within a connection stays.
    replies.sort_by_key(|reply| reply.outbox.as_ref().map_or(0, |outbox| Arc::as_ptr(outbox) as usize));
    let mut rest = replies.as_mut_slice();
    while let Some(first) = rest.first() {
        let key = first.outbox.as_ref().map(Arc::as_ptr);
        let len = rest.iter().take_while(|reply| reply.outbox.as_ref().map(Arc::as_ptr) == key).count();
        let (group, others) = rest.split_at_mut(len);
        let outbox = group[0].outbox.take();
        // The others of the group must not release again when dropped.
        for reply in group.iter_mut() {
            reply.outbox = None;
        }
        if let Some(outbox) = outbox {
            outbox.send_held(group.iter().map(|reply| reply.frame.as_slice()));
        }
        rest = others;
    }
}
