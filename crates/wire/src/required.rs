//! Required fields, which prost does not check: a missing one is an error with Java's words. And texts that are no UTF-8,
//! which prost refuses and Java reads with U+FFFD in the place of what is wrong.
//! Source of the text: `UninitializedMessageException` of protobuf-java, as the NameNode 3.5.0 sends it on.

use crate::rpc::errors::invalid_protocol_buffer;
use crate::varint::{Malformed, Value, put_bytes, take_delimited, take_field};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;
use prost::{Message, Name};
use surus_types::HdfsError;

/// A message that can lack a required field, at some depth. The table is made by `build.rs` from the `.proto` files.
struct Descriptor {
    package: &'static str,
    name: &'static str,
    /// Required fields and those that hold messages worth checking, in the order of their numbers.
    fields: &'static [Field],
}

struct Field {
    number: u32,
    name: &'static str,
    required: bool,
    repeated: bool,
    /// Index into the same table.
    message: Option<u16>,
    /// Of a required enum: its numbers. Another one counts as absent, as in every proto2 reader.
    values: &'static [i32],
}

include!(concat!(env!("OUT_DIR"), "/required.rs"));

/// How deep messages may lie in each other: protobuf's own limit.
const DEPTH_MAX: usize = 100;

/// Finds the descriptor of `M` when the program is compiled.
struct DescriptorOf<M>(PhantomData<M>);

impl<M: Name> DescriptorOf<M> {
    const INDEX: Option<usize> = find(MESSAGES, M::PACKAGE, M::NAME);
    const TEXTS_INDEX: Option<usize> = find(TEXTS, M::PACKAGE, M::NAME);
}

const fn find(table: &[Descriptor], package: &str, name: &str) -> Option<usize> {
    let mut i = 0;
    while i < table.len() {
        if equal(table[i].name, name) && equal(table[i].package, package) {
            return Some(i);
        }
        i += 1;
    }
    None
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Decodes a varint-delimited message at the start of `bytes` and checks its required fields.
///
/// # Errors
/// `InvalidProtocolBufferException`.
pub fn decode_delimited<M: Message + Default + Name>(mut bytes: &[u8]) -> Result<M, HdfsError> {
    decode(take_delimited(&mut bytes).ok_or_else(truncated)?)
}

/// Decodes a message and checks its required fields.
///
/// # Errors
/// `InvalidProtocolBufferException`.
pub fn decode<M: Message + Default + Name>(bytes: &[u8]) -> Result<M, HdfsError> {
    let message = match M::decode(bytes) {
        Ok(message) => message,
        Err(_) => {
            let index = DescriptorOf::<M>::TEXTS_INDEX.ok_or_else(truncated)?;
            let mended = mend_texts(index, bytes, 0).map_err(|_| truncated())?;
            M::decode(&*mended).map_err(|_| truncated())?
        }
    };
    if let Some(index) = DescriptorOf::<M>::INDEX
        && !is_complete(index, bytes, 0).map_err(|_| truncated())?
    {
        let mut missing = Vec::new();
        let _ = find_missing(index, bytes, "", 0, &mut missing);
        return Err(invalid_protocol_buffer(&format!("Message missing required fields: {}", missing.join(", "))));
    }
    Ok(message)
}

fn truncated() -> HdfsError {
    invalid_protocol_buffer(
        "While parsing a protocol message, the input ended unexpectedly in the middle of a field.  This could mean \
         either that the input has been truncated or that an embedded message misreported its own length.",
    )
}

/// The message with U+FFFD in its texts for what is no UTF-8.
fn mend_texts(index: usize, mut bytes: &[u8], depth: usize) -> Result<Vec<u8>, Malformed> {
    if depth > DEPTH_MAX {
        return Err(Malformed);
    }
    let fields = TEXTS[index].fields;
    let mut out = Vec::with_capacity(bytes.len() + 16);
    loop {
        let before = bytes;
        let Some((number, value)) = take_field(&mut bytes)? else { return Ok(out) };
        let field = fields.iter().find(|field| field.number == number);
        match (field, value) {
            (Some(Field { message: Some(inner), .. }), Value::Bytes(body)) => {
                put_bytes(&mut out, number, &mend_texts(usize::from(*inner), body, depth + 1)?);
            }
            (Some(_), Value::Bytes(text)) => put_bytes(&mut out, number, String::from_utf8_lossy(text).as_bytes()),
            _ => out.extend_from_slice(&before[..before.len() - bytes.len()]),
        }
    }
}

impl Field {
    /// Whether a value counts as given.
    fn takes(&self, value: &Value<'_>) -> bool {
        match value {
            Value::Varint(number) if !self.values.is_empty() => self.values.contains(&(*number as i32)),
            _ => true,
        }
    }
}

/// Whether every required field is there, at every depth.
fn is_complete(index: usize, mut bytes: &[u8], depth: usize) -> Result<bool, Malformed> {
    if depth > DEPTH_MAX {
        return Err(Malformed);
    }
    let fields = MESSAGES[index].fields;
    let mut seen = 0u64;
    while let Some((number, value)) = take_field(&mut bytes)? {
        let Some(at) = fields.iter().position(|field| field.number == number) else { continue };
        if fields[at].takes(&value) {
            seen |= 1 << (at & 63);
        }
        if let (Some(message), Value::Bytes(inner)) = (fields[at].message, value)
            && !is_complete(usize::from(message), inner, depth + 1)?
        {
            return Ok(false);
        }
    }
    Ok(fields.iter().enumerate().all(|(at, field)| !field.required || seen & (1 << (at & 63)) != 0))
}

/// Names the missing fields as Java does: those of the message itself first, then those inside, by path.
fn find_missing(
    index: usize,
    bytes: &[u8],
    prefix: &str,
    depth: usize,
    missing: &mut Vec<String>,
) -> Result<(), Malformed> {
    if depth > DEPTH_MAX {
        return Err(Malformed);
    }
    let fields = MESSAGES[index].fields;
    let mut values = Vec::new();
    let mut rest = bytes;
    while let Some(field) = take_field(&mut rest)? {
        values.push(field);
    }
    for field in fields.iter().filter(|field| field.required) {
        if !values.iter().any(|(number, value)| *number == field.number && field.takes(value)) {
            missing.push(format!("{prefix}{}", field.name));
        }
    }
    for field in fields {
        let Some(message) = field.message else { continue };
        let inner = values.iter().filter_map(|(number, value)| match value {
            Value::Bytes(inner) if *number == field.number => Some(*inner),
            _ => None,
        });
        for (i, inner) in inner.enumerate() {
            let path = match field.repeated {
                true => format!("{prefix}{}[{i}].", field.name),
                false => format!("{prefix}{}.", field.name),
            };
            find_missing(usize::from(message), inner, &path, depth + 1, missing)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_proto::hadoop::hdfs::{
        CreateRequestProto, ExtendedBlockProto, GetFileInfoRequestProto, SetSafeModeRequestProto, SetXAttrRequestProto,
    };

    #[test]
    fn texts_are_read_as_java_reads_them() {
        let request = decode::<GetFileInfoRequestProto>(b"\x0a\x04/\xffa\xc0").unwrap();
        assert_eq!(request.src, "/\u{fffd}a\u{fffd}");
        // In a message inside, whose bytes field stays as it is: src, xAttr { namespace, name, value }.
        let request = decode::<SetXAttrRequestProto>(b"\x0a\x01/\x12\x08\x08\x00\x12\x01\xff\x1a\x01\xff").unwrap();
        let xattr = request.x_attr.unwrap();
        assert_eq!((xattr.name.as_str(), xattr.value), ("\u{fffd}", Some(alloc::vec![0xff])));
        assert!(decode::<GetFileInfoRequestProto>(b"\x0a\x09/").is_err());
    }

    #[test]
    fn an_unknown_number_of_an_enum_is_no_value() {
        assert!(decode::<SetSafeModeRequestProto>(&[0x08, 3]).is_ok());
        let refused = decode::<SetSafeModeRequestProto>(&[0x08, 99]).unwrap_err();
        assert_eq!(refused.message, "Message missing required fields: action");
    }

    /// The bit set of `is_complete` holds them all.
    #[test]
    fn no_message_has_more_than_64_checked_fields() {
        assert!(MESSAGES.iter().all(|message| message.fields.len() <= 64));
    }

    #[test]
    fn missing_fields_are_named_as_java_does() {
        let text = |result: Result<(), HdfsError>| result.err().map(|e| e.message);
        assert_eq!(
            text(decode::<GetFileInfoRequestProto>(&[]).map(drop)).as_deref(),
            Some("Message missing required fields: src")
        );
        // src, and masked without its perm.
        assert_eq!(
            text(decode::<CreateRequestProto>(&[0x0a, 1, b'/', 0x12, 0]).map(drop)).as_deref(),
            Some(
                "Message missing required fields: clientName, createFlag, createParent, replication, blockSize, masked.perm"
            )
        );
        assert!(decode::<GetFileInfoRequestProto>(&[0x0a, 1, b'/']).is_ok());
        assert!(decode::<ExtendedBlockProto>(&[0xff]).is_err());
    }
}
