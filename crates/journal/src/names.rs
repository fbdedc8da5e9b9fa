//! Names of the files in a name directory's `current`. Source: `NNStorage.java`, Hadoop 3.5.0.

use std::path::{Path, PathBuf};
use surus_types::TxId;

pub const CURRENT: &str = "current";
pub const VERSION: &str = "VERSION";
pub const SEEN_TXID: &str = "seen_txid";
pub const IN_USE_LOCK: &str = "in_use.lock";

/// A file of the journal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FileName {
    /// `fsimage_N`
    Image(TxId),
    /// `fsimage_N.md5`
    ImageMd5(TxId),
    /// `fsimage_rollback_N`: the state at which a rolling upgrade began.
    ImageRollback(TxId),
    /// `fsimage_rollback_N.md5`
    ImageRollbackMd5(TxId),
    /// `fsimage.ckpt_N`: being written, or left by a crash.
    ImageCheckpoint(TxId),
    /// `fsimage.received_N`: an image that is sent here, or was left by a crash. Hadoop passes over the name.
    ImageReceived(TxId),
    /// `edits_A-B`
    Finalized { first: TxId, last: TxId },
    /// `edits_inprogress_A`
    InProgress(TxId),
}

impl FileName {
    /// None: a file that the journal does not touch.
    pub fn parse(name: &str) -> Option<FileName> {
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if is_number { digits.parse().ok().map(TxId) } else { None }
        };
        if let Some(rest) = name.strip_prefix("edits_inprogress_") {
            return number(rest).map(FileName::InProgress);
        }
        if let Some(rest) = name.strip_prefix("edits_") {
            let (first, last) = rest.split_once('-')?;
            return Some(FileName::Finalized { first: number(first)?, last: number(last)? });
        }
        if let Some(rest) = name.strip_prefix("fsimage.ckpt_") {
            return number(rest).map(FileName::ImageCheckpoint);
        }
        if let Some(rest) = name.strip_prefix("fsimage.received_") {
            return number(rest).map(FileName::ImageReceived);
        }
        if let Some(rest) = name.strip_prefix("fsimage_rollback_") {
            return match rest.strip_suffix(".md5") {
                Some(rest) => number(rest).map(FileName::ImageRollbackMd5),
                None => number(rest).map(FileName::ImageRollback),
            };
        }
        let rest = name.strip_prefix("fsimage_")?;
        match rest.strip_suffix(".md5") {
            Some(rest) => number(rest).map(FileName::ImageMd5),
            None => number(rest).map(FileName::Image),
        }
    }

    /// The path in a name directory (the one that holds `current`).
    pub fn path(self, dir: &Path) -> PathBuf {
        dir.join(CURRENT).join(self.to_string())
    }
}

impl std::fmt::Display for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileName::Image(txid) => write!(f, "fsimage_{:019}", txid.0),
            FileName::ImageMd5(txid) => write!(f, "fsimage_{:019}.md5", txid.0),
            FileName::ImageRollback(txid) => write!(f, "fsimage_rollback_{:019}", txid.0),
            FileName::ImageRollbackMd5(txid) => write!(f, "fsimage_rollback_{:019}.md5", txid.0),
            FileName::ImageCheckpoint(txid) => write!(f, "fsimage.ckpt_{:019}", txid.0),
            FileName::ImageReceived(txid) => write!(f, "fsimage.received_{:019}", txid.0),
            FileName::Finalized { first, last } => write!(f, "edits_{:019}-{:019}", first.0, last.0),
            FileName::InProgress(first) => write!(f, "edits_inprogress_{:019}", first.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for name in [
            "fsimage_0000000000000002387",
            "fsimage_0000000000000002387.md5",
            "fsimage.ckpt_0000000000000002387",
            "fsimage.received_0000000000000002387",
            "fsimage_rollback_0000000000000002387",
            "fsimage_rollback_0000000000000002387.md5",
            "edits_0000000000000000001-0000000000000001155",
            "edits_inprogress_0000000000000002917",
        ] {
            assert_eq!(FileName::parse(name).unwrap().to_string(), name);
        }
        for other in ["VERSION", "edits_1", "edits_inprogress_7.corrupt", "fsimage_", "fsimage_+1", "edits_a-b", "in"] {
            assert_eq!(FileName::parse(other), None, "{other}");
        }
    }
}
