//! The mark of a rolling upgrade: when it began. What it means on disk is `journal`'s business.
//! Source: `FSNamesystem.java` (`startRollingUpgradeInternal`), Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::Applied;

/// A rolling upgrade that is not finalized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RollingUpgrade {
    /// Milliseconds since 1970.
    pub start_time: i64,
}

pub(crate) fn apply_start(namespace: &mut Namespace, start_time: i64) -> Applied {
    namespace.rolling_upgrade = Some(RollingUpgrade { start_time });
    namespace.rolling_upgrade_finalized = false;
    Applied::default()
}

pub(crate) fn apply_finalize(namespace: &mut Namespace) -> Applied {
    namespace.rolling_upgrade_finalized |= namespace.rolling_upgrade.take().is_some();
    Applied::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EditOp;
    use surus_types::TxId;

    #[test]
    fn starts_and_ends() {
        let mut namespace = Namespace::default();
        namespace.apply(&EditOp::RollingUpgradeStart { time: 5 }, TxId(1)).unwrap();
        assert_eq!(namespace.freeze().rolling_upgrade, Some(RollingUpgrade { start_time: 5 }));
        namespace.apply(&EditOp::RollingUpgradeFinalize { time: 6 }, TxId(2)).unwrap();
        assert_eq!((namespace.rolling_upgrade, namespace.rolling_upgrade_finalized), (None, true));
    }
}
