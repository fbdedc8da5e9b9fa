//! Refusals while safe mode is on. What it waits for, and its texts, are `namespace::blocks`' business.
//! Source: `FSNamesystem.newSafemodeException`, Hadoop 3.5.0.

use surus_namespace::Namespace;
use surus_types::{ExceptionClass, HdfsError};

/// The first sentence of a refusal without its full stop, in two parts: `Cannot create directory ` and `/x`. Kept apart
/// so that a call outside safe mode formats nothing.
#[derive(Clone, Copy, Debug)]
pub struct What<'a>(pub &'a str, pub &'a str);

/// SafeModeException. `host_name` is the NameNode's; `retriable` wraps it so that clients of an HA pair wait.
pub fn refuse(namespace: &Namespace, what: What<'_>, host_name: &str, retriable: bool, monotonic_ms: u64) -> HdfsError {
    let tip = namespace.blocks.safe_mode_tip(monotonic_ms);
    let What(verb, object) = what;
    let message = format!("{verb}{object}. Name node is in safe mode.\n{tip} NamenodeHostName:{host_name}");
    if retriable && namespace.blocks.safe_mode.is_startup() {
        let class = ExceptionClass::SafeMode.java_name();
        return HdfsError::new(ExceptionClass::Retriable, format!("{class}: {message}"));
    }
    HdfsError::new(ExceptionClass::SafeMode, message)
}
