//! How many files this process may open.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Below this many open files a daemon says so: each block stream and each connection holds one or two.
const OPEN_FILES_WANTED: u64 = 4096;

/// Raises the limit of open files to the hard limit. A limit that stays low is worth a sentence.
pub fn raise_open_files() -> Option<String> {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum || (limit.maximum.is_none() && limit.current.is_some()) {
        let before = limit;
        limit.current = limit.maximum;
        if setrlimit(Resource::Nofile, limit).is_err() {
            limit = before;
        }
    }
    let current = limit.current?;
    (current < OPEN_FILES_WANTED).then(|| {
        format!(
            "only {current} files may be open at a time, {OPEN_FILES_WANTED} are wanted: raise the hard limit (ulimit -Hn, LimitNOFILE)"
        )
    })
}

/// Whether the kernel may give this process memory in pieces of 2 MiB. The allocator asks for them, and they spare a large
/// name table some CPU; but each is zeroed and resident whole from its first byte on, which more than doubles what an idle
/// `surus start` takes and is a good part of what a short command does. A child process inherits the setting.
pub fn allow_huge_pages(allowed: bool) {
    // A kernel that cannot be told does as it likes.
    let _ = rustix::thread::disable_transparent_huge_pages(!allowed);
}
