//! Percent-decoding as Hadoop's servers do it, and encoding for redirects.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stays as it is in the path of a redirect. `+`, `;` and `%` are encoded: some clients read them otherwise.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');
/// What means nothing in any part of a URL, or of a header.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What stays as it is in a query value.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'*')
    .remove(b':')
    .remove(b',')
    .remove(b'/')
    .remove(b'$');

/// A path: `%XX` is decoded, `+` and `;` stay. Bytes that are not UTF-8 become U+FFFD, as in Java (seen on 3.5.0).
pub(crate) fn decode_path(raw: &str) -> String {
    percent_decode_str(raw).decode_utf8_lossy().into_owned()
}

/// A name or value of a query: `+` is a blank. Bytes that are not UTF-8 become U+FFFD, as in Java.
pub(crate) fn decode_query(raw: &str) -> String {
    let raw = raw.replace('+', " ");
    percent_decode_str(&raw).decode_utf8_lossy().into_owned()
}

/// The name-value pairs of a query, in order.
pub(crate) fn pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|p| !p.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode_query(name), decode_query(value))
    })
}

pub(crate) fn encode_path(path: &str) -> impl std::fmt::Display {
    utf8_percent_encode(path, PATH)
}

/// One component of a path or one value, with nothing left that means anything anywhere.
pub(crate) fn encode_component(text: &str) -> impl std::fmt::Display {
    utf8_percent_encode(text, COMPONENT)
}

pub(crate) fn encode_value(value: &str) -> impl std::fmt::Display {
    utf8_percent_encode(value, VALUE)
}

/// What Java's `new Path(path)` makes of an absolute path: no double slashes, no slash at the end, `.` and `..` resolved; a `..`
/// above the root stays. Source: `Path.java`, Hadoop 3.5.0; seen on 3.5.0 with `destination`.
pub fn normalize(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            other => kept.push(other),
        }
    }
    format!("/{}", kept.join("/"))
}
