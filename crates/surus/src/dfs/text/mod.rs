//! `-text`: what a file says once it is decompressed, or its records are written as text.
//! Source: `Display.java` (`Text`), `CompressionCodecFactory.java`, Hadoop 3.5.0.

mod avro;
mod avro_schema;
mod java;
mod sequence_file;

use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use surus_journal::image::Codec;

/// Writes a file that is not `Plain` as text; how many bytes, or what is wrong with it.
pub fn print(kind: &Kind, source: impl Read, out: &mut dyn Write) -> io::Result<u64> {
    let source = BufReader::with_capacity(BUFFER, source);
    let mut out = Counted { out, count: 0 };
    let done = match kind {
        Kind::SequenceFile => sequence_file::print(source, &mut out),
        Kind::Avro => avro::print(source, &mut out),
        Kind::Plain => copy(source, &mut out),
        Kind::Compressed(codec) => codec.reader(source).and_then(|reader| copy(reader, &mut out)),
    };
    let is_gzip = *kind == Kind::Compressed(Codec::Gzip);
    match done {
        Ok(()) => Ok(out.count),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(io::Error::other(format!("Unexpected end of {}input stream", if is_gzip { "ZLIB " } else { "" })))
        }
        Err(error) if is_gzip && error.kind() == io::ErrorKind::InvalidInput => {
            Err(io::Error::other("not a gzip file"))
        }
        Err(error) => Err(error),
    }
}

fn copy(mut source: impl Read, out: &mut impl Write) -> io::Result<()> {
    io::copy(&mut source, out).map(drop)
}

/// What is read at once, in bytes.
const BUFFER: usize = 128 << 10;

/// Counts what goes through.
struct Counted<'a> {
    out: &'a mut dyn Write,
    count: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.count += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// How a file becomes text.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Compressed(Codec),
    SequenceFile,
    Avro,
}

/// What a file is by its first bytes, else by its name. Leaves the source at its start.
pub fn kind_of(source: &mut (impl Read + Seek), path: &str) -> io::Result<Kind> {
    let mut lead = Vec::new();
    source.by_ref().take(3).read_to_end(&mut lead)?;
    source.seek(SeekFrom::Start(0))?;
    Ok(kind(&lead, path))
}

fn kind(lead: &[u8], path: &str) -> Kind {
    match lead {
        [] | [_] => Kind::Plain,
        [0x1f, 0x8b, ..] => Kind::Compressed(Codec::Gzip),
        b"SEQ" => Kind::SequenceFile,
        b"Obj" => Kind::Avro,
        // Bytes that only begin like one of these: the name is not looked at.
        [b'O', b'b', ..] => Kind::Plain,
        _ => match path.rsplit('/').next().unwrap_or("").rsplit_once('.').map_or("", |(_, extension)| extension) {
            "gz" => Kind::Compressed(Codec::Gzip),
            "deflate" => Kind::Compressed(Codec::Zlib),
            "bz2" => Kind::Compressed(Codec::Bzip2),
            "snappy" => Kind::Compressed(Codec::Snappy),
            "lz4" => Kind::Compressed(Codec::Lz4),
            "zst" => Kind::Compressed(Codec::Zstd),
            _ => Kind::Plain,
        },
    }
}

/// The error for a file that is not what it seems.
fn invalid(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.into())
}

/// Reads `length` bytes; memory is taken only for what is there.
fn read_vec(source: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// A record or block larger than this is none, in bytes.
const BYTES_MAX: u64 = 1 << 30;

/// All that a stream decompresses to, within the limit.
fn decompress(codec: Codec, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    codec.reader(bytes)?.take(BYTES_MAX + 1).read_to_end(&mut out)?;
    if out.len() as u64 > BYTES_MAX {
        Err(invalid(format!("a record of more than {BYTES_MAX} bytes")))
    } else {
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_bytes_and_then_by_its_name() {
        assert_eq!(kind(&[0x1f, 0x8b, 8], "/x"), Kind::Compressed(Codec::Gzip));
        assert_eq!(kind(b"abc", "/x.deflate"), Kind::Compressed(Codec::Zlib));
        assert_eq!(kind(b"abc", "/x.zst"), Kind::Compressed(Codec::Zstd));
        assert_eq!(kind(b"abc", "/x.gz/y"), Kind::Plain);
        assert_eq!(kind(b"abc", "/x.txt"), Kind::Plain);
        assert_eq!(kind(b"a", "/x.gz"), Kind::Plain);
        assert_eq!(kind(b"SEQ", "/x"), Kind::SequenceFile);
        assert_eq!(kind(b"SET", "/x"), Kind::Plain);
        assert_eq!(kind(b"Obj", "/x"), Kind::Avro);
    }

    #[test]
    fn what_ends_too_soon_is_an_error() {
        let mut out = Vec::new();
        let cut = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b];
        let error = print(&Kind::Compressed(Codec::Gzip), &cut[..], &mut out).unwrap_err();
        assert_eq!(error.to_string(), "Unexpected end of ZLIB input stream");
        let error = print(&Kind::Compressed(Codec::Gzip), &b"no gzip file"[..], &mut out).unwrap_err();
        assert_eq!(error.to_string(), "not a gzip file");
    }
}
