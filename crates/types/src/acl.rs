//! Entries of access control lists, and the text form that users write them in.

use crate::error::{ExceptionClass, HdfsError};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// An entry of an access control list. Numbers of `kind` and `scope` are those of `AclEntryProto`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AclEntry {
    /// Access (false) or default (true).
    pub is_default: bool,
    pub kind: AclEntryKind,
    pub name: Option<Arc<str>>,
    /// r 4, w 2, x 1.
    pub permission: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum AclEntryKind {
    User = 0,
    Group = 1,
    Mask = 2,
    Other = 3,
}

impl AclEntryKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
            Self::Mask => "mask",
            Self::Other => "other",
        }
    }
}

/// What is done to an access control list; entries in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AclChange<'a> {
    Modify(&'a [AclEntry]),
    RemoveEntries(&'a [AclEntry]),
    RemoveDefault,
    Remove,
    /// Without entries: as `Remove`.
    Set(&'a [AclEntry]),
}

impl AclChange<'_> {
    /// The name that audit logs and refusals show.
    pub fn operation(self) -> &'static str {
        match self {
            Self::Modify(_) => "modifyAclEntries",
            Self::RemoveEntries(_) => "removeAclEntries",
            Self::RemoveDefault => "removeDefaultAcl",
            Self::Remove => "removeAcl",
            Self::Set(_) => "setAcl",
        }
    }
}

/// `default:user:alice:r-x`.
impl fmt::Display for AclEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = if self.is_default { "default:" } else { "" };
        write!(f, "{scope}{}:{}:", self.kind.name(), self.name.as_deref().unwrap_or(""))?;
        for (bit, letter) in [(4, 'r'), (2, 'w'), (1, 'x')] {
            write!(f, "{}", if self.permission & bit != 0 { letter } else { '-' })?;
        }
        Ok(())
    }
}

/// Reads `user:alice:rwx,default:group::r-x`; without permissions where entries are to be removed.
///
/// # Errors
/// `HadoopIllegalArgumentException`. Source: `AclEntry.parseAclSpec`, Hadoop 3.5.0.
pub fn parse_acl_spec(text: &str, with_permission: bool) -> Result<Vec<AclEntry>, HdfsError> {
    text.split(',').filter(|word| !word.is_empty()).map(|word| parse_entry(word, with_permission)).collect()
}

fn parse_entry(text: &str, with_permission: bool) -> Result<AclEntry, HdfsError> {
    let illegal = |text: String| HdfsError::new(ExceptionClass::HadoopIllegalArgument, text);
    let bad = || illegal(format!("Invalid <aclSpec> : {text}"));
    // As Java splits: nothing empty at the end.
    let mut parts: Vec<&str> = text.split(':').collect();
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    let mut parts = parts.into_iter().peekable();
    let is_default = parts.next_if_eq(&"default").is_some();
    let kinds = [AclEntryKind::User, AclEntryKind::Group, AclEntryKind::Mask, AclEntryKind::Other];
    let word = parts.next().ok_or_else(bad)?;
    let kind = kinds
        .into_iter()
        .find(|kind| kind.name().eq_ignore_ascii_case(word))
        .ok_or_else(|| illegal(format!("Invalid type of acl in <aclSpec> :{text}")))?;
    let name = parts.next().filter(|name| !name.is_empty()).map(Arc::from);
    let mut permission = 0;
    if with_permission {
        let letters = parts.next().ok_or_else(bad)?;
        permission = action(letters).ok_or_else(|| illegal(format!("Invalid permission in <aclSpec> : {text}")))?;
    }
    match parts.next() {
        None => Ok(AclEntry { is_default, kind, name, permission }),
        Some(_) => Err(bad()),
    }
}

/// `r-x`.
fn action(letters: &str) -> Option<u8> {
    let &[r, w, x] = letters.as_bytes() else { return None };
    let mut bits = 0;
    for (have, letter, bit) in [(r, b'r', 4), (w, b'w', 2), (x, b'x', 1)] {
        match have {
            have if have == letter => bits |= bit,
            b'-' => {}
            _ => return None,
        }
    }
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn specs() {
        let text = "user:a:r-x,default:group::rw-,mask::---";
        let entries = parse_acl_spec(text, true).unwrap();
        assert_eq!(entries.iter().map(ToString::to_string).collect::<Vec<_>>().join(","), text);
        assert_eq!(parse_acl_spec("user:a,group:b:,mask", false).unwrap().len(), 3);
        for (bad, with_permission, problem) in [
            ("user:a", true, "Invalid <aclSpec> : user:a"),
            ("user:a:rwx", false, "Invalid <aclSpec> : user:a:rwx"),
            ("usr:a:rwx", true, "Invalid type of acl in <aclSpec> :usr:a:rwx"),
            ("user:a:rwq", true, "Invalid permission in <aclSpec> : user:a:rwq"),
            ("default", false, "Invalid <aclSpec> : default"),
            (":", false, "Invalid <aclSpec> : :"),
        ] {
            assert_eq!(parse_acl_spec(bad, with_permission).unwrap_err().message, problem);
        }
    }
}
