//! Delegation keys and tokens as the log and the image carry them. Nobody is given a token while security is off; those of a
//! directory that had it on are kept.
//! Source: `DelegationTokenSecretManager.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::Applied;
use crate::edit_op::DelegationTokenIdentifier;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What the image's section of secrets holds. Cloned as a whole when it changes while a checkpoint holds it: it is small.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Secrets {
    /// The highest key id given out.
    pub current_id: i32,
    /// The highest sequence number of a token given out.
    pub sequence_number: i32,
    pub keys: BTreeMap<i32, DelegationKey>,
    /// By sequence number.
    pub tokens: BTreeMap<i32, DelegationToken>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct DelegationKey {
    /// Milliseconds since 1970.
    pub expiry_date: i64,
    pub key: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct DelegationToken {
    pub identifier: DelegationTokenIdentifier,
    /// Milliseconds since 1970.
    pub expiry_date: i64,
}

fn change(namespace: &mut Namespace, change: impl FnOnce(&mut Secrets)) -> Applied {
    change(Arc::make_mut(&mut namespace.secrets));
    Applied::default()
}

pub(crate) fn apply_master_key(
    namespace: &mut Namespace,
    key_id: i32,
    expiry_date: i64,
    key: Option<&Vec<u8>>,
) -> Applied {
    change(namespace, |secrets| {
        secrets.current_id = secrets.current_id.max(key_id);
        secrets.keys.insert(key_id, DelegationKey { expiry_date, key: key.cloned() });
    })
}

pub(crate) fn apply_get(
    namespace: &mut Namespace,
    identifier: &DelegationTokenIdentifier,
    expiry_date: i64,
) -> Applied {
    change(namespace, |secrets| {
        let number = identifier.sequence_number;
        secrets.sequence_number = secrets.sequence_number.max(number);
        secrets.tokens.insert(number, DelegationToken { identifier: identifier.clone(), expiry_date });
    })
}

pub(crate) fn apply_renew(
    namespace: &mut Namespace,
    identifier: &DelegationTokenIdentifier,
    expiry_date: i64,
) -> Applied {
    change(namespace, |secrets| {
        if let Some(token) = secrets.tokens.get_mut(&identifier.sequence_number) {
            token.expiry_date = expiry_date;
        }
    })
}

pub(crate) fn apply_cancel(namespace: &mut Namespace, identifier: &DelegationTokenIdentifier) -> Applied {
    change(namespace, |secrets| {
        secrets.tokens.remove(&identifier.sequence_number);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EditOp;
    use alloc::boxed::Box;
    use surus_types::TxId;

    #[test]
    fn keys_and_tokens_are_kept() {
        let mut namespace = Namespace::default();
        let token = |number| {
            Box::new(DelegationTokenIdentifier {
                owner: "alice".into(),
                renewer: "yarn".into(),
                real_user: "".into(),
                issue_date: 1,
                max_date: 9,
                sequence_number: number,
                master_key_id: 2,
            })
        };
        let before = namespace.freeze();
        let ops = [
            EditOp::UpdateMasterKey { key_id: 2, expiry_date: 7, key: Some([1, 2].into()) },
            EditOp::UpdateMasterKey { key_id: 1, expiry_date: 7, key: None },
            EditOp::GetDelegationToken { token: token(5), expiry_time: 3 },
            EditOp::GetDelegationToken { token: token(4), expiry_time: 3 },
            EditOp::RenewDelegationToken { token: token(5), expiry_time: 8 },
            EditOp::CancelDelegationToken { token: token(4) },
        ];
        for op in &ops {
            namespace.apply(op, TxId(1)).unwrap();
        }
        let secrets = &namespace.secrets;
        assert_eq!((secrets.current_id, secrets.sequence_number, secrets.keys.len()), (2, 5, 2));
        let left: Vec<(i32, i64)> = secrets.tokens.iter().map(|(n, token)| (*n, token.expiry_date)).collect();
        assert_eq!(left, [(5, 8)]);
        assert_eq!(*before.secrets, Secrets::default());
    }
}
