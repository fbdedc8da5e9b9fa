//! WebHDFS without a server: HTTP method, path and query in, a typed request out; file statuses, summaries and exceptions as JSON.
//! Nothing here knows who serves it: `answer` asks a `FileSystem`. Sources: `NamenodeWebHdfsMethods.java`, `JsonUtil.java`, `WebHdfsHandler.java`, Hadoop 3.5.0.
#![forbid(unsafe_code)]

mod answer;
mod file_system;
pub mod json;
pub mod json_ec;
pub mod json_httpfs;
pub mod json_snapshots;
mod params;
mod parse;
mod redirect;
mod request;
mod url;
pub mod web;

pub use answer::{Answer, KeepName, Page, answer};
pub use file_system::{
    AclStatus, DiffEntry, DiffListing, DiffListingEntry, DiffPage, DiffReport, FileSystem, PutBlocks, PutSnapshot,
    PutSnapshottable, PutStatus,
};
pub use parse::{PREFIX, httpfs_location, parse, path_below_prefix, unsupported_error, user_name};
pub use redirect::location;
pub use request::{Create, CreateFlags, Method, Operation, RenameOptions, Request, Side};
pub use url::normalize;

/// Headers that the NameNode puts on every WebHDFS answer, besides `Date` and `Expires`, which hold the time.
/// Source: seen on 3.5.0 (`HttpServer2.java`, `NoCacheFilter`).
pub const NAMENODE_HEADERS: [(&str, &str); 5] = [
    ("Cache-Control", "no-cache"),
    ("Pragma", "no-cache"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-FRAME-OPTIONS", "SAMEORIGIN"),
    ("X-XSS-Protection", "1; mode=block"),
];
/// Content type of every JSON answer of the NameNode.
pub const JSON: &str = "application/json";
/// Content type of every JSON answer of the DataNode.
pub const DATANODE_JSON: &str = "application/json; charset=utf-8";
/// Content type of file data and of empty answers.
pub const OCTET_STREAM: &str = "application/octet-stream";
/// The user of a request that names none (`hadoop.http.staticuser.user`).
pub const DEFAULT_USER: &str = "dr.who";

/// How long Hadoop's authentication cookie holds (`hadoop.http.authentication.token.validity`).
const COOKIE_LIFE_MS: i64 = 36_000_000;
/// Of the right look. With simple authentication nobody reads it back.
const COOKIE_SIGNATURE: &str = "c3VydXMgcmVhZHMgbm8gY29va2llcyBoZXJlLiAgICA=";

/// The `Set-Cookie` of an answer to a request that names its user.
pub fn new_auth_cookie(user: &str, now_ms: i64) -> String {
    auth_cookie(user, now_ms.saturating_add(COOKIE_LIFE_MS), COOKIE_SIGNATURE)
}

/// The same in all its parts, in the form of Hadoop's authentication filter.
/// Source: `AuthenticatedURL.java`, `AuthenticationToken.java`, Hadoop 3.5.0.
pub fn auth_cookie(user: &str, expires_ms: i64, signature: &str) -> String {
    format!("hadoop.auth=\"u={user}&p={user}&t=simple&e={expires_ms}&s={signature}\"; Path=/; HttpOnly")
}
