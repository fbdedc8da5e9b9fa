//! The frame of an answer with several ranges: `multipart/byteranges`. Source: RFC 9110, section 14.6.

use std::ops::Range;

/// One such answer. Lengths in bytes.
pub struct Multipart<'a> {
    boundary: String,
    part_type: &'a str,
    file_length: u64,
}

impl<'a> Multipart<'a> {
    /// `random` makes a boundary that no file holds.
    pub fn new(random: u128, part_type: &'a str, file_length: u64) -> Self {
        Multipart { boundary: format!("{random:032x}"), part_type, file_length }
    }

    pub fn content_type(&self) -> String {
        format!("multipart/byteranges; boundary={}", self.boundary)
    }

    /// What stands before the bytes of a part.
    pub fn head(&self, range: &Range<u64>) -> String {
        format!(
            "\r\n--{}\r\nContent-Type: {}\r\nContent-Range: {}\r\n\r\n",
            self.boundary,
            self.part_type,
            content_range(range, self.file_length)
        )
    }

    /// What stands behind the last part.
    pub fn end(&self) -> String {
        format!("\r\n--{}--\r\n", self.boundary)
    }

    /// Of the whole body.
    pub fn content_length(&self, parts: &[Range<u64>]) -> u64 {
        let part = |range: &Range<u64>| self.head(range).len() as u64 + (range.end - range.start);
        parts.iter().map(part).sum::<u64>() + self.end().len() as u64
    }
}

/// The value of a `Content-Range`.
pub fn content_range(range: &Range<u64>, length: u64) -> String {
    format!("bytes {}-{}/{length}", range.start, range.end.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parts() {
        let frame = Multipart::new(0xabc, "text/plain", 1000);
        let parts = [0..3, 998..1000];
        let body = [&frame.head(&parts[0]), "abc", &frame.head(&parts[1]), "yz", &frame.end()].concat();
        let want = "\r\n--00000000000000000000000000000abc\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-2/1000\r\n\r\nabc\
                    \r\n--00000000000000000000000000000abc\r\nContent-Type: text/plain\r\nContent-Range: bytes 998-999/1000\r\n\r\nyz\
                    \r\n--00000000000000000000000000000abc--\r\n";
        assert_eq!(body, want);
        assert_eq!(frame.content_length(&parts), body.len() as u64);
        assert_eq!(frame.content_type(), "multipart/byteranges; boundary=00000000000000000000000000000abc");
    }
}
