//! Calls to the NameNode: over to the other NameNode of the nameservice, again, or given up, by Hadoop's rules.
//! Source: `RetryPolicies.java`, `Client.java`, Hadoop 3.5.0.

use crate::config::{ClientConfig, RetryConfig};
use crate::error::{ClientError, Result};
use prost::Message;
use rand::Rng;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use surus_net::rpc::{RpcClient, RpcError};
use surus_types::ExceptionClass;

/// Java name of the protocol.
pub const CLIENT_PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

/// Whether a call may be sent again when nobody knows if it has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Again does no harm.
    Idempotent,
    /// Again under the same call id: the server's retry cache answers.
    AtMostOnce,
}

/// The NameNodes of one file system.
pub struct NameNodes {
    clients: Vec<RpcClient>,
    current: AtomicUsize,
    retry: RetryConfig,
    is_logical: bool,
}

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Fail,
    RetryAfter(Duration),
    FailoverAfter(Duration),
}

/// Attempts of one call so far.
#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    failovers: u32,
    retries: u32,
    connects: u32,
}

impl NameNodes {
    pub fn new(config: &ClientConfig, protocol: &str) -> Self {
        // All NameNodes see the same client id, so that a call repeated at another one is known there.
        let client_id: [u8; 16] = rand::random();
        let client = |addr: &String| {
            let mut options = config.rpc.clone();
            options.client_id = Some(client_id);
            RpcClient::new(addr, config.user.clone(), protocol, options)
        };
        let clients: Vec<RpcClient> = config.namenodes.iter().map(client).collect();
        let first =
            if config.retry.random_order && clients.len() > 1 { rand::rng().random_range(0..clients.len()) } else { 0 };
        NameNodes {
            clients,
            current: AtomicUsize::new(first),
            retry: config.retry.clone(),
            is_logical: config.is_logical,
        }
    }

    /// The clients of all NameNodes, for commands that speak to each.
    pub fn all(&self) -> &[RpcClient] {
        &self.clients
    }

    /// Calls a method that does no harm when it is repeated.
    ///
    /// # Errors
    /// As `call`.
    pub fn call_idempotent<Req: Message, Resp: Message + Default>(&self, method: &str, request: &Req) -> Result<Resp> {
        self.call(method, Repeat::Idempotent, request)
    }

    /// Calls `method` at the active NameNode.
    ///
    /// # Errors
    /// The server's exception, or what kept the call from being answered, once the retry rules give up.
    pub fn call<Req: Message, Resp: Message + Default>(
        &self,
        method: &str,
        repeat: Repeat,
        request: &Req,
    ) -> Result<Resp> {
        let id = self.clients[0].next_call_id();
        let mut attempts = Attempts::default();
        let mut retry_count = 0;
        loop {
            let current = self.current.load(Ordering::Relaxed);
            let error = match self.clients[current].call_again(id, retry_count, method, request) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match decide(&self.retry, self.is_logical, &attempts, repeat, &error) {
                Decision::Fail => return Err(finish(error)),
                Decision::RetryAfter(delay) => {
                    match &error {
                        RpcError::Connect { addr, .. } => {
                            tracing::info!(
                                target: "ipc.Client",
                                "Retrying connect to server: {addr}. Already tried {} time(s); the limit is {}",
                                attempts.connects,
                                self.retry.connect_retries
                            );
                            attempts.connects += 1;
                        }
                        _ => attempts.retries += 1,
                    }
                    std::thread::sleep(delay);
                }
                Decision::FailoverAfter(delay) => {
                    attempts.failovers += 1;
                    attempts.connects = 0;
                    std::thread::sleep(delay);
                    // Another thread may have moved on already: then its choice is taken.
                    let next = (current + 1) % self.clients.len();
                    let _ = self.current.compare_exchange(current, next, Ordering::Relaxed, Ordering::Relaxed);
                }
            }
            if !matches!(error, RpcError::Connect { .. }) {
                retry_count += 1;
            }
        }
    }
}

/// A failed look-up of a name says so; everything else stays.
fn finish(error: RpcError) -> ClientError {
    match &error {
        RpcError::Connect { addr, source } if source.to_string().starts_with("failed to lookup") => {
            ClientError::UnknownHost(addr.rsplit_once(':').map_or(addr.as_str(), |(host, _)| host).to_string())
        }
        _ => error.into(),
    }
}

fn decide(retry: &RetryConfig, is_logical: bool, attempts: &Attempts, repeat: Repeat, error: &RpcError) -> Decision {
    if matches!(error, RpcError::Authentication { .. } | RpcError::Malformed { .. }) {
        return Decision::Fail;
    }
    if let RpcError::Connect { source, .. } = error {
        let limit = match source.kind() {
            io::ErrorKind::TimedOut => retry.connect_timeout_retries,
            io::ErrorKind::ConnectionRefused => retry.connect_retries,
            _ => 0,
        };
        if attempts.connects < limit {
            return Decision::RetryAfter(retry.connect_retry_interval);
        }
    }
    if is_logical {
        return decide_failover(retry, attempts, repeat, error);
    }
    match &retry.policy {
        Some(policy) if is_transient(error) => sleep_of(policy, attempts.retries + attempts.connects),
        _ => Decision::Fail,
    }
}

fn decide_failover(retry: &RetryConfig, attempts: &Attempts, repeat: Repeat, error: &RpcError) -> Decision {
    let failover = || match attempts.failovers {
        n if n >= retry.failover_attempts => Decision::Fail,
        // The first change is free.
        0 => Decision::FailoverAfter(Duration::ZERO),
        n => Decision::FailoverAfter(backoff(retry, n)),
    };
    match error {
        RpcError::Connect { .. } => failover(),
        RpcError::Remote { class, .. } => match ExceptionClass::from_java_name(class) {
            Some(ExceptionClass::Standby) => failover(),
            Some(ExceptionClass::Retriable) if attempts.retries < retry.retry_attempts => {
                Decision::RetryAfter(backoff(retry, attempts.retries))
            }
            _ if class.ends_with(".ObserverRetryOnActiveException") => failover(),
            _ => Decision::Fail,
        },
        // Both kinds may go again: the repeated call carries the id of the first.
        RpcError::Io { .. } | RpcError::Timeout { .. } => match repeat {
            Repeat::Idempotent | Repeat::AtMostOnce => failover(),
        },
        RpcError::Authentication { .. } | RpcError::Malformed { .. } => Decision::Fail,
    }
}

/// Whether waiting may help at a NameNode without standby.
fn is_transient(error: &RpcError) -> bool {
    match error {
        RpcError::Remote { class, .. } => matches!(
            ExceptionClass::from_java_name(class),
            Some(ExceptionClass::Retriable | ExceptionClass::SafeMode | ExceptionClass::Standby)
        ),
        RpcError::Connect { .. } | RpcError::Io { .. } | RpcError::Timeout { .. } => true,
        RpcError::Authentication { .. } | RpcError::Malformed { .. } => false,
    }
}

/// The sleep of the given attempt in pairs of sleep and count, half to one and a half times its length.
fn sleep_of(policy: &[(Duration, u32)], attempt: u32) -> Decision {
    let mut left = attempt;
    for (sleep, count) in policy {
        if left < *count {
            return Decision::RetryAfter(sleep.mul_f64(rand::rng().random_range(0.5..1.5)));
        }
        left -= count;
    }
    Decision::Fail
}

/// Doubles from the base to the limit, with a random factor so that clients do not come back together.
fn backoff(retry: &RetryConfig, attempt: u32) -> Duration {
    let grown = retry.sleep_base.saturating_mul(1u32.checked_shl(attempt).unwrap_or(u32::MAX));
    grown.min(retry.sleep_max).mul_f64(rand::rng().random_range(0.5..1.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn retry() -> RetryConfig {
        RetryConfig {
            connect_retries: 2,
            connect_timeout_retries: 0,
            connect_retry_interval: Duration::from_millis(7),
            failover_attempts: 3,
            retry_attempts: 2,
            sleep_base: Duration::from_millis(100),
            sleep_max: Duration::from_millis(300),
            random_order: false,
            policy: None,
        }
    }
    fn remote(class: ExceptionClass) -> RpcError {
        RpcError::Remote { class: class.java_name().into(), message: String::new() }
    }
    fn refused() -> RpcError {
        RpcError::Connect { addr: "h:1".into(), source: Arc::new(io::ErrorKind::ConnectionRefused.into()) }
    }

    #[test]
    fn a_standby_sends_the_call_to_the_other_namenode() {
        let mut attempts = Attempts::default();
        let error = remote(ExceptionClass::Standby);
        let at = |attempts: &Attempts, logical| decide(&retry(), logical, attempts, Repeat::AtMostOnce, &error);
        assert_eq!(at(&attempts, true), Decision::FailoverAfter(Duration::ZERO));
        assert_eq!(at(&attempts, false), Decision::Fail);
        attempts.failovers = 1;
        assert!(matches!(at(&attempts, true), Decision::FailoverAfter(d) if d >= Duration::from_millis(100)));
        attempts.failovers = 3;
        assert_eq!(at(&attempts, true), Decision::Fail);
    }

    #[test]
    fn a_refused_connect_is_tried_again_and_then_fails_over() {
        let again = Decision::RetryAfter(Duration::from_millis(7));
        let decide = |connects, logical| {
            let attempts = Attempts { connects, ..Attempts::default() };
            decide(&retry(), logical, &attempts, Repeat::Idempotent, &refused())
        };
        assert_eq!(decide(0, false), again);
        assert_eq!(decide(2, false), Decision::Fail);
        assert_eq!(decide(2, true), Decision::FailoverAfter(Duration::ZERO));
    }

    #[test]
    fn ordinary_exceptions_fail_at_once_and_retriable_ones_only_in_a_nameservice() {
        let attempts = Attempts::default();
        let go = |class, logical| decide(&retry(), logical, &attempts, Repeat::Idempotent, &remote(class));
        assert_eq!(go(ExceptionClass::AccessControl, true), Decision::Fail);
        assert_eq!(go(ExceptionClass::SafeMode, false), Decision::Fail);
        assert!(matches!(go(ExceptionClass::Retriable, true), Decision::RetryAfter(_)));
        assert_eq!(go(ExceptionClass::Retriable, false), Decision::Fail);
    }

    #[test]
    fn a_policy_has_an_end() {
        let policy = [(Duration::from_millis(10), 1), (Duration::from_millis(1000), 1)];
        assert!(matches!(sleep_of(&policy, 0), Decision::RetryAfter(d) if d < Duration::from_millis(20)));
        assert!(matches!(sleep_of(&policy, 1), Decision::RetryAfter(d) if d > Duration::from_millis(400)));
        assert_eq!(sleep_of(&policy, 2), Decision::Fail);
    }
}
