//! Absolute paths in the form the NameNode accepts. A `HdfsPath` that exists is legal.

use crate::error::{ExceptionClass, HdfsError};
use alloc::format;
use alloc::string::String;

/// A legal absolute path: starts with `/`, no empty component, no `.`, no `..`, no `:`-only trick names.
/// Trailing and double slashes are refused here, since Hadoop's clients normalise before they send.
/// Source of the rule: `DFSUtilClient.isValidName`, Hadoop 3.5.0 (see the tests for what it lets through).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HdfsPath<'a>(&'a str);

impl<'a> HdfsPath<'a> {
    pub const ROOT: HdfsPath<'static> = HdfsPath("/");

    /// Checks the rule that all calls share.
    ///
    /// # Errors
    /// `InvalidPathException` with Hadoop's text, `Invalid path name Invalid file name: <src>` being made by the callers
    /// that need another one.
    pub fn parse(src: &'a str) -> Result<Self, HdfsError> {
        if is_valid_name(src) {
            Ok(HdfsPath(src))
        } else {
            Err(HdfsError::new(ExceptionClass::InvalidPath, format!("Invalid path name {src}")))
        }
    }

    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// The components below the root, none for `/`.
    pub fn components(self) -> impl DoubleEndedIterator<Item = &'a str> + Clone {
        self.0.split('/').filter(|c| !c.is_empty())
    }

    pub fn is_root(self) -> bool {
        self.0 == "/"
    }

    /// The path without its last component; `None` for the root.
    pub fn parent(self) -> Option<HdfsPath<'a>> {
        if self.is_root() {
            return None;
        }
        match self.0.rfind('/') {
            Some(0) | None => Some(HdfsPath("/")),
            Some(i) => Some(HdfsPath(&self.0[..i])),
        }
    }

    /// The last component; empty for the root.
    pub fn name(self) -> &'a str {
        self.0.rsplit('/').next().unwrap_or("")
    }

    /// `self` with one more component.
    pub fn join(self, name: &str) -> String {
        if self.is_root() { format!("/{name}") } else { format!("{}/{name}", self.0) }
    }
}

/// `/`, or `/` and components none of which is empty, `.`, `..`, or holds a `:` alone.
/// `..` is let through below `/.reserved/.inodes/`. Source: `DFSUtilClient.isValidName`, Hadoop 3.5.0.
fn is_valid_name(src: &str) -> bool {
    let Some(rest) = src.strip_prefix('/') else { return false };
    // Of a path of slashes alone Java's split leaves nothing that could be wrong.
    if rest.bytes().all(|b| b == b'/') {
        return true;
    }
    let inode_path = src.starts_with("/.reserved/.inodes/");
    let last = rest.split('/').count() - 1;
    rest.split('/').enumerate().all(|(i, component)| match component {
        // One trailing slash is let through by Hadoop; an empty component inside is not.
        "" => i == last,
        "." => false,
        ".." => inode_path && i > 2,
        c => !c.contains(':'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hadoop_accepts_and_refuses() {
        for ok in ["/", "//", "/a", "/a/b", "/a b/ü", "/a/", "/.reserved/.inodes/1/.."] {
            assert!(HdfsPath::parse(ok).is_ok(), "{ok}");
        }
        for bad in ["", "a", "//a", "/a//b", "/a/./b", "/..", "/a:b"] {
            assert!(HdfsPath::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn parts() {
        let p = HdfsPath::parse("/a/b").unwrap();
        assert_eq!((p.name(), p.parent().unwrap().as_str()), ("b", "/a"));
        assert_eq!(p.parent().unwrap().parent(), Some(HdfsPath::ROOT));
        assert_eq!(HdfsPath::ROOT.join("x"), "/x");
    }
}
