//! Faults that a test asks for: which calls fail, and how.

use std::io;
use std::path::Path;

/// The calls that a fault can hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    Read,
    /// `write_at` and `set_len`.
    Write,
    /// Syncs of files and directories.
    Sync,
    /// Opening for writing, renaming, removing, making directories, locking.
    Name,
    /// `Write`, `Sync` and `Name`.
    AnyChange,
}

impl FaultKind {
    fn covers(self, kind: FaultKind) -> bool {
        self == kind || (self == FaultKind::AnyChange && kind != FaultKind::Read)
    }
}

/// What happens to the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultEffect {
    Error(io::ErrorKind),
    /// The write ends after so many bytes (0: `write_all_at` fails with `WriteZero`); other calls fail.
    Short(usize),
}

impl FaultEffect {
    pub(super) fn error(self, path: &Path) -> io::Error {
        let kind = match self {
            FaultEffect::Error(kind) => kind,
            FaultEffect::Short(_) => io::ErrorKind::Other,
        };
        io::Error::new(kind, format!("{}: injected fault", path.display()))
    }
}

/// A fault: the calls of one kind below one path, from the nth on.
#[derive(Clone, Debug)]
pub struct Fault {
    pub kind: FaultKind,
    /// Only paths that contain this text; empty: all.
    pub path_contains: String,
    /// How many such calls go well first.
    pub skip: u64,
    /// How many fail then; `u64::MAX`: all.
    pub count: u64,
    pub effect: FaultEffect,
}

impl Fault {
    /// All calls of the kind fail from now on.
    pub fn all(kind: FaultKind, error: io::ErrorKind) -> Fault {
        let effect = FaultEffect::Error(error);
        Fault { kind, path_contains: String::new(), skip: 0, count: u64::MAX, effect }
    }
    /// Only below paths that contain `text`.
    pub fn below(self, text: &str) -> Fault {
        Fault { path_contains: text.to_owned(), ..self }
    }
    /// Only after `skip` such calls went well.
    pub fn after(self, skip: u64) -> Fault {
        Fault { skip, ..self }
    }
    /// Only so many calls.
    pub fn times(self, count: u64) -> Fault {
        Fault { count, ..self }
    }
    /// With another effect.
    pub fn with(self, effect: FaultEffect) -> Fault {
        Fault { effect, ..self }
    }
}

#[derive(Default)]
pub(super) struct Faults {
    active: Vec<Fault>,
    calls: u64,
}

impl Faults {
    pub fn add(&mut self, fault: Fault) {
        self.active.push(fault);
    }
    pub fn clear(&mut self) {
        self.active.clear();
    }
    pub fn calls(&self) -> u64 {
        self.calls
    }

    pub fn check(&mut self, kind: FaultKind, path: &Path) -> Option<FaultEffect> {
        if kind != FaultKind::Read {
            self.calls += 1;
        }
        let mut effect = None;
        for fault in &mut self.active {
            if !fault.kind.covers(kind) || !path.to_string_lossy().contains(&fault.path_contains) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
            } else if fault.count > 0 {
                fault.count -= if fault.count == u64::MAX { 0 } else { 1 };
                effect = effect.or(Some(fault.effect));
            }
        }
        effect
    }
}
