//! Newtypes for the numbers that must never be swapped: inode ids, block ids, generation stamps, transaction ids.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            /// As Java shows a `long`: what a client makes up may be negative.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&(self.0 as i64), f)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

id! {
    /// An inode's number. The root is 16385; 0 ("grandfather") means "not given" in requests.
    /// Source: `INodeId.java`, Hadoop 3.5.0.
    InodeId(u64)
}
id! {
    /// A block's number. Contiguous blocks count up from 1073741825; ids of striped groups are negative.
    /// Source: `SequentialBlockIdGenerator.java`, Hadoop 3.5.0.
    BlockId(i64)
}
id! {
    /// The version of a block: raised by every append, truncate and pipeline recovery.
    /// The first stamp given out is 1001. Source: `GenerationStamp.java`, Hadoop 3.5.0.
    GenerationStamp(u64)
}
id! {
    /// The number of an edit-log transaction, counted from 1. 0: none.
    TxId(u64)
}

impl InodeId {
    /// `/`. Ids below are reserved.
    pub const ROOT: InodeId = InodeId(16385);
    /// "Not given": requests of old clients carry it.
    pub const GRANDFATHER: InodeId = InodeId(0);
}

impl BlockId {
    /// The last reserved id: the first block allocated on a fresh file system is this plus one.
    pub const LAST_RESERVED: BlockId = BlockId(1_073_741_824);

    /// Whether the id can be of an erasure-coded block group (the sign bit is set). Some blocks from before Hadoop 2 have such ids,
    /// too: of a block that is known its file says what it is.
    pub fn is_striped(self) -> bool {
        self.0 < 0
    }
}

impl GenerationStamp {
    /// The last reserved stamp: the first one given out is this plus one.
    pub const LAST_RESERVED: GenerationStamp = GenerationStamp(1000);
}
