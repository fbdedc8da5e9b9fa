//! `namenode -recover`: loads the name directories and asks about each thing in the edits that keeps them from loading.
//! Source: `MetaRecoveryContext.java`, `FSEditLogLoader.java`, `NameNode.doRecovery`, Hadoop 3.5.0.

use crate::config::namespace_config;
use crate::error::StartError;
use crate::storage::{lock_content, name_dirs};
use std::collections::HashMap;
use std::sync::Arc;
use surus_conf::Configuration;
use surus_disk::RealDisk;
use surus_journal::{JournalError, LoadObserver, Retention, Storage};
use surus_types::TxId;

/// What is to be done about a transaction that is damaged, missing, or does not apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecoveryChoice {
    /// Go on behind it.
    Continue,
    /// Give it and all after it up; what is given up is kept aside.
    Stop,
    /// Leave everything as it is.
    Quit,
}

/// What is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecoveryQuestion {
    pub problem: String,
    /// What going on means, as Hadoop says it.
    pub by: &'static str,
}

struct Observer<F> {
    ask: F,
    /// Asked once for a transaction: other directories have copies, and loading begins anew after a stop.
    answers: HashMap<TxId, RecoveryChoice>,
}

impl<F: FnMut(&RecoveryQuestion) -> RecoveryChoice> LoadObserver for Observer<F> {
    fn passes_over(&mut self, problem: &JournalError) -> bool {
        let (Some(cut), Some(by)) = (problem.cut(), by(problem)) else { return false };
        let answer = self.answers.entry(cut.txid).or_insert_with(|| {
            let problem = problem.in_recovery();
            tracing::error!("{problem}");
            (self.ask)(&RecoveryQuestion { problem, by })
        });
        *answer == RecoveryChoice::Continue
    }

    fn notice(&mut self, text: &str) {
        tracing::warn!("{text}");
    }
}

fn by(problem: &JournalError) -> Option<&'static str> {
    Some(match problem {
        JournalError::Damaged(_) => "skipping the bad section in the log",
        JournalError::Gap { .. } => "ignoring missing  transaction IDs",
        JournalError::Replay { .. } => "applying edits",
        _ => return None,
    })
}

/// Loads, and saves an image where something was passed over. Returns the last transaction that is left, `None` where `ask`
/// answered `Quit`.
///
/// # Errors
/// What `Storage::load` fails with beyond what is asked about; or the disk's.
pub fn recover(
    conf: &Configuration,
    user: &str,
    ask: impl FnMut(&RecoveryQuestion) -> RecoveryChoice,
) -> Result<Option<TxId>, StartError> {
    // Nothing is purged: who recovers may want to try again.
    let keep_all = Retention { images: usize::MAX, extra_edits: u64::MAX, extra_segments: usize::MAX };
    let storage = Storage::open(Arc::new(RealDisk), &name_dirs(conf)?, &lock_content(conf), keep_all)?;
    let mut observer = Observer { ask, answers: HashMap::new() };
    loop {
        let error = match storage.load(namespace_config(conf, user)?, &mut observer) {
            Ok(loaded) => return Ok(Some(loaded.last_txid)),
            Err(error) => error,
        };
        let Some(cut) = error.cut() else { return Err(error.into()) };
        match observer.answers.get(&cut.txid) {
            Some(RecoveryChoice::Stop) => {
                for path in storage.give_up_from(&cut)? {
                    tracing::warn!("kept aside: {}", path.display());
                }
            }
            Some(RecoveryChoice::Quit) => return Ok(None),
            _ => return Err(error.into()),
        }
    }
}
