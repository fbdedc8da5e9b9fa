//! Protobuf's varints, and the few field writers that hand-made encoders need.
//! Readers never trust a length: they answer `None` where bytes are missing.

use alloc::vec::Vec;

/// Longest varint: ten groups of seven bits.
pub const VARINT_LEN_MAX: usize = 10;

/// Protobuf wire types. No message of Hadoop's has groups; an unknown field may be one.
pub const WIRE_VARINT: u32 = 0;
pub const WIRE_FIXED64: u32 = 1;
pub const WIRE_BYTES: u32 = 2;
pub const WIRE_FIXED32: u32 = 5;
const WIRE_GROUP_START: u32 = 3;
const WIRE_GROUP_END: u32 = 4;
/// How deep groups may lie in each other: protobuf's own limit.
const GROUP_DEPTH_MAX: usize = 100;

/// Appends `value` as a varint.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Number of bytes `put_varint` writes.
#[inline]
pub fn varint_len(value: u64) -> usize {
    // (bits + 6) / 7 without a division, for 1..=64 significant bits.
    ((63 - (value | 1).leading_zeros() as usize) * 9 + 73) / 64
}

/// What the first bytes of a buffer hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Varint {
    /// The value, and how many bytes it took.
    Value(u64, usize),
    /// The buffer ends inside the varint.
    Incomplete,
    /// More than ten bytes: not a varint.
    Malformed,
}

/// Reads a varint at the start of `input`, for streams that may end anywhere.
#[inline]
pub fn read_varint(input: &[u8]) -> Varint {
    let mut value = 0u64;
    for (i, &byte) in input.iter().take(VARINT_LEN_MAX).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Varint::Value(value, i + 1);
        }
    }
    if input.len() >= VARINT_LEN_MAX { Varint::Malformed } else { Varint::Incomplete }
}

/// Takes a varint off the front of `input`; `None` where it is cut short or malformed.
#[inline]
pub fn take_varint(input: &mut &[u8]) -> Option<u64> {
    match read_varint(input) {
        Varint::Value(value, len) => {
            *input = &input[len..];
            Some(value)
        }
        _ => None,
    }
}

/// Takes `len` bytes off the front of `input`.
#[inline]
pub fn take_bytes<'a>(input: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let len = usize::try_from(len).ok()?;
    let (head, tail) = input.split_at_checked(len)?;
    *input = tail;
    Some(head)
}

/// Takes a varint-delimited run of bytes off the front of `input`.
#[inline]
pub fn take_delimited<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = take_varint(input)?;
    take_bytes(input, len)
}

/// A field of a message, as it stands in the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
    /// Whatever stands in it.
    Group,
}

/// Takes the next field off a message: its number and value. `Ok(None)` at the end, `Err` where the bytes are no message.
#[inline]
pub fn take_field<'a>(input: &mut &'a [u8]) -> Result<Option<(u32, Value<'a>)>, Malformed> {
    if input.is_empty() {
        return Ok(None);
    }
    let tag = take_varint(input).and_then(|tag| u32::try_from(tag).ok()).ok_or(Malformed)?;
    let value = match tag & 7 {
        WIRE_VARINT => Value::Varint(take_varint(input).ok_or(Malformed)?),
        WIRE_BYTES => Value::Bytes(take_delimited(input).ok_or(Malformed)?),
        WIRE_FIXED64 => {
            let bytes = take_bytes(input, 8).and_then(|b| b.try_into().ok()).ok_or(Malformed)?;
            Value::Fixed64(u64::from_le_bytes(bytes))
        }
        WIRE_FIXED32 => {
            let bytes = take_bytes(input, 4).and_then(|b| b.try_into().ok()).ok_or(Malformed)?;
            Value::Fixed32(u32::from_le_bytes(bytes))
        }
        WIRE_GROUP_START => {
            skip_group(input, tag >> 3, 0)?;
            Value::Group
        }
        _ => return Err(Malformed),
    };
    match tag >> 3 {
        0 => Err(Malformed),
        number => Ok(Some((number, value))),
    }
}

/// Takes the fields of a group, to its end.
#[cold]
fn skip_group(input: &mut &[u8], number: u32, depth: usize) -> Result<(), Malformed> {
    if depth > GROUP_DEPTH_MAX {
        return Err(Malformed);
    }
    loop {
        let mut rest = *input;
        let tag = take_varint(&mut rest).and_then(|tag| u32::try_from(tag).ok()).ok_or(Malformed)?;
        match tag & 7 {
            WIRE_GROUP_START => {
                *input = rest;
                skip_group(input, tag >> 3, depth + 1)?;
            }
            WIRE_GROUP_END => {
                *input = rest;
                return if tag >> 3 == number { Ok(()) } else { Err(Malformed) };
            }
            _ => drop(take_field(input)?.ok_or(Malformed)?),
        }
    }
}

/// Bytes that are no protobuf message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

/// `sint32` and `sint64` on the wire.
#[inline]
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Appends a varint field. `number` below 16 gives a one-byte tag, which all our fields but a few have.
#[inline]
pub fn put_uint(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number << 3 | WIRE_VARINT));
    put_varint(out, value);
}

/// Appends a `string` or `bytes` field.
#[inline]
pub fn put_bytes(out: &mut Vec<u8>, number: u32, value: &[u8]) {
    put_varint(out, u64::from(number << 3 | WIRE_BYTES));
    put_varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Length of what `put_uint` appends.
#[inline]
pub fn uint_len(number: u32, value: u64) -> usize {
    varint_len(u64::from(number << 3)) + varint_len(value)
}

/// Length of what `put_bytes` appends for a value of `len` bytes.
#[inline]
pub fn bytes_len(number: u32, len: usize) -> usize {
    varint_len(u64::from(number << 3)) + varint_len(len as u64) + len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_round_trips() {
        for value in (0..64).flat_map(|bit| [1u64 << bit, (1u64 << bit) - 1, u64::MAX >> bit]) {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out.len(), varint_len(value), "{value}");
            assert_eq!(read_varint(&out), Varint::Value(value, out.len()));
            assert_eq!(read_varint(&out[..out.len() - 1]), Varint::Incomplete);
            assert_eq!(unzigzag(zigzag(value as i64)), value as i64);
        }
        assert_eq!(read_varint(&[0xff; 10]), Varint::Malformed);
    }
}
