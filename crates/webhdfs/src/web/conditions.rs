//! What a conditional request, or one for ranges, selects. Source: RFC 9110, sections 13 and 14.

use super::head::Representation;
use headers::{
    HeaderMap, HeaderMapExt, IfMatch, IfModifiedSince, IfNoneMatch, IfRange, IfUnmodifiedSince, LastModified,
};
use std::ops::Range;

/// More ranges than this are ignored, as are ranges that come to more than the file: the whole of it is less work.
const RANGES_MAX: usize = 64;

/// What of a file is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selected {
    Whole,
    /// In the order asked for; none is empty or beyond the end.
    Parts(Vec<Range<u64>>),
    NotModified,
    PreconditionFailed,
    /// No range begins inside the file.
    Unsatisfiable,
}

/// What a GET or HEAD selects, by the order of checks of RFC 9110, section 13.2.2. `is_get`: ranges count.
pub fn select(is_get: bool, headers: &HeaderMap, file: &Representation) -> Selected {
    let passes = match headers.typed_get::<IfMatch>() {
        Some(wanted) => wanted.precondition_passes(&file.etag),
        None => headers.typed_get::<IfUnmodifiedSince>().is_none_or(|since| since.precondition_passes(file.modified)),
    };
    if !passes {
        return Selected::PreconditionFailed;
    }
    let is_new = match headers.typed_get::<IfNoneMatch>() {
        Some(known) => known.precondition_passes(&file.etag),
        None => headers.typed_get::<IfModifiedSince>().is_none_or(|since| since.is_modified(file.modified)),
    };
    if !is_new {
        return Selected::NotModified;
    }
    let is_same = || {
        let modified = LastModified::from(file.modified);
        match headers.contains_key("if-range") {
            true => headers.typed_get::<IfRange>().is_some_and(|r| !r.is_modified(Some(&file.etag), Some(&modified))),
            false => true,
        }
    };
    let mut given = headers.get_all("range").iter();
    match (given.next(), given.next()) {
        (Some(range), None) if is_get && is_same() => {
            match range.to_str().ok().and_then(|text| ranges(text, file.length)) {
                None => Selected::Whole,
                Some(none) if none.is_empty() => Selected::Unsatisfiable,
                Some(parts) => Selected::Parts(parts),
            }
        }
        _ => Selected::Whole,
    }
}

/// Whether a request has conditions that ask what a file is now.
pub fn is_conditional(headers: &HeaderMap) -> bool {
    ["if-match", "if-none-match", "if-unmodified-since"].iter().any(|name| headers.contains_key(*name))
}

/// `If-None-Match: *`: what is stored must be new.
pub fn must_be_new(headers: &HeaderMap) -> bool {
    headers.typed_get::<IfNoneMatch>() == Some(IfNoneMatch::any())
}

/// Whether a PUT or DELETE may go on. `file` is absent where there is none, or none that can be named: a directory, or a file
/// that is being written.
pub fn may_change(headers: &HeaderMap, exists: bool, file: Option<&Representation>) -> bool {
    let passes = match (headers.typed_get::<IfMatch>(), headers.typed_get::<IfUnmodifiedSince>(), file) {
        (Some(wanted), _, Some(file)) => wanted.precondition_passes(&file.etag),
        (Some(wanted), _, None) => exists && wanted.is_any(),
        (None, Some(since), Some(file)) => since.precondition_passes(file.modified),
        (None, ..) => true,
    };
    passes
        && match headers.typed_get::<IfNoneMatch>() {
            Some(_) if must_be_new(headers) => !exists,
            Some(known) => file.is_none_or(|file| known.precondition_passes(&file.etag)),
            None => true,
        }
}

/// The satisfiable ranges of a `Range`; `None`: it is none by the grammar, or not worth it, and is to be ignored.
/// (`headers::Range` drops suffixes longer than the file, which are the whole file, and lets through what is no range.)
fn ranges(text: &str, length: u64) -> Option<Vec<Range<u64>>> {
    let (unit, set) = text.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (mut count, mut found) = (0, Vec::new());
    for spec in set.split(',').map(str::trim).filter(|spec| !spec.is_empty()) {
        let (first, last) = spec.split_once('-')?;
        let range = match (number(first)?, number(last)?) {
            (None, None) => return None,
            (Some(first), Some(last)) if last < first => return None,
            (Some(first), last) => first..last.map_or(length, |last| last.saturating_add(1).min(length)),
            (None, Some(suffix)) => length.saturating_sub(suffix)..length,
        };
        count += 1;
        if range.start < range.end {
            found.push(range);
        }
    }
    let total: u64 = found.iter().fold(0, |sum, range| sum.saturating_add(range.end - range.start));
    (count > 0 && count <= RANGES_MAX && total <= length).then_some(found)
}

/// Digits; `Some(None)` for nothing at all.
fn number(text: &str) -> Option<Option<u64>> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // A number too large for us is beyond any file.
    Some((!text.is_empty()).then(|| text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headers::{HeaderName, HeaderValue};
    use std::time::{Duration, SystemTime};

    /// Requests of `name: value` pairs, and what they select of a file of 1000 bytes.
    #[test]
    fn what_is_selected() {
        let file = Representation {
            etag: "\"e1\"".parse().unwrap(),
            // Sun, 06 Nov 1994 08:49:37 GMT
            modified: SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_500),
            length: 1000,
        };
        const SAME: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
        let mut shown = String::new();
        for request in [
            "",
            "if-match: \"e1\"",
            "if-match: \"e0\", \"e1\"",
            "if-match: *",
            "if-match: \"e0\"",
            "if-match: W/\"e1\"",
            "if-none-match: \"e1\"",
            "if-none-match: W/\"e1\"",
            "if-none-match: *",
            "if-none-match: \"e0\"",
            "if-none-match: \"e0\"|if-modified-since: SAME",
            "if-modified-since: SAME",
            "if-modified-since: BEFORE",
            "if-modified-since: yesterday",
            "if-unmodified-since: SAME",
            "if-unmodified-since: BEFORE",
            "range: bytes=0-99",
            "range: Bytes=0-0",
            "range: bytes=900-",
            "range: bytes=900-5000",
            "range: bytes=-100",
            "range: bytes=-5000",
            "range: bytes=-0",
            "range: bytes=1000-",
            "range: bytes=99999999999999999999-",
            "range: bytes=0-0, 10-19 ,,-1",
            "range: bytes=0-9,2000-",
            "range: bytes=9-0",
            "range: bytes=a-b",
            "range: bytes=",
            "range: bytes=-",
            "range: lines=0-1",
            "range: bytes=0-,0-",
            "range: bytes=0-9|range: bytes=5-9",
            "range: bytes=0-9|if-range: \"e1\"",
            "range: bytes=0-9|if-range: \"e0\"",
            "range: bytes=0-9|if-range: W/\"e1\"",
            "range: bytes=0-9|if-range: SAME",
            "range: bytes=0-9|if-range: BEFORE",
            "range: bytes=0-9|if-range: e1",
            "range: bytes=0-9|if-none-match: \"e1\"",
        ] {
            let mut headers = HeaderMap::new();
            for header in request.split('|').filter(|h| !h.is_empty()) {
                let (name, value) = header.split_once(": ").unwrap();
                let value = value.replace("SAME", SAME).replace("BEFORE", BEFORE);
                headers
                    .append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(&value).unwrap());
            }
            shown.push_str(&format!("{request} => {:?}\n", select(true, &headers, &file)));
        }
        let want = include_str!("../../tests/data/selected.txt");
        assert_eq!(shown, want);
        let mut headers = HeaderMap::new();
        headers.insert("range", HeaderValue::from_static("bytes=0-9"));
        assert_eq!(select(false, &headers, &file), Selected::Whole, "HEAD has no ranges");
    }
}
