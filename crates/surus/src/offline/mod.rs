//! What the offline viewers `oev` and `oiv` share: options in the way of commons-cli, and files read and written in pieces.

mod files;
mod options;
mod xml;

pub use files::{Output, Window};
pub use options::{Opt, parse};
pub use xml::{Node, Step, XmlReader, mangle, unmangle};
