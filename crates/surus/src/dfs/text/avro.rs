//! Avro data files: each object a line of JSON, as Avro's own encoder writes it. Maps keep the file's order, which Java's do not.
//!
//! ```text
//! Obj 1 | metadata: map of bytes | sync [16] | ( objects long | length long | objects, compressed | sync )...
//! ```
//! Source: the Avro specification 1.11, `DataFileStream.java`, `JsonEncoder.java`.

use super::avro_schema::{Schema, Type, TypeId};
use super::{BYTES_MAX, decompress, invalid, java, read_vec};
use flate2::read::DeflateDecoder;
use std::collections::HashMap;
use std::io::{self, BufRead, Read, Write};
use surus_journal::image::Codec;

const SYNC_BYTES: usize = 16;
/// How deep values may lie in one another.
const DEPTH_MAX: usize = 1000;

/// Writes every object.
pub fn print(mut source: impl BufRead, out: &mut dyn Write) -> io::Result<()> {
    let mut lead = [0; 4];
    source.read_exact(&mut lead)?;
    if &lead != b"Obj\x01" {
        return Err(invalid("Not an Avro data file"));
    }
    let metadata = metadata(&mut source)?;
    let schema = metadata.get("avro.schema").ok_or_else(|| invalid("an Avro data file without a schema"))?;
    let (schema, top) = Schema::parse(&String::from_utf8_lossy(schema))?;
    let codec = metadata.get("avro.codec").map_or_else(|| "null".into(), |name| String::from_utf8_lossy(name));
    let mut sync = [0; SYNC_BYTES];
    source.read_exact(&mut sync)?;
    let mut lines = Vec::new();
    while !source.fill_buf()?.is_empty() {
        let count = long(&mut source)?;
        let block = bytes(&mut source)?;
        let mut found = [0; SYNC_BYTES];
        source.read_exact(&mut found)?;
        if found != sync {
            return Err(invalid("Invalid sync!"));
        }
        let block = open(&codec, block)?;
        let mut from = &block[..];
        for _ in 0..count {
            let mut json = Json { schema: &schema, out: &mut lines };
            json.value(top, &mut from, 0)?;
            lines.push(b'\n');
            out.write_all(&lines)?;
            lines.clear();
        }
    }
    Ok(())
}

fn metadata(source: &mut impl Read) -> io::Result<HashMap<String, Vec<u8>>> {
    let mut metadata = HashMap::new();
    loop {
        let count = items(source)?;
        if count == 0 {
            return Ok(metadata);
        }
        for _ in 0..count {
            let key = bytes(source)?;
            metadata.insert(String::from_utf8_lossy(&key).into_owned(), bytes(source)?);
        }
    }
}

/// The objects of a block, decompressed.
fn open(codec: &str, block: Vec<u8>) -> io::Result<Vec<u8>> {
    match codec {
        "null" => Ok(block),
        "deflate" => {
            let mut out = Vec::new();
            DeflateDecoder::new(&block[..]).take(BYTES_MAX).read_to_end(&mut out)?;
            Ok(out)
        }
        "snappy" => {
            let checked = block.split_last_chunk::<4>().ok_or(io::ErrorKind::UnexpectedEof)?.0;
            if snap::raw::decompress_len(checked)? as u64 > BYTES_MAX {
                return Err(invalid(format!("a block of more than {BYTES_MAX} bytes")));
            }
            Ok(snap::raw::Decoder::new().decompress_vec(checked)?)
        }
        "bzip2" => decompress(Codec::Bzip2, &block),
        "zstandard" => decompress(Codec::Zstd, &block),
        other => Err(invalid(format!("Unrecognized codec: {other}"))),
    }
}

/// A zigzag number of variable length.
fn long(source: &mut impl Read) -> io::Result<i64> {
    let mut value: u64 = 0;
    for shift in (0..70).step_by(7) {
        let mut byte = [0];
        source.read_exact(&mut byte)?;
        value |= u64::from(byte[0] & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte[0] & 0x80 == 0 {
            return Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
        }
    }
    Err(invalid("Invalid long encoding"))
}

/// How many items of an array or map follow; 0: it ends.
fn items(source: &mut impl Read) -> io::Result<i64> {
    let count = long(source)?;
    if count < 0 {
        // The bytes of the items stand before them, for those who pass over.
        long(source)?;
    }
    count.checked_abs().ok_or_else(|| invalid("an array of too many items"))
}

fn bytes(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let length = long(source)?;
    match u64::try_from(length) {
        Ok(length) if length <= BYTES_MAX => read_vec(source, length),
        _ => Err(invalid(format!("Malformed data. Length is {length}"))),
    }
}

fn array<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Writes objects as JSON.
struct Json<'a> {
    schema: &'a Schema,
    out: &'a mut Vec<u8>,
}

impl Json<'_> {
    fn value(&mut self, id: TypeId, from: &mut &[u8], depth: usize) -> io::Result<()> {
        if depth > DEPTH_MAX {
            return Err(invalid("values lie too deep in one another"));
        }
        let schema = self.schema;
        match &schema.types[id] {
            Type::Null => self.raw("null"),
            Type::Boolean => self.raw(if array::<1>(from)? == [0] { "false" } else { "true" }),
            Type::Int | Type::Long => write!(self.out, "{}", long(from)?)?,
            Type::Float => self.number(java::float(array(from).map(f32::from_le_bytes)?)),
            Type::Double => self.number(java::double(array(from).map(f64::from_le_bytes)?)),
            Type::Bytes => self.latin1(&bytes(from)?),
            Type::Fixed(size) => self.latin1(&read_vec(from, *size)?),
            Type::Text => self.string(&String::from_utf8_lossy(&bytes(from)?)),
            Type::Enum(symbols) => {
                let index = long(from)?;
                let symbol = usize::try_from(index).ok().and_then(|index| symbols.get(index));
                self.string(symbol.ok_or_else(|| invalid(format!("no symbol {index} in an enum")))?);
            }
            Type::Record(fields) => {
                self.out.push(b'{');
                for (index, (name, kind)) in fields.iter().enumerate() {
                    self.name(index, name);
                    self.value(*kind, from, depth + 1)?;
                }
                self.out.push(b'}');
            }
            Type::Array(kind) => self.array(*kind, from, depth)?,
            Type::Map(kind) => self.map(*kind, from, depth)?,
            Type::Union(branches) => {
                let index = long(from)?;
                let branch = usize::try_from(index).ok().and_then(|index| branches.get(index));
                let (name, kind) = branch.ok_or_else(|| invalid(format!("no branch {index} in a union")))?;
                if schema.types[*kind] == Type::Null {
                    self.raw("null");
                } else {
                    self.out.push(b'{');
                    self.name(0, name);
                    self.value(*kind, from, depth + 1)?;
                    self.out.push(b'}');
                }
            }
        }
        Ok(())
    }

    fn array(&mut self, kind: TypeId, from: &mut &[u8], depth: usize) -> io::Result<()> {
        self.out.push(b'[');
        let mut index = 0;
        loop {
            let count = items(from)?;
            if count == 0 {
                break;
            }
            // Items of no bytes could be many, and say nothing.
            if from.is_empty() && count > 1 << 20 {
                return Err(invalid(format!("an array of {count} items in no bytes")));
            }
            for _ in 0..count {
                if index > 0 {
                    self.out.push(b',');
                }
                index += 1;
                self.value(kind, from, depth + 1)?;
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn map(&mut self, kind: TypeId, from: &mut &[u8], depth: usize) -> io::Result<()> {
        self.out.push(b'{');
        let mut index = 0;
        loop {
            let count = items(from)?;
            if count == 0 {
                break;
            }
            for _ in 0..count {
                let key = bytes(from)?;
                self.name(index, &String::from_utf8_lossy(&key));
                index += 1;
                self.value(kind, from, depth + 1)?;
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// JSON has no NaN and no infinity: they are quoted.
    fn number(&mut self, text: String) {
        if text.ends_with(|c: char| c.is_ascii_digit()) { self.raw(&text) } else { self.string(&text) }
    }

    fn name(&mut self, index: usize, name: &str) {
        if index > 0 {
            self.out.push(b',');
        }
        self.string(name);
        self.out.push(b':');
    }

    /// Bytes as the characters of the same numbers.
    fn latin1(&mut self, bytes: &[u8]) {
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        self.string(&text);
    }

    /// As Jackson quotes it.
    fn string(&mut self, text: &str) {
        self.out.push(b'"');
        for c in text.chars() {
            match c {
                '"' => self.raw("\\\""),
                '\\' => self.raw("\\\\"),
                '\n' => self.raw("\\n"),
                '\r' => self.raw("\\r"),
                '\t' => self.raw("\\t"),
                '\u{8}' => self.raw("\\b"),
                '\u{c}' => self.raw("\\f"),
                c if c < ' ' => self.raw(&format!("\\u{:04X}", c as u32)),
                c if c > '\u{ffff}' => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        self.raw(&format!("\\u{unit:04X}"));
                    }
                }
                c => self.raw(c.encode_utf8(&mut [0; 4])),
            }
        }
        self.out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One object of `schema`, whose bytes are `bytes`.
    fn show(schema: &str, bytes: &[u8]) -> Result<String, String> {
        let mut file = b"Obj\x01\x02\x16avro.schema".to_vec();
        let number = |out: &mut Vec<u8>, mut n: usize| {
            n *= 2;
            while n > 0x7f {
                out.push(n as u8 | 0x80);
                n >>= 7;
            }
            out.push(n as u8);
        };
        number(&mut file, schema.len());
        file.extend_from_slice(schema.as_bytes());
        file.push(0);
        file.extend_from_slice(&[9; 16]);
        file.push(2);
        number(&mut file, bytes.len());
        file.extend_from_slice(bytes);
        file.extend_from_slice(&[9; 16]);
        let mut out = Vec::new();
        print(&file[..], &mut out).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_of_every_type() {
        let cases: [(&str, &[u8], &str); 12] = [
            (r#""long""#, &[3], "-2\n"),
            (r#""boolean""#, &[1], "true\n"),
            (r#""double""#, &f64::NAN.to_le_bytes(), "\"NaN\"\n"),
            (r#""float""#, &1e10f32.to_le_bytes(), "1.0E10\n"),
            (r#""string""#, b"\x16a\"\\\n\x01\xc3\xa9\xf0\x9f\x98\x80", "\"a\\\"\\\\\\n\\u0001é\\uD83D\\uDE00\"\n"),
            (r#""bytes""#, &[4, 0xff, 0], "\"ÿ\\u0000\"\n"),
            (r#"{"type":"fixed","name":"f","size":1}"#, b"x", "\"x\"\n"),
            (r#"{"type":"enum","name":"e","symbols":["A","B"]}"#, &[2], "\"B\"\n"),
            (r#"{"type":"array","items":"int"}"#, &[2, 2, 1, 2, 4, 0], "[1,2]\n"),
            (r#"{"type":"map","values":"int"}"#, &[2, 2, b'k', 2, 0], "{\"k\":1}\n"),
            (r#"["null","string"]"#, &[2, 2, b'x'], "{\"string\":\"x\"}\n"),
            (r#"["null","string"]"#, &[0], "null\n"),
        ];
        for (schema, bytes, want) in cases {
            assert_eq!(show(schema, bytes).as_deref(), Ok(want), "{schema}");
        }
    }

    #[test]
    fn damage_is_an_error() {
        let list = r#"{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}"#;
        assert_eq!(show(list, &[2, 2, 0]).as_deref(), Ok("{\"next\":{\"L\":{\"next\":{\"L\":{\"next\":null}}}}}\n"));
        assert_eq!(show(list, &[2; 5000]).unwrap_err(), "values lie too deep in one another");
        assert_eq!(show(list, &[4]).unwrap_err(), "no branch 2 in a union");
        assert_eq!(show(r#""string""#, &[1]).unwrap_err(), "Malformed data. Length is -1");
        assert!(show(r#"{"type":"array","items":"null"}"#, &[0xfe, 0xff, 0xff, 0xff, 0x1f]).is_err());
        assert_eq!(show(r#""long""#, &[0xff; 20]).unwrap_err(), "Invalid long encoding");
    }
}
