//! Permission bits, actions, and the owner-group-mode triple that create and mkdirs log.

use alloc::sync::Arc;
use core::fmt;

/// Mode bits: `rwxrwxrwx` and the sticky bit 01000.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FsPermission(pub u16);

impl FsPermission {
    /// All bits that Hadoop keeps: 01777.
    pub const MASK: u16 = 0o1777;
    /// Default of a new directory before the umask.
    pub const DIR_DEFAULT: FsPermission = FsPermission(0o777);
    /// Default of a new file before the umask.
    pub const FILE_DEFAULT: FsPermission = FsPermission(0o666);

    /// Keeps the bits HDFS stores and drops the rest.
    pub fn from_wire(bits: u32) -> Self {
        FsPermission((bits & u32::from(Self::MASK)) as u16)
    }
    /// What a client asks for; the sticky bit goes, as with Java. Source: `FsPermission.applyUMask`, Hadoop 3.5.0.
    pub fn apply_umask(self, umask: FsPermission) -> Self {
        FsPermission(self.0 & 0o777 & !umask.0)
    }
    pub fn user_action(self) -> FsAction {
        FsAction(((self.0 >> 6) & 7) as u8)
    }
    pub fn group_action(self) -> FsAction {
        FsAction(((self.0 >> 3) & 7) as u8)
    }
    pub fn other_action(self) -> FsAction {
        FsAction((self.0 & 7) as u8)
    }
    pub fn is_sticky(self) -> bool {
        self.0 & 0o1000 != 0
    }
}

/// The symbolic form of `FsPermission.toString`: `rwxr-xr-t`.
impl fmt::Display for FsPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, letter) in "rwxrwxrwx".chars().enumerate() {
            let set = self.0 & (0o400 >> i) != 0;
            let letter = match (i == 8 && self.is_sticky(), set) {
                (true, true) => 't',
                (true, false) => 'T',
                (false, true) => letter,
                (false, false) => '-',
            };
            write!(f, "{letter}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for FsPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

/// A set of read (4), write (2), execute (1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FsAction(pub u8);

impl FsAction {
    pub const NONE: FsAction = FsAction(0);
    pub const EXECUTE: FsAction = FsAction(1);
    pub const WRITE: FsAction = FsAction(2);
    pub const READ: FsAction = FsAction(4);
    pub const READ_EXECUTE: FsAction = FsAction(5);
    pub const ALL: FsAction = FsAction(7);

    /// Whether every bit of `wanted` is in this set.
    pub fn implies(self, wanted: FsAction) -> bool {
        self.0 & wanted.0 == wanted.0
    }
    pub fn or(self, other: FsAction) -> FsAction {
        FsAction(self.0 | other.0)
    }
    /// Hadoop's constant name, as AccessControlException texts show it: `READ_EXECUTE`.
    pub fn name(self) -> &'static str {
        ["NONE", "EXECUTE", "WRITE", "WRITE_EXECUTE", "READ", "READ_EXECUTE", "READ_WRITE", "ALL"]
            [usize::from(self.0 & 7)]
    }
}

/// Owner, group and mode of an inode.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PermissionStatus {
    pub user: Arc<str>,
    pub group: Arc<str>,
    pub permission: FsPermission,
}
