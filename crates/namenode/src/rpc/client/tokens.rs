//! Delegation tokens while security is off: none is issued, and none that a client brings is known.
//! Source: `FSNamesystem.java`, `AbstractDelegationTokenSecretManager.java`, `AbstractDelegationTokenIdentifier.java`, Hadoop 3.5.0.

use crate::call::Call;
use crate::core::Core;
use crate::rpc::datanode::put;
use crate::safe_mode::What;
use std::fmt::Write as _;
use surus_proto::hadoop::common::{
    CancelDelegationTokenRequestProto, GetDelegationTokenRequestProto, GetDelegationTokenResponseProto,
    RenewDelegationTokenRequestProto,
};
use surus_types::{ExceptionClass, HdfsError};

/// `null` where security is off.
pub(super) fn get_delegation_token(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let _: GetDelegationTokenRequestProto = call.decode()?;
    core.check_safe_mode(&core.namespace.read(), What("Cannot issue delegation token", ""))?;
    put(out, &GetDelegationTokenResponseProto { token: None });
    Ok(())
}

pub(super) fn renew_delegation_token(core: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: RenewDelegationTokenRequestProto = call.decode()?;
    core.check_safe_mode(&core.namespace.read(), What("Cannot renew delegation token", ""))?;
    let token = Token::read(&request.token.identifier)?;
    let user = &call.caller.user;
    if token.max_date < core.clock.now_ms() {
        return Err(invalid(format!("{user} tried to renew an expired token {token}")));
    }
    if token.renewer.is_empty() || *token.renewer != **user {
        let text = format!("{user} tries to renew a token {token} with non-matching renewer {}", token.renewer);
        return Err(HdfsError::access_control(text));
    }
    let text = format!(
        "Unable to find master key for keyId={} from cache. Failed to renew an unexpired token {token} with sequenceNumber={}",
        token.master_key_id, token.sequence_number
    );
    Err(invalid(text))
}

pub(super) fn cancel_delegation_token(core: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: CancelDelegationTokenRequestProto = call.decode()?;
    core.check_safe_mode(&core.namespace.read(), What("Cannot cancel delegation token", ""))?;
    let token = Token::read(&request.token.identifier)?;
    let user = &call.caller.user;
    if token.owner.is_empty() {
        return Err(invalid(format!("Token with no owner {token}")));
    }
    if *token.owner != **user && *token.renewer != **user {
        return Err(HdfsError::access_control(format!("{user} is not authorized to cancel the token {token}")));
    }
    Err(invalid(format!("Token not found {token}")))
}

fn invalid(text: String) -> HdfsError {
    HdfsError::new(ExceptionClass::InvalidToken, text)
}

/// A token's identifier, as the client brings it.
struct Token {
    owner: String,
    renewer: String,
    real_user: String,
    issue_date: i64,
    max_date: i64,
    sequence_number: i64,
    master_key_id: i64,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("token (token for ")?;
        write!(f, "{}: HDFS_DELEGATION_TOKEN owner={}, renewer={}", self.owner, self.owner, self.renewer)?;
        write!(f, ", realUser={}, issueDate={}, maxDate={}", self.real_user, self.issue_date, self.max_date)?;
        write!(f, ", sequenceNumber={}, masterKeyId={}", self.sequence_number, self.master_key_id)?;
        f.write_char(')')
    }
}

impl Token {
    /// # Errors
    /// EOFException where it ends early, IOException for another version than 0.
    fn read(mut from: &[u8]) -> Result<Token, HdfsError> {
        let end = || HdfsError::new(ExceptionClass::Eof, "java.io.EOFException");
        let (version, rest) = from.split_first().ok_or_else(end)?;
        if *version != 0 {
            return Err(HdfsError::io(format!("Unknown version of delegation token {}", *version as i8)));
        }
        from = rest;
        let mut text = || {
            let length = usize::try_from(take_vlong(&mut from)?).ok()?;
            let (bytes, rest) = from.split_at_checked(length)?;
            from = rest;
            Some(String::from_utf8_lossy(bytes).into_owned())
        };
        let (owner, renewer, real_user) = (text(), text(), text());
        let mut number = || take_vlong(&mut from).ok_or_else(end);
        Ok(Token {
            issue_date: number()?,
            max_date: number()?,
            sequence_number: number()?,
            master_key_id: number()?,
            owner: owner.ok_or_else(end)?,
            renewer: renewer.ok_or_else(end)?,
            real_user: real_user.ok_or_else(end)?,
        })
    }
}

/// Hadoop's variable-length integer: the first byte is the value, or sign and number of the bytes that follow.
/// Source: `WritableUtils.readVLong`, Hadoop 3.5.0.
fn take_vlong(from: &mut &[u8]) -> Option<i64> {
    let (first, rest) = from.split_first()?;
    let first = *first as i8;
    let (count, negative) = match first {
        -112..=127 => (0, false),
        -120..=-113 => (-112 - i32::from(first), false),
        _ => (-120 - i32::from(first), true),
    };
    let (bytes, rest) = rest.split_at_checked(usize::try_from(count).ok()?)?;
    *from = rest;
    if count == 0 {
        return Some(i64::from(first));
    }
    let magnitude = bytes.iter().fold(0i64, |value, byte| value << 8 | i64::from(*byte));
    Some(if negative { !magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        let class = |bytes: &[u8]| Token::read(bytes).err().map(|e| e.class);
        assert_eq!(class(b""), Some(ExceptionClass::Eof));
        assert_eq!(class(b"abc"), Some(ExceptionClass::Io));
        assert_eq!(class(b"\0\x04roo"), Some(ExceptionClass::Eof));
        assert_eq!(class(b"\0\x7f"), Some(ExceptionClass::Eof));
        let token = Token::read(b"\0\x04root\x04yarn\0\x01\x8e\x03\xe8\x07\x02").unwrap();
        let text = "token (token for root: HDFS_DELEGATION_TOKEN owner=root, renewer=yarn, realUser=, issueDate=1, \
                    maxDate=1000, sequenceNumber=7, masterKeyId=2)";
        assert_eq!(token.to_string(), text);
    }
}
