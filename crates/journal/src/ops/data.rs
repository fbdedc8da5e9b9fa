//! Java's and Hadoop's primitive encodings: DataOutput, WritableUtils (variable-length integers), DeprecatedUTF8 (strings
//! of edits) and Text. Source: `FSImageSerialization.java`, `WritableUtils.java`, `DeprecatedUTF8.java`, Hadoop 3.5.0.

use super::OpError;
use std::sync::Arc;

/// Longest string of an edit in UTF-16 units. A longer one is cut, as Hadoop does: its two length bytes must hold three
/// bytes for each unit.
const STRING_UNITS_MAX: usize = 0xFFFF / 3;

pub fn put_string(out: &mut Vec<u8>, text: &str) {
    let text = cut(text);
    if text.bytes().all(|b| b < 0xF0) {
        out.extend_from_slice(&(text.len() as u16).to_be_bytes());
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let at = out.len();
    out.extend_from_slice(&[0, 0]);
    for character in text.chars() {
        if (character as u32) < 0x1_0000 {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let unit = *unit;
            out.extend_from_slice(&[
                0xE0 | (unit >> 12) as u8,
                0x80 | (unit >> 6) as u8 & 0x3F,
                0x80 | unit as u8 & 0x3F,
            ]);
        }
    }
    let len = (out.len() - at - 2) as u16;
    out[at..at + 2].copy_from_slice(&len.to_be_bytes());
}

fn cut(text: &str) -> &str {
    if text.len() <= STRING_UNITS_MAX {
        return text;
    }
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > STRING_UNITS_MAX {
            return &text[..at];
        }
    }
    text
}

/// `Text.writeString`: variable-length length and UTF-8.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_vlong(out, text.len() as i64);
    out.extend_from_slice(text.as_bytes());
}

pub fn put_bool(out: &mut Vec<u8>, value: bool) {
    out.push(u8::from(value));
}
pub fn put_u8(out: &mut Vec<u8>, value: u8) {
    out.push(value);
}
pub fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}
pub fn put_i32(out: &mut Vec<u8>, value: i32) {
    out.extend_from_slice(&value.to_be_bytes());
}
pub fn put_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(&value.to_be_bytes());
}
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// `WritableUtils.writeVLong`: one byte for -112..=127; otherwise a byte that says sign and count, then the value's bytes.
pub fn put_vlong(out: &mut Vec<u8>, value: i64) {
    if (-112..=127).contains(&value) {
        out.push(value as i8 as u8);
        return;
    }
    let (magnitude, base) = if value < 0 { (!value, -120i8) } else { (value, -112i8) };
    let count = 8 - magnitude.leading_zeros() as usize / 8;
    out.push((base - count as i8) as u8);
    out.extend_from_slice(&magnitude.to_be_bytes()[8 - count..]);
}

/// Reads the encodings above; every length is checked against what is left.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], OpError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(OpError::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], OpError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(OpError::Short)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub fn u8(&mut self) -> Result<u8, OpError> {
        Ok(self.array::<1>()?[0])
    }
    pub fn bool(&mut self) -> Result<bool, OpError> {
        Ok(self.u8()? != 0)
    }
    pub fn u16(&mut self) -> Result<u16, OpError> {
        self.array().map(u16::from_be_bytes)
    }
    pub fn i32(&mut self) -> Result<i32, OpError> {
        self.array().map(i32::from_be_bytes)
    }
    pub fn i64(&mut self) -> Result<i64, OpError> {
        self.array().map(i64::from_be_bytes)
    }
    pub fn u64(&mut self) -> Result<u64, OpError> {
        self.array().map(u64::from_be_bytes)
    }

    /// An int32 count of things that take at least `item_bytes_min` each: more than fit is an error.
    pub fn count(&mut self, item_bytes_min: usize) -> Result<usize, OpError> {
        let count = self.i32()?;
        self.check_count(i64::from(count), item_bytes_min)
    }

    pub fn check_count(&self, count: i64, item_bytes_min: usize) -> Result<usize, OpError> {
        match usize::try_from(count) {
            Ok(count) if count <= self.rest.len() / item_bytes_min.max(1) => Ok(count),
            _ => Err(OpError::Value("count")),
        }
    }

    pub fn vlong(&mut self) -> Result<i64, OpError> {
        let first = self.u8()? as i8;
        let (count, negative) = match first {
            -112..=127 => return Ok(i64::from(first)),
            -120..=-113 => ((-112 - first) as usize, false),
            _ => ((-120 - i16::from(first)) as usize, true),
        };
        let bytes = self.bytes(count)?;
        let magnitude = bytes.iter().fold(0i64, |value, byte| value << 8 | i64::from(*byte));
        Ok(if negative { !magnitude } else { magnitude })
    }

    pub fn vint(&mut self) -> Result<i32, OpError> {
        i32::try_from(self.vlong()?).map_err(|_| OpError::Value("variable-length int"))
    }

    pub fn string(&mut self) -> Result<Box<str>, OpError> {
        let count = usize::from(self.u16()?);
        decode_string(self.bytes(count)?)
    }

    pub fn arc_string(&mut self) -> Result<Arc<str>, OpError> {
        Ok(Arc::from(self.string()?))
    }

    /// The bytes of a `Text`, checked to be UTF-8.
    pub fn text(&mut self) -> Result<&'a str, OpError> {
        let count = self.vlong()?;
        let count = self.check_count(count, 1)?;
        std::str::from_utf8(self.bytes(count)?).map_err(|_| OpError::Text)
    }

    /// A protobuf message with its length in front.
    pub fn message<M: prost::Message + Default>(&mut self) -> Result<M, OpError> {
        let before = self.rest;
        let message = M::decode_length_delimited(&mut self.rest).map_err(|_| OpError::Message)?;
        if before.len() == self.rest.len() {
            return Err(OpError::Short);
        }
        Ok(message)
    }
}

/// UTF-8 in which a character above U+FFFF is two three-byte surrogates.
fn decode_string(bytes: &[u8]) -> Result<Box<str>, OpError> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.into());
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let (valid, after) = match std::str::from_utf8(rest) {
            Ok(text) => (text, &[][..]),
            Err(e) => {
                let (valid, after) = rest.split_at(e.valid_up_to());
                (std::str::from_utf8(valid).map_err(|_| OpError::Text)?, after)
            }
        };
        units.extend(valid.encode_utf16());
        match after {
            [] => break,
            [0xED, b @ 0xA0..=0xBF, c @ 0x80..=0xBF, tail @ ..] => {
                units.push(0xD000 | u16::from(b & 0x3F) << 6 | u16::from(c & 0x3F));
                rest = tail;
            }
            _ => return Err(OpError::Text),
        }
    }
    Ok(String::from_utf16(&units).map_err(|_| OpError::Text)?.into())
}
