//! From the XML of an image an image with the same content. What the XML lacks (the last striped block id, the time of a rolling
//! upgrade) the image lacks too, as with Java's. Source: `OfflineImageReconstructor.java`, Hadoop 3.5.0.

mod inodes;
mod sections;

use crate::offline::{Node, Step, XmlReader, unmangle};
use md5::{Digest, Md5};
use prost::Message;
use std::collections::HashMap;
use std::path::Path;
use surus_disk::{Disk, DiskFile, OpenMode, RealDisk};
use surus_journal::LAYOUT_VERSION;
use surus_proto::hadoop::hdfs::fsimage::{FileSummary, StringTableSection, file_summary, string_table_section};

const BUFFER_BYTES: usize = 1 << 20;
/// The sections that a document must hold, each once: name in XML, name in the image.
const SECTIONS: [(&str, &str); 10] = [
    ("NameSection", "NS_INFO"),
    ("ErasureCodingSection", "ERASURE_CODING"),
    ("INodeSection", "INODE"),
    ("INodeReferenceSection", "INODE_REFERENCE"),
    ("SnapshotSection", "SNAPSHOT"),
    ("INodeDirectorySection", "INODE_DIR"),
    ("FileUnderConstructionSection", "FILES_UNDERCONSTRUCTION"),
    ("SnapshotDiffSection", "SNAPSHOT_DIFF"),
    ("SecretManagerSection", "SECRET_MANAGER"),
    ("CacheManagerSection", "CACHE_MANAGER"),
];

/// Makes the image and `<output>.md5`.
///
/// # Errors
/// What the document lacks or holds too much, or the disk's.
pub fn run(input: &str, output: &str) -> Result<(), String> {
    let md5_path = format!("{output}.md5");
    for path in [output, &md5_path] {
        RealDisk.remove_file(Path::new(path)).ok();
    }
    let mut reader = XmlReader::open(input).map_err(|e| e.to_string())?;
    let file = RealDisk.open(Path::new(output), OpenMode::Create).map_err(|e| e.to_string())?;
    let mut image = Image {
        file,
        position: 0,
        buffer: b"HDFSIMG1".to_vec(),
        digest: Md5::new(),
        section_start: 8,
        sections: Vec::new(),
        strings: HashMap::new(),
    };
    read_document(&mut reader, &mut image)?;
    let digest = image.finish()?;
    let name = Path::new(output).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let line = format!("{} *{name}\n", crate::oev::hex(&digest));
    let md5 = RealDisk.open(Path::new(&md5_path), OpenMode::Create);
    md5.and_then(|md5| md5.write_all_at(line.as_bytes(), 0)).map_err(|e| e.to_string())
}

fn read_document(reader: &mut XmlReader, image: &mut Image) -> Result<(), String> {
    expect(reader, "fsimage")?;
    expect(reader, "version").map_err(|_| {
        "No <version> section found at the top of the fsimage XML.  This XML file is too old to be processed by oiv."
    })?;
    let mut version = reader.node()?;
    let on_disk: i64 = number(&mut version, "onDiskVersion")?.ok_or("<version> lacks <onDiskVersion>")?;
    let layout: i64 = number(&mut version, "layoutVersion")?.ok_or("<version> lacks <layoutVersion>")?;
    if layout != i64::from(LAYOUT_VERSION) || on_disk != 1 {
        return Err(format!(
            "Layout version mismatch.  This oiv tool handles layout version {LAYOUT_VERSION}, but the XML file has \
             <layoutVersion> {layout}.  Please either re-generate the XML file with the proper layout version, or \
             manually edit the XML file to be usable with this version of the oiv tool."
        ));
    }
    let mut left: Vec<(&str, &str)> = SECTIONS.to_vec();
    // An image without snapshots has no section of differences, and Java's viewer no document that can be read back.
    while let Step::Start(name) = reader.step()? {
        let at = left.iter().position(|(known, _)| *known == name);
        let (name, section) = left.remove(at.ok_or_else(|| format!("Unknown or duplicate section found for {name}"))?);
        sections::read(name, reader, image).map_err(|problem| format!("{name}: {problem}"))?;
        image.end_section(section)?;
    }
    left.retain(|(name, _)| !["SnapshotDiffSection", "ErasureCodingSection"].contains(name));
    match left.as_slice() {
        [] => Ok(()),
        left => {
            let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
            Err(format!("FSImage XML ended prematurely, without including section(s) {}", names.join(", ")))
        }
    }
}

fn expect(reader: &mut XmlReader, name: &str) -> Result<(), String> {
    match reader.step()? {
        Step::Start(found) if found == name => Ok(()),
        Step::Start(found) => Err(format!("Failed to find <{name}>; got {found} instead.")),
        _ => Err(format!("Got unexpected end event while looking for {name}")),
    }
}

/// The number in a child. Java's numbers are signed; the image's are the same bits.
fn number(node: &mut Node, name: &str) -> Result<Option<i64>, String> {
    let parse = |text: String| text.trim().parse().map_err(|_| format!("<{name}> is no number: {text}"));
    node.take_text(name).map(parse).transpose()
}

fn long(node: &mut Node, name: &str) -> Result<Option<u64>, String> {
    Ok(number(node, name)?.map(|value| value as u64))
}

fn int(node: &mut Node, name: &str) -> Result<Option<u32>, String> {
    Ok(number(node, name)?.map(|value| value as u32))
}

fn text(node: &mut Node, name: &str) -> Result<Option<String>, String> {
    node.take_text(name).map(|text| unmangle(&text)).transpose()
}

fn bytes(node: &mut Node, name: &str) -> Result<Option<Vec<u8>>, String> {
    Ok(text(node, name)?.map(String::into_bytes))
}

/// What must be there.
fn needed<T>(value: Option<T>, section: &str, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("<{section}> found without <{name}>"))
}

/// Refuses children that nobody took: the image would lack what they say.
fn check_left(node: &Node, section: &str) -> Result<(), String> {
    match node.left() {
        left if left.is_empty() => Ok(()),
        left => Err(format!("Found unknown XML keys in {section}: {left}")),
    }
}

/// The image that is being written.
struct Image {
    file: Box<dyn DiskFile>,
    position: u64,
    buffer: Vec<u8>,
    digest: Md5,
    section_start: u64,
    sections: Vec<file_summary::Section>,
    /// One table for all names, as Java's tool makes it.
    strings: HashMap<String, u32>,
}

impl Image {
    fn put(&mut self, message: &impl Message) -> Result<(), String> {
        // Encoding into a Vec cannot run out of room.
        message.encode_length_delimited(&mut self.buffer).ok();
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), String> {
        self.file.write_all_at(&self.buffer, self.position).map_err(|e| e.to_string())?;
        self.digest.update(&self.buffer);
        self.position += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn end_section(&mut self, name: &str) -> Result<(), String> {
        let end = self.position + self.buffer.len() as u64;
        self.sections.push(file_summary::Section {
            name: Some(name.to_owned()),
            length: Some(end - self.section_start),
            offset: Some(self.section_start),
        });
        self.section_start = end;
        Ok(())
    }

    /// The number of a name; 0 is no name.
    fn string(&mut self, text: &str) -> Result<u32, String> {
        if let Some(number) = self.strings.get(text) {
            return Ok(*number);
        }
        let number = self.strings.len() as u32 + 1;
        if number >= 1 << 24 {
            return Err("Cannot have more than 2**24 strings in the fsimage".to_owned());
        }
        self.strings.insert(text.to_owned(), number);
        Ok(number)
    }

    fn finish(mut self) -> Result<[u8; 16], String> {
        let mut strings: Vec<(String, u32)> = std::mem::take(&mut self.strings).into_iter().collect();
        strings.sort_by_key(|(_, number)| *number);
        self.put(&StringTableSection { num_entry: Some(strings.len() as u32), mask_bits: None })?;
        for (text, number) in strings {
            self.put(&string_table_section::Entry { id: Some(number), str: Some(text) })?;
        }
        self.end_section("STRING_TABLE")?;
        let summary = FileSummary {
            ondisk_version: 1,
            layout_version: LAYOUT_VERSION as u32,
            codec: None,
            sections: std::mem::take(&mut self.sections),
        };
        let before = self.buffer.len();
        summary.encode_length_delimited(&mut self.buffer).ok();
        let size = (self.buffer.len() - before) as u32;
        self.buffer.extend_from_slice(&size.to_be_bytes());
        self.flush()?;
        Ok(self.digest.finalize().into())
    }
}
