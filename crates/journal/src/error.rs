//! What can go wrong with names and edits on disk. Texts say what, where, and what to do.

use crate::ops::OpError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use surus_types::TxId;

/// An error of the journal.
#[derive(Debug)]
pub enum JournalError {
    /// The disk refused. `doing` completes "while ...".
    Io { doing: &'static str, source: io::Error },
    /// What went wrong with the last name directory.
    Directory { dir: PathBuf, error: Box<JournalError> },
    /// Another NameNode, ours or Java's, uses the directory.
    Locked(String),
    /// None of the directories holds a file system.
    NotFormatted(PathBuf),
    /// The directory to format holds something.
    NotEmpty { dir: PathBuf, found: String },
    /// VERSION (or seen_txid) does not parse, or contradicts another directory or the image.
    Version { file: PathBuf, problem: String },
    /// An edit segment is damaged: the NameNode must not guess.
    Damaged(Box<Damage>),
    /// Transactions that must be there are in no directory.
    Gap { first: TxId, last: TxId },
    /// No image can be read; the reasons, one for each.
    NoImage(Vec<JournalError>),
    /// An image does not read.
    Image { file: PathBuf, section: String, offset: u64, problem: String },
    /// An operation of the log does not fit the state before it.
    Replay { file: PathBuf, offset: u64, txid: TxId, problem: String },
    /// A former upgrade is neither finalized nor rolled back.
    UpgradeExists,
    /// There is nothing to roll back to.
    NoPrevious,
    /// No rolling upgrade was prepared, or it is finalized.
    NoRollbackImage,
    /// All name directories failed, or the log was closed.
    Stopped(String),
}

/// A bad operation that is no torn tail.
#[derive(Debug)]
pub struct Damage {
    pub file: PathBuf,
    /// Where the bad operation begins.
    pub offset: u64,
    /// The transaction that should stand there.
    pub txid: TxId,
    pub problem: DamageKind,
}

/// A transaction before which the log can be cut.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    pub txid: TxId,
    /// Where it stands: segment and offset. `None`: in no segment.
    pub at: Option<(PathBuf, u64)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DamageKind {
    Op(OpError),
    /// The first eight bytes are no header of a segment of this layout.
    Header(String),
    /// A sound operation with another transaction id.
    WrongTxId(TxId),
    /// The segment's name promises more transactions than it holds.
    EndsEarly,
    /// The segment holds more transactions than its name says.
    RunsOver,
}

impl JournalError {
    /// For `map_err`: an I/O error with what was being done.
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> JournalError {
        move |source| JournalError::Io { doing, source }
    }

    /// For what recovery mode can pass over, or cut the log before: where it is.
    pub fn cut(&self) -> Option<Cut> {
        match self {
            JournalError::Damaged(damage) => {
                Some(Cut { txid: damage.txid, at: Some((damage.file.clone(), damage.offset)) })
            }
            JournalError::Replay { file, offset, txid, .. } => {
                Some(Cut { txid: *txid, at: Some((file.clone(), *offset)) })
            }
            JournalError::Gap { first, .. } => Some(Cut { txid: *first, at: None }),
            _ => None,
        }
    }

    /// The text for who repairs already: without the hint how to.
    pub fn in_recovery(&self) -> String {
        match self {
            JournalError::Damaged(damage) => damage.what(),
            other => other.to_string(),
        }
    }

    pub(crate) fn damaged(file: &Path, offset: u64, txid: TxId, problem: DamageKind) -> JournalError {
        JournalError::Damaged(Box::new(Damage { file: file.to_path_buf(), offset, txid, problem }))
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JournalError::Io { doing, source } => write!(f, "while {doing}: {source}"),
            JournalError::Directory { dir, error } => write!(f, "{}: {error}", dir.display()),
            JournalError::Locked(text) => write!(f, "{text}. Only one NameNode can use a name directory"),
            JournalError::NotFormatted(dir) => {
                write!(f, "{} is not formatted. Format it with: surus namenode -format", dir.display())
            }
            JournalError::NotEmpty { dir, found } => {
                write!(
                    f,
                    "{} is not formatted: it holds {found}. Empty it first, or name another directory",
                    dir.display()
                )
            }
            JournalError::Version { file, problem } => write!(f, "{}: {problem}", file.display()),
            JournalError::Damaged(damage) => damage.fmt(f),
            JournalError::Gap { first, last } if first == last => write!(
                f,
                "transaction {first} is in no name directory. Restore its edits segment, or the directory, from a copy"
            ),
            JournalError::Gap { first, last } => write!(
                f,
                "transactions {first} to {last} are in no name directory. Restore their edits segments, or the \
                 directory, from a copy"
            ),
            JournalError::NoImage(reasons) => {
                write!(f, "no fsimage can be read")?;
                reasons.iter().try_for_each(|reason| write!(f, "; {reason}"))
            }
            JournalError::Image { file, section, offset, problem } => {
                write!(f, "{}: section {section} at offset {offset}: {problem}", file.display())
            }
            JournalError::Replay { file, offset, txid, problem } => write!(
                f,
                "{}: transaction {txid} at offset {offset} does not fit the state before it: {problem}",
                file.display()
            ),
            JournalError::UpgradeExists => {
                write!(f, "previous fs state should not exist during upgrade. Finalize or rollback first")
            }
            JournalError::NoPrevious => {
                write!(f, "Cannot rollback. None of the storage directories contain previous fs state")
            }
            JournalError::NoRollbackImage => write!(
                f,
                "there is no rollback image (fsimage_rollback): no rolling upgrade was prepared, or it is finalized"
            ),
            JournalError::Stopped(why) => write!(f, "the edit log has stopped: {why}"),
        }
    }
}

impl Damage {
    fn what(&self) -> String {
        let Damage { file, offset, txid, problem } = self;
        let problem = match problem {
            DamageKind::Op(error) => error.to_string(),
            DamageKind::Header(text) => text.clone(),
            DamageKind::WrongTxId(found) => format!("transaction {found} stands there"),
            DamageKind::EndsEarly => "the log ends there, before the transactions that its name promises".to_owned(),
            DamageKind::RunsOver => "more transactions than its name promises".to_owned(),
        };
        format!("{} is damaged at offset {offset}, transaction {txid}: {problem}", file.display())
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}. Nothing was changed. Restore the file from another name directory or a copy; to give up transaction {}, \
             or it and all after it: surus namenode -recover",
            self.what(),
            self.txid
        )
    }
}

impl std::error::Error for JournalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            JournalError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
