//! The section of delegation keys and tokens. Source: `FSImageFormatProtobuf.java` (`saveSecretManagerSection`),
//! Hadoop 3.5.0.

use super::encode::put_delimited;
use super::file::OpenSection;
use crate::error::JournalError;
use prost::Message;
use surus_namespace::edit_op::DelegationTokenIdentifier;
use surus_namespace::ops::delegation_token::{DelegationKey, DelegationToken, Secrets};
use surus_proto::hadoop::hdfs::fsimage::{SecretManagerSection, secret_manager_section as pb};

pub(super) fn put(out: &mut Vec<u8>, secrets: &Secrets) {
    let head = SecretManagerSection {
        current_id: Some(secrets.current_id as u32),
        token_sequence_number: Some(secrets.sequence_number as u32),
        num_keys: Some(secrets.keys.len() as u32),
        num_tokens: Some(secrets.tokens.len() as u32),
    };
    put_delimited(out, &head.encode_to_vec());
    for (id, key) in &secrets.keys {
        let key =
            pb::DelegationKey { id: Some(*id as u32), expiry_date: Some(key.expiry_date as u64), key: key.key.clone() };
        put_delimited(out, &key.encode_to_vec());
    }
    for token in secrets.tokens.values() {
        let id = &token.identifier;
        let token = pb::PersistToken {
            version: None,
            owner: Some(id.owner.to_string()),
            renewer: Some(id.renewer.to_string()),
            real_user: Some(id.real_user.to_string()),
            issue_date: Some(id.issue_date as u64),
            max_date: Some(id.max_date as u64),
            sequence_number: Some(id.sequence_number as u32),
            master_key_id: Some(id.master_key_id as u32),
            expiry_date: Some(token.expiry_date as u64),
        };
        put_delimited(out, &token.encode_to_vec());
    }
}

/// An absent section is one without keys.
pub(super) fn read(section: &mut OpenSection<'_>) -> Result<Secrets, JournalError> {
    let Some(head) = section.message::<SecretManagerSection>()? else { return Ok(Secrets::default()) };
    let mut secrets = Secrets {
        current_id: head.current_id() as i32,
        sequence_number: head.token_sequence_number() as i32,
        ..Secrets::default()
    };
    for _ in 0..head.num_keys() {
        let key: pb::DelegationKey = section.expect()?;
        let id = key.id() as i32;
        secrets.keys.insert(id, DelegationKey { expiry_date: key.expiry_date() as i64, key: key.key });
    }
    for _ in 0..head.num_tokens() {
        let token: pb::PersistToken = section.expect()?;
        let identifier = DelegationTokenIdentifier {
            owner: token.owner().into(),
            renewer: token.renewer().into(),
            real_user: token.real_user().into(),
            issue_date: token.issue_date() as i64,
            max_date: token.max_date() as i64,
            sequence_number: token.sequence_number() as i32,
            master_key_id: token.master_key_id() as i32,
        };
        let expiry_date = token.expiry_date() as i64;
        secrets.tokens.insert(identifier.sequence_number, DelegationToken { identifier, expiry_date });
    }
    Ok(secrets)
}
