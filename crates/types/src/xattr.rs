//! Extended attributes: their names with prefixes, and the text forms of their values.
//! Source: `XAttrHelper.java`, `XAttrCodec.java`, Hadoop 3.5.0.

use crate::error::{ExceptionClass, HdfsError};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// An extended attribute. Namespace numbers are those of `XAttrProto`: USER 0, TRUSTED 1, SECURITY 2, SYSTEM 3, RAW 4.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XAttr {
    pub namespace: u8,
    /// Without the prefix of its namespace.
    pub name: Box<str>,
    pub value: Option<Vec<u8>>,
}

pub const USER: u8 = 0;
pub const TRUSTED: u8 = 1;
pub const SECURITY: u8 = 2;
pub const SYSTEM: u8 = 3;
pub const RAW: u8 = 4;

/// Prefixes by number.
pub const NAMESPACES: [&str; 5] = ["user", "trusted", "security", "system", "raw"];

/// `user.name` of a namespace's number and a name.
pub fn prefixed(namespace: u8, name: &str) -> String {
    format!("{}.{name}", NAMESPACES.get(usize::from(namespace)).unwrap_or(&"unknown"))
}

/// Namespace and name of `user.name`; the prefix in any case.
///
/// # Errors
/// `HadoopIllegalArgumentException`.
pub fn parse_xattr_name(text: &str) -> Result<(u8, &str), HdfsError> {
    let illegal = |text: &str| Err(HdfsError::new(ExceptionClass::HadoopIllegalArgument, text));
    let known = text.split_once('.').and_then(|(prefix, name)| {
        let namespace = NAMESPACES.iter().position(|known| known.eq_ignore_ascii_case(prefix))?;
        Some((namespace as u8, name))
    });
    match known {
        Some((_, "")) => illegal("XAttr name cannot be empty."),
        Some(parsed) => Ok(parsed),
        None => illegal("An XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'"),
    }
}

/// How a value is written as text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XAttrCodec {
    /// In quotes.
    Text,
    /// Behind `0x`.
    Hex,
    /// Behind `0s`.
    Base64,
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl XAttrCodec {
    /// From `text`, `hex` or `base64` in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        let names = [("text", Self::Text), ("hex", Self::Hex), ("base64", Self::Base64)];
        names.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, codec)| codec)
    }

    pub fn encode(self, value: &[u8]) -> String {
        match self {
            Self::Text => format!("\"{}\"", String::from_utf8_lossy(value)),
            Self::Hex => {
                let mut out = String::from("0x");
                for byte in value {
                    out.push_str(&format!("{byte:02x}"));
                }
                out
            }
            Self::Base64 => {
                let mut out = String::from("0s");
                for chunk in value.chunks(3) {
                    let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
                    let bits = bits << (8 * (3 - chunk.len()));
                    for i in 0..4 {
                        let sextet = (bits >> (18 - 6 * i)) as usize & 63;
                        out.push(if i <= chunk.len() { char::from(BASE64[sextet]) } else { '=' });
                    }
                }
                out
            }
        }
    }

    /// Any of the three forms, or plain text.
    ///
    /// # Errors
    /// `IOException` with the text of Java's hex decoder.
    pub fn decode(text: &str) -> Result<Vec<u8>, HdfsError> {
        if text.len() >= 2
            && let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
        {
            return Ok(inner.as_bytes().to_vec());
        }
        match text.as_bytes() {
            [b'0', b'x' | b'X', digits @ ..] => decode_hex(digits),
            [b'0', b's' | b'S', letters @ ..] => Ok(decode_base64(letters)),
            plain => Ok(plain.to_vec()),
        }
    }
}

fn decode_hex(digits: &[u8]) -> Result<Vec<u8>, HdfsError> {
    let bad = |text: String| HdfsError::io(format!("org.apache.commons.codec.DecoderException: {text}"));
    if !digits.len().is_multiple_of(2) {
        return Err(bad(String::from("Odd number of characters.")));
    }
    let digit = |at: usize| {
        let c = char::from(digits[at]);
        c.to_digit(16).ok_or_else(|| bad(format!("Illegal hexadecimal character {c} at index {at}")))
    };
    (0..digits.len() / 2).map(|i| Ok((digit(2 * i)? << 4 | digit(2 * i + 1)?) as u8)).collect()
}

/// Skips what is no letter of the alphabet, as Java's decoder does.
fn decode_base64(letters: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for c in letters.iter().take_while(|c| **c != b'=') {
        let c = match c {
            b'-' => b'+',
            b'_' => b'/',
            c => *c,
        };
        let Some(sextet) = BASE64.iter().position(|b| *b == c) else { continue };
        bits = bits << 6 | sextet as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_there_and_back() {
        for value in [&b""[..], b"a", b"ab", b"abc", b"\x00\xff\x10z"] {
            for codec in [XAttrCodec::Hex, XAttrCodec::Base64] {
                assert_eq!(XAttrCodec::decode(&codec.encode(value)).unwrap(), value);
            }
        }
        assert_eq!(XAttrCodec::decode("\"x y\"").unwrap(), b"x y");
        assert_eq!(XAttrCodec::decode("zz").unwrap(), b"zz");
        assert_eq!(XAttrCodec::decode("\"").unwrap(), b"\"");
        let text = |bad: &str| XAttrCodec::decode(bad).unwrap_err().message;
        assert_eq!(text("0x1"), "org.apache.commons.codec.DecoderException: Odd number of characters.");
        assert_eq!(
            text("0x1g"),
            "org.apache.commons.codec.DecoderException: Illegal hexadecimal character g at index 1"
        );
    }

    #[test]
    fn names() {
        assert_eq!(parse_xattr_name("User.a.b"), Ok((USER, "a.b")));
        assert_eq!(prefixed(RAW, "x"), "raw.x");
        assert_eq!(parse_xattr_name("raw.").unwrap_err().message, "XAttr name cannot be empty.");
        for bad in ["", "a", "foo.a", "user"] {
            assert!(parse_xattr_name(bad).unwrap_err().message.starts_with("An XAttr name must be prefixed"), "{bad}");
        }
    }
}
