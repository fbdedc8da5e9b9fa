//! A small protobuf writer: inodes go from the tables to the image without a message object each.

/// Appends a varint.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A varint field.
pub fn put_u64(out: &mut Vec<u8>, field: u32, value: u64) {
    put_varint(out, u64::from(field << 3));
    put_varint(out, value);
}

/// A fixed32 field.
pub fn put_fixed32(out: &mut Vec<u8>, field: u32, value: u32) {
    put_varint(out, u64::from(field << 3 | 5));
    out.extend_from_slice(&value.to_le_bytes());
}

/// A fixed64 field.
pub fn put_fixed64(out: &mut Vec<u8>, field: u32, value: u64) {
    put_varint(out, u64::from(field << 3 | 1));
    out.extend_from_slice(&value.to_le_bytes());
}

/// A field of bytes, a string, a message or packed numbers.
pub fn put_bytes(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    put_varint(out, u64::from(field << 3 | 2));
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A message of a section: its length, then its bytes.
pub fn put_delimited(out: &mut Vec<u8>, message: &[u8]) {
    put_varint(out, message.len() as u64);
    out.extend_from_slice(message);
}
