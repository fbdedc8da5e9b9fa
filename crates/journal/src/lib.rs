//! Edits and fsimage in Hadoop's formats: encode, decode, segments, group commit, roll, checkpoint, start-up.
//! Touches files only through `disk`, and knows no socket, no clock and no configuration file.
#![forbid(unsafe_code)]

pub mod ops;

mod checkpoint;
mod commit;
mod edit_log;
mod error;
mod format;
pub mod image;
mod names;
mod receive;
mod recover;
mod reread;
mod rolling;
mod scan;
mod segment;
mod startup;
mod storage;
mod transfer;
mod upgrade;
mod version;

pub use checkpoint::Saved;
pub use commit::{COMMIT_BYTES_MAX, CommitListener};
pub use edit_log::{EditLog, Roll};
pub use error::{Cut, Damage, DamageKind, JournalError};
pub use format::{clear, format, import};
pub use names::FileName;
pub use receive::SentImage;
pub use scan::{SegmentEnd, SegmentReader};
pub use segment::{HEADER_BYTES, PREALLOCATION_BYTES};
pub use startup::{LoadObserver, Loaded, parse_md5};
pub use storage::{Retention, Storage, is_formatted};
pub use transfer::StoredFile;
pub use upgrade::rollback;
pub use version::{LAYOUT_VERSION, OLDEST_WRITTEN_LAYOUT, StorageInfo};
