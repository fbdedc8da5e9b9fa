//! Images that real NameNodes wrote, and ours.

use crate::common::*;
use crate::golden;
use crate::load::MixedLoad;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_disk::{Disk, MemDisk, OpenMode};
use surus_journal::image::{Codec, ImageFile, ImageOptions};
use surus_journal::{JournalError, LoadObserver, Loaded, Retention, Storage};
use surus_namespace::room::TableLimits;
use surus_namespace::tree::DiffBodyView;
use surus_namespace::{DirOp, EditOp, Env, Namespace, NamespaceConfig};
use surus_types::{Block, BlockId, Caller, FileType, GenerationStamp, RpcIds, TxId};

fn dirs() -> [PathBuf; 1] {
    [PathBuf::from("/name")]
}

fn current(name: &str) -> PathBuf {
    Path::new("/name/current").join(name)
}

fn load(disk: &MemDisk) -> Result<Loaded, JournalError> {
    open(Arc::new(disk.clone()), &dirs())?.load(config(), &mut ())
}

/// The image of a fresh file system, loaded and saved again, has Java's very bytes.
#[test]
fn the_image_of_a_fresh_file_system_is_javas() {
    for archive in [golden::NAME, golden::OPEN_FILES, golden::SYMLINK] {
        let disk = golden::name_directory(archive);
        let java = disk.read(&current("fsimage_0000000000000000000"), 1 << 20).unwrap();
        let java_md5 = disk.read(&current("fsimage_0000000000000000000.md5"), 1 << 20).unwrap();
        for entry in disk.list(&current("")).unwrap() {
            if entry.name != "VERSION" && !entry.name.starts_with("fsimage_0000000000000000000") {
                disk.remove_file(&current(&entry.name)).unwrap();
            }
        }
        let storage = open(Arc::new(disk.clone()), &dirs()).unwrap();
        let loaded = storage.load(config(), &mut ()).unwrap();
        storage.save_namespace(&loaded.namespace.freeze(), TxId(0)).unwrap();
        assert_eq!(disk.read(&current("fsimage_0000000000000000000"), 1 << 20).unwrap(), java);
        assert_eq!(disk.read(&current("fsimage_0000000000000000000.md5"), 1 << 20).unwrap(), java_md5);
    }
}

/// What the tables have no room for is named with its place: in an image, which is passed over, and in the edits.
#[test]
fn an_image_and_edits_that_do_not_fit_say_so() {
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs());
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    for i in 0..20 {
        fs.mkdir(&format!("/{i}"));
    }
    fs.checkpoint().unwrap();
    drop(fs);
    let table_limits = TableLimits { rows: 10, ..TableLimits::default() };
    let (mut notices, config) = (Notices::default(), NamespaceConfig { table_limits, ..config() });
    let error = open(Arc::new(disk), &dirs()).unwrap().load(config, &mut notices).err().unwrap().to_string();
    assert!(error.contains("edits_0000000000000000001-") && error.contains("OP_MKDIR"), "{error}");
    let said = notices.0.join(" ");
    assert!(said.contains("fsimage_0000000000000000022") && said.contains("section INODE"), "{said}");
    for text in [error, said] {
        assert!(text.contains("room for 10 inodes"), "{text}");
    }
}

/// A NameNode killed with files open: its image, and its edits from the first one on, give the same namespace, which is
/// what Java listed.
#[test]
fn a_directory_with_open_files() {
    let from_image = load(&golden::name_directory(golden::OPEN_FILES)).unwrap();
    assert_eq!((from_image.image_txid, from_image.last_txid), (TxId(146), TxId(147)));
    let disk = golden::name_directory(golden::OPEN_FILES);
    disk.remove_file(&current("fsimage_0000000000000000146")).unwrap();
    let from_edits = load(&disk).unwrap();
    assert_eq!((from_edits.image_txid, from_edits.last_txid), (TxId(0), TxId(147)));
    assert_eq!(from_image.namespace.dump(), from_edits.namespace.dump());

    let image = from_image.namespace.freeze();
    let mut listed = 0;
    for line in golden::OPEN_FILES_LIST.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [path, _length, state, blocks @ ..] = fields.as_slice() else { panic!("{line}") };
        let handle = from_image.namespace.tree.lookup(path).unwrap_or_else(|| panic!("{path} is missing"));
        let inode = image.inode(handle);
        assert_eq!(inode.under_construction().is_some(), *state == "open", "{path}");
        let found: Vec<String> = inode.blocks().iter().map(|block| image.block(*block).to_string()).collect();
        let expected: Vec<&str> = blocks.iter().map(|block| block.split(' ').next().unwrap()).collect();
        assert_eq!(found, expected, "{path}");
        if *state == "closed" {
            let total: u64 = blocks.iter().map(|block| block.split(' ').nth(1).unwrap().parse::<u64>().unwrap()).sum();
            assert_eq!(inode.length(), total, "{path}");
        }
        listed += 1;
    }
    assert!(listed > 20);
}

/// Hadoop's image of a mixed load that Surus logged shows, now and in each snapshot, what Surus shows. Lengths are compared
/// where files are erasure-coded: Hadoop's replay does not keep those of files that are open in a snapshot.
#[test]
fn hadoop_reads_the_same_out_of_our_edits() {
    let disk = golden::name_directory(golden::MIXED);
    let from_image = load(&disk.kill_clone()).unwrap();
    assert_eq!(from_image.image_txid, TxId(627));
    disk.remove_file(&current("fsimage_0000000000000000627")).unwrap();
    let from_edits = load(&disk).unwrap();
    assert_eq!(from_edits.image_txid, TxId(0));
    let shown = everything_shown(&from_image.namespace);
    assert_eq!(shown, everything_shown(&from_edits.namespace));
    let coded = shown.iter().filter(|line| line.contains(".snapshot") && line.contains("RS-6-3-1024k")).count();
    assert!(shown.len() > 200 && coded > 10, "{} {coded}", shown.len());
    // The same from an image of ours.
    let storage = open(Arc::new(disk.clone()), &dirs()).unwrap();
    let loaded = storage.load(config(), &mut ()).unwrap();
    storage.save_namespace(&loaded.namespace.freeze(), loaded.last_txid).unwrap();
    drop(storage);
    assert_eq!(everything_shown(&load(&disk).unwrap().namespace), shown);
}

/// A line for each file and directory, and for each one in a snapshot.
fn everything_shown(namespace: &Namespace) -> Vec<String> {
    let caller = Caller {
        user: "root".into(),
        real_user: None,
        groups: Arc::new([]),
        is_superuser: true,
        address: "127.0.0.1".into(),
    };
    let env = Env { now_ms: 0, monotonic_ms: 0, caller: &caller, rpc: &RpcIds::NONE, random: 0 };
    let mut open = vec![String::new()];
    for directory in namespace.freeze().snapshottable_directories() {
        let path = namespace.tree.path_of(directory.handle()).unwrap();
        let snapshots = directory.snapshottable().map_or(&[][..], |s| &s.snapshots);
        open.extend(snapshots.iter().map(|snapshot| format!("{path}/.snapshot/{}", snapshot.name)));
    }
    let mut lines = Vec::new();
    while let Some(directory) = open.pop() {
        let src = if directory.is_empty() { "/" } else { &directory };
        let mut files = Vec::new();
        let listed = namespace.get_listing(&env, src, b"", false, 10_000, |entry| {
            let status = entry.status;
            let path = format!("{directory}/{}", String::from_utf8_lossy(status.name));
            let mut line = format!("{path} {} {:?}", status.inode_id, status.file_type);
            match (status.file_type, status.ec_policy) {
                (FileType::Directory, _) => open.push(path),
                (_, Some(policy)) => {
                    line += &format!(" {} {} {}:{}", policy.name, status.length, status.owner, status.group);
                    files.push((path, status.length, lines.len()));
                }
                _ => line += &format!(" x{}", status.replication),
            }
            lines.push(line);
            true
        });
        listed.unwrap();
        for (path, length, at) in files {
            let resolved = namespace.resolve(&env, &path, DirOp::Read).unwrap();
            let blocks = namespace.shown(&resolved, resolved.last.unwrap()).blocks();
            let mut covered = 0;
            for block in blocks.iter().map(|block| namespace.blocks.block(*block)) {
                if covered < length {
                    lines[at] += &format!(" {block}={}", block.num_bytes);
                }
                covered += block.num_bytes;
            }
            assert!(covered >= length, "{}", lines[at]);
        }
    }
    lines.sort();
    lines
}

/// Layout -66 of Hadoop 3.3 differs in nothing that is read here.
#[test]
fn a_directory_of_hadoop_3_3() {
    let disk = golden::name_directory(golden::NAME_3_3);
    // It goes on with OP_SET_ACL, which this version lacks.
    for name in ["edits_inprogress_0000000000000000011", "seen_txid"] {
        disk.remove_file(&current(name)).unwrap();
    }
    let from_image = load(&disk.kill_clone()).unwrap();
    disk.remove_file(&current("fsimage_0000000000000000010")).unwrap();
    let from_edits = load(&disk).unwrap();
    assert_eq!(from_image.namespace.dump(), from_edits.namespace.dump());
    assert_eq!(from_image.last_txid, TxId(10));
}

#[test]
fn an_image_with_symlinks() {
    let loaded = load(&golden::name_directory(golden::SYMLINK)).unwrap();
    assert_eq!(loaded.image_txid, TxId(14));
    let image = loaded.namespace.freeze();
    assert_eq!(image.inodes().filter(|inode| !inode.symlink_target().is_empty()).count(), 3);
}

/// Block groups of erasure-coded files are kept: the image that Java wrote, and the same state from the edits before it.
#[test]
fn erasure_coded_files_are_kept() {
    let disk = golden::name_directory(golden::NAME);
    let groups = |loaded: &Loaded| {
        let image = loaded.namespace.freeze();
        let files = image.inodes().flat_map(|inode| {
            let blocks: Vec<_> = inode.blocks().iter().map(|block| image.block(*block)).collect();
            blocks.into_iter().map(move |block| (inode.id(), inode.layout(), block))
        });
        files.filter(|(_, _, block)| block.id.is_striped()).collect::<Vec<_>>()
    };
    let before = load(&disk).unwrap();
    assert_eq!(before.image_txid, TxId(2808), "no older image takes its place");
    let found = groups(&before);
    assert!(!found.is_empty() && found.iter().all(|(_, layout, _)| layout.erasure_coding_policy != 0), "{found:?}");
    // They are not waited for at the start.
    let stats = before.namespace.blocks.safe_mode_info();
    assert!(stats.safe_blocks >= found.len() as u64, "{stats:?}");

    let storage = open(Arc::new(disk.clone()), &dirs()).unwrap();
    let loaded = storage.load(config(), &mut ()).unwrap();
    storage.save_namespace(&loaded.namespace.freeze(), loaded.last_txid).unwrap();
    drop(storage);
    let after = load(&disk).unwrap();
    assert_eq!((after.image_txid, groups(&after)), (loaded.last_txid, found));
    assert_eq!(after.namespace.dump(), before.namespace.dump());
}

/// Fields that a later version adds are passed over, in every message of every section; a section that it adds is refused,
/// as the next image would lack it.
#[test]
fn what_later_versions_add() {
    for (archive, name) in
        [(golden::OPEN_FILES, "fsimage_0000000000000000146"), (golden::NAME_3_4, newest(golden::NAME_3_4))]
    {
        let disk = golden::name_directory(archive);
        let expected = load(&disk.kill_clone()).unwrap();
        let plain = disk.read(&current(name), 1 << 20).unwrap();
        put_image(&disk, name, &with_unknown_fields(&plain, None));
        let (mut notices, storage) = (Notices::default(), open(Arc::new(disk.clone()), &dirs()).unwrap());
        let loaded = storage.load(config(), &mut notices).unwrap();
        assert_eq!(notices.0, [""; 0]);
        assert_eq!(loaded.image_txid, expected.image_txid);
        assert_eq!(loaded.namespace.dump(), expected.namespace.dump());
        drop(storage);

        put_image(&disk, name, &with_unknown_fields(&plain, Some("LATER")));
        let mut notices = Notices::default();
        let storage = open(Arc::new(disk.clone()), &dirs()).unwrap();
        let text = match storage.load(config(), &mut notices) {
            // An older image and the edits.
            Ok(_) => notices.0.join(" "),
            Err(error) => error.to_string(),
        };
        assert!(text.contains(&format!("{name}: section LATER at offset ")), "{text}");
        assert!(text.contains("Unrecognized section"), "{text}");
    }
}

/// The image of an archive with the highest transaction.
fn newest(archive: &[u8]) -> &'static str {
    let names = golden::unpack(archive).into_keys().filter_map(|path| Some(path.split_once("/current/")?.1.to_owned()));
    let newest = names.filter(|name| name.starts_with("fsimage_") && !name.ends_with(".md5")).max();
    newest.unwrap().leak()
}

/// An image with an unknown field at the end of every message, and with one section more.
fn with_unknown_fields(plain: &[u8], section: Option<&str>) -> Vec<u8> {
    use prost::Message;
    use surus_proto::hadoop::hdfs::fsimage::{FileSummary, file_summary};
    // Number 999: five bytes.
    const UNKNOWN: &[u8] = b"\xba\x3e\x05later";
    let delimited = |out: &mut Vec<u8>, message: &[u8]| {
        prost::encoding::encode_varint((message.len() + UNKNOWN.len()) as u64, out);
        out.extend_from_slice(message);
        out.extend_from_slice(UNKNOWN);
    };
    let size = u32::from_be_bytes(*plain.last_chunk().unwrap()) as usize;
    let summary_at = plain.len() - 4 - size;
    let mut summary = FileSummary::decode_length_delimited(&plain[summary_at..plain.len() - 4]).unwrap();
    let mut image = b"HDFSIMG1".to_vec();
    // Parts of sections lie in the whole ones, whose offsets change.
    summary.sections.retain(|section| !section.name().ends_with("_SUB"));
    for section in &mut summary.sections {
        let (from, len) = (section.offset() as usize, section.length() as usize);
        let (mut rest, start) = (&plain[from..from + len], image.len());
        while !rest.is_empty() {
            let len = prost::encoding::decode_varint(&mut rest).unwrap() as usize;
            let message;
            (message, rest) = rest.split_at(len);
            delimited(&mut image, message);
        }
        (section.offset, section.length) = (Some(start as u64), Some((image.len() - start) as u64));
    }
    if let Some(name) = section {
        let (offset, length) = (Some(image.len() as u64), Some(3));
        summary.sections.push(file_summary::Section { name: Some(name.to_owned()), offset, length });
        image.extend_from_slice(b"\x02\x08\x01");
    }
    let tail_at = image.len();
    delimited(&mut image, &summary.encode_to_vec());
    let size = (image.len() - tail_at) as u32;
    image.extend_from_slice(&size.to_be_bytes());
    image
}

/// Writes an image and its MD5 file.
fn put_image(disk: &MemDisk, name: &str, image: &[u8]) {
    disk.open(&current(name), OpenMode::Create).unwrap().write_all_at(image, 0).unwrap();
    let digest = <md5::Md5 as md5::Digest>::digest(image);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let md5 = disk.open(&current(&format!("{name}.md5")), OpenMode::Create).unwrap();
    md5.write_all_at(format!("{hex} *{name}\n").as_bytes(), 0).unwrap();
}

/// A mixed load leaves something in every section.
#[test]
fn our_image_gives_the_namespace_back() {
    let mut longest = BTreeMap::new();
    let (mut coded_with_diffs, mut coded_and_held) = (0, 0);
    for seed in 0..20 {
        let disk = MemDisk::new();
        format_dirs(&disk, &dirs());
        let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
        let mut load_ops = MixedLoad::new(seed);
        for _ in 0..150 {
            for op in load_ops.step() {
                fs.run(op);
            }
        }
        let txid = fs.checkpoint().unwrap();
        let (dump, num_blocks) = (fs.namespace.dump(), fs.namespace.blocks.num_blocks());
        drop(fs);
        let loaded = load(&disk).unwrap();
        assert_eq!((loaded.image_txid, loaded.namespace.blocks.num_blocks()), (txid, num_blocks));
        assert_eq!(loaded.namespace.dump(), dump, "seed {seed}");
        let file = ImageFile::open(&disk, &current(&format!("fsimage_{:019}", txid.0))).unwrap();
        for section in file.sections() {
            let length = longest.entry(section.name.clone()).or_insert(0);
            *length = section.length.max(*length);
        }
        let image = loaded.namespace.freeze();
        for inode in image.inodes().filter(|inode| inode.layout().is_erasure_coded()) {
            coded_with_diffs += usize::from(inode.diffs().any(|diff| match diff.body {
                DiffBodyView::File { blocks, .. } => blocks.is_some_and(|blocks| !blocks.is_empty()),
                DiffBodyView::Directory { .. } => false,
            }));
            coded_and_held += usize::from(!loaded.namespace.tree.is_attached(inode.handle()));
        }
    }
    // Where there is nothing, a section has no more than its head.
    let full = ["ERASURE_CODING", "SNAPSHOT", "SNAPSHOT_DIFF", "INODE_REFERENCE", "SECRET_MANAGER", "CACHE_MANAGER"];
    for name in full.into_iter().chain(["INODE", "INODE_DIR", "FILES_UNDERCONSTRUCTION", "STRING_TABLE"]) {
        assert!(longest.get(name).is_some_and(|length| *length > 40), "{name}: {longest:?}");
    }
    assert!(coded_with_diffs > 0 && coded_and_held > 0, "{coded_with_diffs} {coded_and_held}");
}

/// Truncates that have not ended: where they cut, and what is copied first, though nothing else in the image shows it.
#[test]
fn an_image_keeps_truncates_that_have_not_ended() {
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs());
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    let mut load_ops = MixedLoad::new(1);
    for path in ["/copied", "/in-place"] {
        for op in load_ops.closed_file(path) {
            fs.run(op);
        }
    }
    let last = |fs: &Running, path| {
        let handle = fs.namespace.tree.lookup(path).unwrap();
        fs.namespace.blocks.block(*fs.namespace.tree.inode(handle).blocks().last().unwrap())
    };
    let (whole, in_place) = (last(&fs, "/copied"), last(&fs, "/in-place"));
    let copy = Block { id: BlockId(in_place.id.0 + 1), generation_stamp: GenerationStamp(2000), ..whole };
    let cut = Block { generation_stamp: GenerationStamp(2001), ..in_place };
    for (path, block) in [("/copied", copy), ("/in-place", cut)] {
        fs.run(EditOp::Truncate {
            src: path.into(),
            client_name: "c".into(),
            client_machine: "m".into(),
            new_length: 1,
            timestamp: 7,
            block: Some(block),
        });
    }
    let dump = fs.namespace.dump();
    assert!(dump.contains(&format!("truncated to {}=1 from {whole}={}", copy.id, whole.num_bytes)), "{dump}");
    assert!(dump.contains(&format!("truncated to {}=1\n", cut.id)), "{dump}");
    assert_eq!(fs.namespace.blocks.num_blocks(), 3);
    // The second image is written from what the first one gave.
    for _ in 0..2 {
        let txid = fs.checkpoint().unwrap();
        drop(fs);
        let loaded = load(&disk).unwrap();
        assert_eq!((loaded.image_txid, loaded.namespace.dump()), (txid, dump.clone()));
        assert_eq!(loaded.namespace.blocks.num_blocks(), 3);
        drop(loaded);
        fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    }
}

/// Sections may be compressed, each for itself; no setting of ours writes them so.
#[test]
fn a_compressed_image() {
    use std::io::Write;
    use surus_proto::hadoop::hdfs::fsimage::FileSummary;
    let disk = golden::name_directory(golden::OPEN_FILES);
    let path = current("fsimage_0000000000000000146");
    let plain = disk.read(&path, 1 << 20).unwrap();
    let expected = load(&disk.kill_clone()).unwrap().namespace.dump();
    let size = u32::from_be_bytes(*plain.last_chunk().unwrap()) as usize;
    let summary_at = plain.len() - 4 - size;
    let mut summary: FileSummary =
        prost::Message::decode_length_delimited(&plain[summary_at..plain.len() - 4]).unwrap();
    for gzip in [false, true] {
        let mut image = b"HDFSIMG1".to_vec();
        summary.codec =
            Some(format!("org.apache.hadoop.io.compress.{}", if gzip { "GzipCodec" } else { "DefaultCodec" }));
        let mut sections = summary.sections.clone();
        for section in &mut sections {
            let (from, len) = (section.offset() as usize, section.length() as usize);
            let level = flate2::Compression::default();
            let packed = if gzip {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(&plain[from..from + len]).unwrap();
                encoder.finish().unwrap()
            } else {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(&plain[from..from + len]).unwrap();
                encoder.finish().unwrap()
            };
            (section.offset, section.length) = (Some(image.len() as u64), Some(packed.len() as u64));
            image.extend_from_slice(&packed);
        }
        let packed = FileSummary { sections, ..summary.clone() };
        let tail = prost::Message::encode_length_delimited_to_vec(&packed);
        image.extend_from_slice(&tail);
        image.extend_from_slice(&(tail.len() as u32).to_be_bytes());
        let disk = disk.kill_clone();
        disk.open(&path, OpenMode::Create).unwrap().write_all_at(&image, 0).unwrap();
        let digest = <md5::Md5 as md5::Digest>::digest(&image);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let md5_file = disk.open(&current("fsimage_0000000000000000146.md5"), OpenMode::Create).unwrap();
        md5_file.write_all_at(format!("{hex} *fsimage_0000000000000000146\n").as_bytes(), 0).unwrap();
        let mut notices = Notices::default();
        let loaded = open(Arc::new(disk.clone()), &dirs()).unwrap().load(config(), &mut notices).unwrap();
        assert_eq!(notices.0, [""; 0]);
        assert_eq!((loaded.image_txid, loaded.namespace.dump()), (TxId(146), expected.clone()));
    }
}

/// Images of every codec, whole and cut into parts, hold the same and read back; a damaged one is passed over with a reason.
#[test]
fn every_codec_and_parallel_sections() {
    let disk = golden::name_directory(golden::OPEN_FILES);
    let loaded = load(&disk).unwrap();
    let expected = loaded.namespace.dump();
    let codecs = [Codec::None, Codec::Zlib, Codec::Gzip, Codec::Bzip2, Codec::Lz4, Codec::Snappy, Codec::Zstd];
    for (codec, parallel_sections) in codecs.into_iter().flat_map(|codec| [(codec, 0), (codec, 4)]) {
        let disk = golden::name_directory(golden::OPEN_FILES);
        let options = ImageOptions { codec, parallel_sections, parallel_inode_threshold: 1 };
        let storage = open_with(disk.clone(), options);
        let loaded = storage.load(config(), &mut ()).unwrap();
        storage.save_namespace(&loaded.namespace.freeze(), loaded.last_txid).unwrap();
        drop(storage);
        let path = current("fsimage_0000000000000000147");
        let image = ImageFile::open(&disk, &path).unwrap();
        let parts = |name: &str| -> Vec<_> { image.sections().iter().filter(|entry| entry.name == name).collect() };
        for (name, part) in [("INODE", "INODE_SUB"), ("INODE_DIR", "INODE_DIR_SUB")] {
            let (whole, parts) = (parts(name), parts(part));
            let sum: u64 = parts.iter().map(|part| part.length).sum();
            let is_right = if parallel_sections == 0 { parts.is_empty() } else { sum == whole[0].length };
            assert!(
                is_right && (parallel_sections == 0 || parts.len() >= 3),
                "{codec:?} {name}: {parts:?} of {whole:?}"
            );
        }
        let again = load(&disk).unwrap();
        assert_eq!((again.image_txid, again.namespace.dump()), (TxId(147), expected.clone()), "{codec:?}");
        // One byte in the middle of the inodes.
        let at = parts("INODE")[0].offset + parts("INODE")[0].length / 2;
        let file = disk.open(&path, OpenMode::ReadWrite).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 0x55], at).unwrap();
        let mut notices = Notices::default();
        let storage = open(Arc::new(disk.clone()), &dirs()).unwrap();
        let older = storage.load(config(), &mut notices).unwrap();
        assert_eq!((older.image_txid, older.namespace.dump()), (TxId(146), expected.clone()));
        let notice = &notices.0[0];
        assert!(notice.contains("fsimage_0000000000000000147") && notice.contains("its MD5 is"), "{codec:?}: {notice}");
    }
}

fn open_with(disk: MemDisk, options: ImageOptions) -> Storage {
    let storage = Storage::open(Arc::new(disk), &dirs(), "1@test", Retention::default()).unwrap();
    storage.with_image_options(options)
}

#[derive(Default)]
struct Notices(Vec<String>);

impl LoadObserver for Notices {
    fn notice(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
}
