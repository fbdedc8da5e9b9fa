//! SequenceFiles: each record a line, key, tab, value. Keys and values are those of `org.apache.hadoop.io` that have a text of
//! their own; another class would need its Java code.
//!
//! ```text
//! SEQ | version u8 | class of keys | class of values | compressed? | in blocks? | codec | metadata | sync [16]
//! record: length i32 | length of key i32 | key | value, perhaps compressed          now and then -1 i32 | sync
//! block: -1 i32 | sync | records vint | ( length vint | compressed ) of key lengths, keys, value lengths, values
//! ```
//! Source: `SequenceFile.java`, `WritableUtils.java`, Hadoop 3.5.0.

use super::{BYTES_MAX, decompress, invalid, java, read_vec};
use std::io::{self, BufRead, Read, Write};
use surus_journal::image::Codec;

const BLOCK_COMPRESS_VERSION: u8 = 4;
const CUSTOM_COMPRESS_VERSION: u8 = 5;
const VERSION: u8 = 6;
const SYNC_BYTES: usize = 16;
const DEFAULT_CODEC: &str = "org.apache.hadoop.io.compress.DefaultCodec";

/// Writes every record.
pub fn print(source: impl BufRead, out: &mut dyn Write) -> io::Result<()> {
    let mut file = SequenceFile::open(source)?;
    let mut line = Vec::new();
    if file.in_blocks {
        while file.block(&mut line)? {
            out.write_all(&line)?;
            line.clear();
        }
        return Ok(());
    }
    while file.record(&mut line)? {
        out.write_all(&line)?;
        line.clear();
    }
    Ok(())
}

struct SequenceFile<R> {
    source: R,
    key: Class,
    value: Class,
    codec: Codec,
    in_blocks: bool,
    sync: [u8; SYNC_BYTES],
}

impl<R: BufRead> SequenceFile<R> {
    fn open(mut source: R) -> io::Result<Self> {
        let mut lead = [0; 4];
        source.read_exact(&mut lead)?;
        let version = lead[3];
        if !(BLOCK_COMPRESS_VERSION..=VERSION).contains(&version) {
            return Err(invalid(format!(
                "a SequenceFile of version {version}; versions {BLOCK_COMPRESS_VERSION} to {VERSION} are read"
            )));
        }
        let key = Class::named(&text(&mut source)?)?;
        let value = Class::named(&text(&mut source)?)?;
        let (compressed, in_blocks) = (byte(&mut source)? != 0, byte(&mut source)? != 0);
        let codec = match compressed {
            false => Codec::None,
            true => {
                let class =
                    if version >= CUSTOM_COMPRESS_VERSION { text(&mut source)? } else { DEFAULT_CODEC.to_string() };
                Codec::from_class(&class).ok_or_else(|| invalid(format!("Unknown codec: {class}")))?
            }
        };
        if version >= VERSION {
            for _ in 0..int(&mut source)? {
                text(&mut source)?;
                text(&mut source)?;
            }
        }
        let mut sync = [0; SYNC_BYTES];
        source.read_exact(&mut sync)?;
        Ok(SequenceFile { source, key, value, codec, in_blocks: compressed && in_blocks, sync })
    }

    fn at_end(&mut self) -> io::Result<bool> {
        Ok(self.source.fill_buf()?.is_empty())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut found = [0; SYNC_BYTES];
        self.source.read_exact(&mut found)?;
        if found == self.sync { Ok(()) } else { Err(invalid("File is corrupt!")) }
    }

    /// Appends the next record's line. False: there is none.
    fn record(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let mut length = -1;
        while length == -1 {
            if self.at_end()? {
                return Ok(false);
            }
            length = int(&mut self.source)?;
            if length == -1 {
                self.sync()?;
            }
        }
        let key_length = int(&mut self.source)?;
        let (Ok(length), Ok(key_length)) = (u64::try_from(length), u64::try_from(key_length)) else {
            return Err(invalid(format!("a record of {length} bytes with a key of {key_length}")));
        };
        let value_length = length.checked_sub(key_length).ok_or_else(|| invalid("a key longer than its record"))?;
        let key = read_vec(&mut self.source, key_length)?;
        let value = read_vec(&mut self.source, value_length)?;
        self.key.show(&key, line)?;
        line.push(b'\t');
        match self.codec {
            Codec::None => self.value.show(&value, line)?,
            codec => self.value.show(&decompress(codec, &value)?, line)?,
        }
        line.push(b'\n');
        Ok(true)
    }

    /// Appends the lines of the next block. False: there is none.
    fn block(&mut self, lines: &mut Vec<u8>) -> io::Result<bool> {
        if self.at_end()? {
            return Ok(false);
        }
        int(&mut self.source)?;
        self.sync()?;
        let count = vlong(&mut self.source)?;
        let [key_lengths, keys, value_lengths, values] =
            [self.buffer()?, self.buffer()?, self.buffer()?, self.buffer()?];
        let (mut key_lengths, mut value_lengths) = (&key_lengths[..], &value_lengths[..]);
        let (mut keys, mut values) = (&keys[..], &values[..]);
        for _ in 0..count {
            self.key.show(piece(&mut keys, &mut key_lengths)?, lines)?;
            lines.push(b'\t');
            self.value.show(piece(&mut values, &mut value_lengths)?, lines)?;
            lines.push(b'\n');
        }
        Ok(true)
    }

    fn buffer(&mut self) -> io::Result<Vec<u8>> {
        let length = length(vlong(&mut self.source)?)?;
        decompress(self.codec, &read_vec(&mut self.source, length)?)
    }
}

/// Takes as many bytes off `from` as the next of `lengths` says.
fn piece<'a>(from: &mut &'a [u8], lengths: &mut &[u8]) -> io::Result<&'a [u8]> {
    let length = usize::try_from(vlong(lengths)?).map_err(|_| invalid("a record of negative length"))?;
    let (piece, rest) = from.split_at_checked(length).ok_or(io::ErrorKind::UnexpectedEof)?;
    *from = rest;
    Ok(piece)
}

fn byte(source: &mut impl Read) -> io::Result<u8> {
    let mut byte = [0];
    source.read_exact(&mut byte)?;
    Ok(byte[0])
}

fn int(source: &mut impl Read) -> io::Result<i32> {
    let mut bytes = [0; 4];
    source.read_exact(&mut bytes)?;
    Ok(i32::from_be_bytes(bytes))
}

/// Hadoop's number of variable length: a byte from -112 up is itself; below it the byte tells sign and count of those that follow.
fn vlong(source: &mut impl Read) -> io::Result<i64> {
    let first = byte(source)?.cast_signed();
    let (count, negative) = match first {
        -112.. => return Ok(first.into()),
        -120..=-113 => (-112 - i32::from(first), false),
        ..=-121 => (-120 - i32::from(first), true),
    };
    let mut value: i64 = 0;
    for _ in 0..count {
        value = value << 8 | i64::from(byte(source)?);
    }
    Ok(if negative { !value } else { value })
}

fn length(number: i64) -> io::Result<u64> {
    u64::try_from(number)
        .ok()
        .filter(|length| *length <= BYTES_MAX)
        .ok_or_else(|| invalid(format!("a text or buffer of {number} bytes")))
}

/// A length and that many bytes of UTF-8; what is none becomes U+FFFD.
fn text(source: &mut impl Read) -> io::Result<String> {
    let length = length(vlong(source)?)?;
    let bytes = read_vec(source, length)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A class of keys or values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Text,
    Utf8,
    Bytes,
    Null,
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    VInt,
    Float,
    Double,
}

impl Class {
    fn named(name: &str) -> io::Result<Class> {
        Ok(match name.strip_prefix("org.apache.hadoop.io.").unwrap_or(name) {
            "Text" => Class::Text,
            "UTF8" => Class::Utf8,
            "BytesWritable" => Class::Bytes,
            "NullWritable" => Class::Null,
            "BooleanWritable" => Class::Boolean,
            "ByteWritable" => Class::Byte,
            "ShortWritable" => Class::Short,
            "IntWritable" => Class::Int,
            "LongWritable" => Class::Long,
            "VIntWritable" | "VLongWritable" => Class::VInt,
            "FloatWritable" => Class::Float,
            "DoubleWritable" => Class::Double,
            _ => return Err(invalid(format!("a SequenceFile of {name}: only that class's Java code knows its text"))),
        })
    }

    /// Appends the text of a serialized object, as its `toString` writes it.
    fn show(self, mut bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let from = &mut bytes;
        match self {
            Class::Text => out.extend_from_slice(text(from)?.as_bytes()),
            Class::Utf8 => {
                let length = array(from).map(u16::from_be_bytes)?;
                out.extend_from_slice(String::from_utf8_lossy(&read_vec(from, length.into())?).as_bytes());
            }
            Class::Bytes => {
                let length = length(int(from)?.into())?;
                let hex: Vec<String> = read_vec(from, length)?.iter().map(|byte| format!("{byte:02x}")).collect();
                out.extend_from_slice(hex.join(" ").as_bytes());
            }
            Class::Null => out.extend_from_slice(b"(null)"),
            Class::Boolean => out.extend_from_slice(if byte(from)? == 0 { b"false" } else { b"true" }),
            Class::Byte => write!(out, "{}", byte(from)?.cast_signed())?,
            Class::Short => write!(out, "{}", array(from).map(i16::from_be_bytes)?)?,
            Class::Int => write!(out, "{}", int(from)?)?,
            Class::Long => write!(out, "{}", array(from).map(i64::from_be_bytes)?)?,
            Class::VInt => write!(out, "{}", vlong(from)?)?,
            Class::Float => out.extend_from_slice(java::float(array(from).map(f32::from_be_bytes)?).as_bytes()),
            Class::Double => out.extend_from_slice(java::double(array(from).map(f64::from_be_bytes)?).as_bytes()),
        }
        if bytes.is_empty() { Ok(()) } else { Err(invalid(format!("{} bytes behind a {self:?}", bytes.len()))) }
    }
}

fn array<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(bytes: &[u8]) -> Result<String, String> {
        let mut out = Vec::new();
        match print(bytes, &mut out) {
            Ok(()) => Ok(String::from_utf8(out).unwrap()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn class(name: &str) -> Vec<u8> {
        let name = format!("org.apache.hadoop.io.{name}");
        [&[name.len() as u8], name.as_bytes()].concat()
    }

    #[test]
    fn numbers_of_variable_length() {
        let cases: [(&[u8], i64); 6] = [
            (&[127], 127),
            (&[0x90], -112),
            (&[0x8f, 0x80], 128),
            (&[0x87, 0x80], -129),
            (&[0x8e, 1, 0], 256),
            (&[0x80, 0x7f, 255, 255, 255, 255, 255, 255, 255], i64::MIN),
        ];
        for (mut bytes, want) in cases {
            assert_eq!(vlong(&mut bytes).unwrap(), want);
        }
    }

    #[test]
    fn records_and_syncs() {
        let head =
            [b"SEQ\x06".to_vec(), class("LongWritable"), class("BytesWritable"), vec![0, 0, 0, 0, 0, 0]].concat();
        let sync = [7; 16];
        let record = |value: &[u8]| {
            let value = [&(value.len() as u32).to_be_bytes(), value].concat();
            [&(8 + value.len() as u32).to_be_bytes()[..], &8u32.to_be_bytes(), &(-5i64).to_be_bytes(), &value].concat()
        };
        let file = [head, sync.to_vec(), record(&[1, 0xff]), vec![255; 4], sync.to_vec(), record(&[])].concat();
        assert_eq!(show(&file).as_deref(), Ok("-5\t01 ff\n-5\t\n"));
        assert!(show(&file[..file.len() - 1]).unwrap_err().contains("end of file"));
        let mut damaged = file.clone();
        let at = file.windows(16).rposition(|w| w == sync).unwrap();
        damaged[at] = 0;
        assert_eq!(show(&damaged).unwrap_err(), "File is corrupt!");
    }

    #[test]
    fn a_class_that_needs_java() {
        let head = [b"SEQ\x06".to_vec(), class("MapWritable"), class("Text")].concat();
        assert!(show(&head).unwrap_err().contains("org.apache.hadoop.io.MapWritable"));
    }
}
