//! How the sections of an image are compressed: Hadoop's codecs, each by a library. Streams that follow one another (one
//! for each part of a section that was written in parallel) read as one.
//!
//! ```text
//! Lz4Codec, SnappyCodec: ( length of a block i32 | ( length of a piece i32 | piece, compressed ) ... )...      big-endian
//! ```
//! Source: `BlockCompressorStream.java`, `Lz4Codec.java`, `SnappyCodec.java`, `FSImageUtil.java`, Hadoop 3.5.0.

use std::io::{self, Read, Write};

/// A block fits Hadoop's buffers (`io.compression.codec.lz4.buffersize` and its twin for snappy, 256 KiB).
const BLOCK_BYTES: usize = 128 << 10;
/// A block larger than this is none, in bytes.
const BLOCK_BYTES_MAX: usize = 64 << 20;

/// A compression codec.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Codec {
    None,
    Zlib,
    Gzip,
    Bzip2,
    Lz4,
    Snappy,
    Zstd,
}

const PACKAGE: &str = "org.apache.hadoop.io.compress.";

impl Codec {
    /// From the class name in an image's summary, or in `dfs.image.compression.codec`.
    pub fn from_class(name: &str) -> Option<Codec> {
        Some(match name.strip_prefix(PACKAGE).unwrap_or(name) {
            "" => Codec::None,
            "DefaultCodec" | "DeflateCodec" => Codec::Zlib,
            "GzipCodec" => Codec::Gzip,
            "BZip2Codec" => Codec::Bzip2,
            "Lz4Codec" => Codec::Lz4,
            "SnappyCodec" => Codec::Snappy,
            "ZStandardCodec" => Codec::Zstd,
            _ => return None,
        })
    }

    /// Hadoop's class; None without compression.
    pub fn class(self) -> Option<String> {
        let name = match self {
            Codec::None => return None,
            Codec::Zlib => "DefaultCodec",
            Codec::Gzip => "GzipCodec",
            Codec::Bzip2 => "BZip2Codec",
            Codec::Lz4 => "Lz4Codec",
            Codec::Snappy => "SnappyCodec",
            Codec::Zstd => "ZStandardCodec",
        };
        Some(format!("{PACKAGE}{name}"))
    }

    /// What `source` holds, decompressed.
    ///
    /// # Errors
    /// The library's, where it cannot be set up.
    pub fn reader<'a>(self, source: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Codec::None => Box::new(source),
            Codec::Zlib => Box::new(Streams { source: Some(Ahead::new(source)), inner: None }),
            Codec::Gzip => Box::new(flate2::read::MultiGzDecoder::new(source)),
            Codec::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(source)),
            Codec::Lz4 | Codec::Snappy => Box::new(Blocks { codec: self, source, left: 0, piece: Vec::new(), at: 0 }),
            Codec::Zstd => Box::new(zstd::stream::read::Decoder::new(source)?),
        })
    }

    /// `bytes` as one compressed stream, appended to `out`.
    ///
    /// # Errors
    /// The library's; writing to memory does not fail.
    pub(crate) fn compress(self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Codec::None => out.extend_from_slice(bytes),
            Codec::Zlib => {
                let mut encoder = flate2::write::ZlibEncoder::new(out, flate2::Compression::default());
                encoder.write_all(bytes)?;
                encoder.finish()?;
            }
            Codec::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                encoder.write_all(bytes)?;
                encoder.finish()?;
            }
            Codec::Bzip2 => {
                let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
                encoder.write_all(bytes)?;
                encoder.finish()?;
            }
            Codec::Lz4 | Codec::Snappy => bytes.chunks(BLOCK_BYTES).try_for_each(|block| self.put_block(block, out))?,
            // Java's default level.
            Codec::Zstd => out.extend_from_slice(&zstd::bulk::compress(bytes, 3)?),
        }
        Ok(())
    }

    fn put_block(self, block: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let piece = match self {
            Codec::Lz4 => lz4_flex::block::compress(block),
            _ => snap::raw::Encoder::new().compress_vec(block)?,
        };
        out.extend_from_slice(&(block.len() as u32).to_be_bytes());
        out.extend_from_slice(&(piece.len() as u32).to_be_bytes());
        out.extend_from_slice(&piece);
        Ok(())
    }
}

/// Blocks of Lz4Codec or SnappyCodec.
struct Blocks<R> {
    codec: Codec,
    source: R,
    /// Bytes of the block that are still to come, decompressed.
    left: usize,
    piece: Vec<u8>,
    at: usize,
}

impl<R: Read> Blocks<R> {
    /// A length, or None where the source ends instead.
    fn length(&mut self) -> io::Result<Option<usize>> {
        let mut bytes = [0; 4];
        if self.source.read(&mut bytes[..1])? == 0 {
            return Ok(None);
        }
        self.source.read_exact(&mut bytes[1..])?;
        let length = u32::from_be_bytes(bytes) as usize;
        if length > BLOCK_BYTES_MAX {
            return Err(invalid(format!("a compressed block of {length} bytes, more than {BLOCK_BYTES_MAX}")));
        }
        Ok(Some(length))
    }

    fn next_piece(&mut self) -> io::Result<bool> {
        while self.left == 0 {
            match self.length()? {
                Some(length) => self.left = length,
                None => return Ok(false),
            }
        }
        let length = self.length()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut compressed = vec![0; length];
        self.source.read_exact(&mut compressed)?;
        self.piece = match self.codec {
            Codec::Lz4 => {
                let mut piece = vec![0; self.left];
                let count = lz4_flex::block::decompress_into(&compressed, &mut piece)
                    .map_err(|e| invalid(format!("a block of lz4: {e}")))?;
                piece.truncate(count);
                piece
            }
            _ => {
                let length = snap::raw::decompress_len(&compressed)?;
                if length > self.left {
                    return Err(invalid("a piece of snappy is longer than its block".to_owned()));
                }
                snap::raw::Decoder::new().decompress_vec(&compressed)?
            }
        };
        if self.piece.is_empty() {
            return Err(invalid("an empty piece in a compressed block".to_owned()));
        }
        self.left -= self.piece.len();
        self.at = 0;
        Ok(true)
    }
}

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() && !self.next_piece()? {
            return Ok(0);
        }
        let count = buffer.len().min(self.piece.len() - self.at);
        buffer[..count].copy_from_slice(&self.piece[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// zlib streams one behind the other, for which flate2 has no reader of its own.
struct Streams<R: Read> {
    source: Option<Ahead<R>>,
    inner: Option<flate2::bufread::ZlibDecoder<Ahead<R>>>,
}

impl<R: Read> Read for Streams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(inner) = &mut self.inner {
                let count = inner.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                self.source = self.inner.take().map(flate2::bufread::ZlibDecoder::into_inner);
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            if io::BufRead::fill_buf(&mut source)?.is_empty() {
                return Ok(0);
            }
            self.inner = Some(flate2::bufread::ZlibDecoder::new(source));
        }
    }
}

type Ahead<R> = io::BufReader<R>;

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Codec; 7] =
        [Codec::None, Codec::Zlib, Codec::Gzip, Codec::Bzip2, Codec::Lz4, Codec::Snappy, Codec::Zstd];

    #[test]
    fn what_is_written_reads_back_in_one_stream_or_two() {
        let bytes: Vec<u8> = (0..700_000u32).map(|i| (i % 251) as u8 ^ (i / 1000) as u8).collect();
        for codec in ALL {
            for cut in [0, 1, 300_000, bytes.len()] {
                let mut compressed = Vec::new();
                for part in [&bytes[..cut], &bytes[cut..]] {
                    codec.compress(part, &mut compressed).unwrap();
                }
                let mut back = Vec::new();
                codec.reader(&*compressed).unwrap().read_to_end(&mut back).unwrap();
                assert!(back == bytes, "{codec:?} cut at {cut}");
            }
            assert_eq!(Codec::from_class(&codec.class().unwrap_or_default()), Some(codec));
        }
        assert_eq!(Codec::from_class("org.example.Codec"), None);
    }

    #[test]
    fn damage_is_an_error_and_no_panic() {
        let bytes: Vec<u8> = (0..5_000u32).map(|i| (i % 97) as u8).collect();
        for codec in ALL.into_iter().skip(1) {
            let mut sound = Vec::new();
            codec.compress(&bytes, &mut sound).unwrap();
            for at in (0..sound.len()).step_by(7) {
                let mut bad = sound.clone();
                bad[at] ^= 0x41;
                codec.reader(&*bad).unwrap().read_to_end(&mut Vec::new()).ok();
                codec.reader(&sound[..at]).unwrap().read_to_end(&mut Vec::new()).ok();
            }
        }
    }
}
