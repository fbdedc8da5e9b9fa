//! Hadoop's configuration: site XML (text in, values out), `-D` overrides, and the one table of keys that Surus reads.
//! It opens no file: callers hand in the texts.
#![forbid(unsafe_code)]

mod configuration;
mod error;
mod expand;
pub mod keys;
mod site_xml;
mod value;

pub use configuration::{Configuration, SITE_FILES};
pub use error::ConfError;
pub use keys::{Key, KeyRow};
pub use site_xml::FindInclude;
pub use value::{
    Addr, Address, Bool, Dirs, Duration, Float, Int, List, Long, Milliseconds, Minutes, Mode, Number, OneOf, Optional,
    Seconds, Size, StorageDir, StorageDirs, Text, Umask, Value,
};
