//! What `/jmx` tells of the name directories and the edit log in them, each as a JSON text.
//! Source: `FSNamesystem.java` (getters of `NameNodeMXBean`), Hadoop 3.5.0.

use super::beans::write_json_string;
use crate::core::Core;
use std::fmt::Write as _;

/// JournalTransactionInfo.
pub fn transactions(core: &Core) -> String {
    let (checkpoint, last) = (core.last_checkpoint().txid.0, core.last_txid().0);
    format!("{{\"MostRecentCheckpointTxId\":\"{checkpoint}\",\"LastAppliedOrWrittenTxId\":\"{last}\"}}")
}

/// NameDirStatuses.
pub fn name_dirs(core: &Core) -> String {
    let mut out = String::from("{\"active\":{");
    let dirs = core.journal.directories();
    let mut put = |live: bool| {
        for (i, (dir, _)) in dirs.iter().filter(|(_, l)| *l == live).enumerate() {
            out.push_str(if i == 0 { "" } else { "," });
            write_json_string(&mut out, &dir.to_string_lossy());
            out.push_str(":\"IMAGE_AND_EDITS\"");
        }
        out.push_str(if live { "},\"failed\":{" } else { "}}" });
    };
    put(true);
    put(false);
    out
}

/// NameJournalStatus: each directory is a journal.
pub fn journals(core: &Core) -> String {
    let segment = format!("edits_inprogress_{:019}", core.journal.segment_first_txid().0);
    let mut out = String::from("[");
    for (i, (dir, is_live)) in core.journal.directories().into_iter().enumerate() {
        let is_required = core.config.edits_dirs_required.contains(&dir);
        let dir = dir.to_string_lossy();
        out.push_str(if i == 0 { "{\"manager\":" } else { ",{\"manager\":" });
        write_json_string(&mut out, &format!("FileJournalManager(root={dir})"));
        out.push_str(",\"stream\":");
        let stream =
            if is_live { format!("EditLogFileOutputStream({dir}/current/{segment})") } else { "Failed".to_owned() };
        write_json_string(&mut out, &stream);
        let _ = write!(out, ",\"disabled\":\"{}\",\"required\":\"{is_required}\"}}", !is_live);
    }
    out.push(']');
    out
}
