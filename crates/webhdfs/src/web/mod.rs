//! The plain web door, `/fs/PATH`, without a server: paths, conditional requests and ranges, pages of directories.

mod conditions;
mod directory;
mod head;
mod links;
mod multipart;
mod names;

pub use conditions::{Selected, is_conditional, may_change, must_be_new, select};
pub use directory::DirectoryPage;
pub use head::{Representation, describe, identify, status};
pub use links::{Link, sign, verify};
pub use multipart::{Multipart, content_range};
pub use names::content_type;

use crate::params::{Params, illegal};
use crate::request::Side;
use percent_encoding::percent_decode_str;
use surus_types::HdfsError;

/// Where all its paths begin.
pub const PREFIX: &str = "/fs";

/// The still encoded path behind `/fs`; `None` for another URL.
pub fn path_below_prefix(path: &str) -> Option<&str> {
    path.strip_prefix(PREFIX).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A parsed request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileRequest {
    /// Absolute, decoded, without empty components, `.` and `..`.
    pub path: String,
    /// `user.name`, checked to be a user's name.
    pub user: Option<String>,
    /// `doas`: the user to act as.
    pub do_as: Option<String>,
    /// `filename`: save it under this name; empty: its own.
    pub file_name: Option<String>,
    /// `recursive`: a directory is deleted with all in it.
    pub recursive: bool,
    /// It came by a signed link.
    pub link: Option<Link>,
}

/// Parses path and query as they stand in the URL.
///
/// # Errors
/// `IllegalArgumentException`: a path that is not UTF-8, or has `.` or `..` in it; a user that is no user's name.
pub fn parse(path: &str, query: &str) -> Result<FileRequest, HdfsError> {
    let params = Params::new(Side::NameNode, query);
    let link = match (params.text("signature"), params.long("expires", 0)?) {
        (None, _) => None,
        (Some(_), None) => return Err(illegal("A signed link says when it expires.")),
        (Some(signature), Some(expires_s)) => Some(Link { expires_s, signature: signature.to_owned() }),
    };
    Ok(FileRequest {
        path: decode(path_below_prefix(path).unwrap_or(path))?,
        user: params.user()?,
        do_as: params.text("doas").map(str::to_owned),
        file_name: params.raw("filename").map(str::to_owned),
        recursive: params.boolean("recursive", false)?,
        link,
    })
}

/// Decodes a path once. Whatever encoding hid them, `.` and `..` are refused: nobody who sends them means a name.
fn decode(raw: &str) -> Result<String, HdfsError> {
    let path = percent_decode_str(raw).decode_utf8().map_err(|_| illegal("The path is not UTF-8."))?;
    let mut kept = String::with_capacity(path.len());
    for component in path.split('/').filter(|component| !component.is_empty()) {
        if matches!(component, "." | "..") || component.contains('\0') {
            return Err(illegal("A path has neither . nor .. in it."));
        }
        kept.push('/');
        kept.push_str(component);
    }
    Ok(if kept.is_empty() { "/".to_owned() } else { kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let mut shown = String::new();
        for url in [
            "/fs",
            "/fs/",
            "/fs//a//b/",
            "/fs/a%20b+c",
            "/fs/%E4%BD%A0",
            "/fs/a%2Fb",
            "/fs/%252e%252e/x",
            "/fs/..a/b..",
            "/fs/..",
            "/fs/a/../b",
            "/fs/%2e%2e/a",
            "/fs/.%2E",
            "/fs/a%2F..%2Fb",
            "/fs/./a",
            "/fs/%2E",
            "/fs/%c0%ae%c0%ae",
            "/fs/%ff",
            "/fs/a%00b",
            "/fs/..%2f..%2fetc",
            "/fs/%2e%2e%2f",
        ] {
            let path = parse(url, "").map_or_else(|_| "refused".to_owned(), |r| r.path);
            shown.push_str(&format!("{url} {path}\n"));
        }
        let want = "\
/fs /
/fs/ /
/fs//a//b/ /a/b
/fs/a%20b+c /a b+c
/fs/%E4%BD%A0 /你
/fs/a%2Fb /a/b
/fs/%252e%252e/x /%2e%2e/x
/fs/..a/b.. /..a/b..
/fs/.. refused
/fs/a/../b refused
/fs/%2e%2e/a refused
/fs/.%2E refused
/fs/a%2F..%2Fb refused
/fs/./a refused
/fs/%2E refused
/fs/%c0%ae%c0%ae refused
/fs/%ff refused
/fs/a%00b refused
/fs/..%2f..%2fetc refused
/fs/%2e%2e%2f refused
";
        assert_eq!(shown, want);
        assert!(path_below_prefix("/fsck").is_none() && path_below_prefix("/fs").is_some());
    }

    #[test]
    fn queries() {
        let request = parse("/fs/a", "user.name=al&doas=bo&filename=x+y%22").unwrap();
        let shown = (request.user.as_deref(), request.do_as.as_deref(), request.file_name.as_deref());
        assert_eq!(shown, (Some("al"), Some("bo"), Some("x y\"")));
        assert!(parse("/fs/a", "user.name=9").is_err());
    }
}
