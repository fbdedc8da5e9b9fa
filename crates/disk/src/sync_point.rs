//! Every sync call has a name. `cargo xtask mutate-syncs` finds the names in the sources, turns one off at a time
//! (feature `mutate-syncs`, environment variable `SURUS_SKIP_SYNC`), and expects a crash test to fail.

use std::io;

/// The name of one sync call: `crate.what`, for example `SyncPoint("journal.commit")`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SyncPoint(pub &'static str);

impl SyncPoint {
    /// Whether this build and environment turn the call off. Always false without the feature.
    pub(crate) fn is_skipped(self) -> bool {
        #[cfg(feature = "mutate-syncs")]
        {
            use std::sync::OnceLock;
            static SKIPPED: OnceLock<Option<String>> = OnceLock::new();
            SKIPPED.get_or_init(|| std::env::var("SURUS_SKIP_SYNC").ok()).as_deref() == Some(self.0)
        }
        #[cfg(not(feature = "mutate-syncs"))]
        false
    }
}

/// `fdatasync` of a handle that was lent by `DiskFile::as_std_file`.
pub fn sync_std_file(file: &std::fs::File, point: SyncPoint) -> io::Result<()> {
    if point.is_skipped() { Ok(()) } else { file.sync_data() }
}
