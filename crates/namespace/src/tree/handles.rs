//! 32-bit handles: positions in the tables of this process. Never written to disk or wire.

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(pub u32);

        impl From<u32> for $name {
            fn from(raw: u32) -> Self {
                $name(raw)
            }
        }
        impl From<$name> for u32 {
            fn from(handle: $name) -> u32 {
                handle.0
            }
        }
    };
}

handle! {
    /// An inode's place in the inode table.
    InodeHandle
}

impl InodeHandle {
    /// `/`: always the first entry.
    pub const ROOT: InodeHandle = InodeHandle(0);
}
