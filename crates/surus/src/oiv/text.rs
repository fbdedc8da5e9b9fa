//! A line for each inode with its path (Delimited), and the inodes that directories name but the image lacks (DetectCorruption).
//! Source: `PBImageTextWriter.java`, `PBImageDelimitedTextWriter.java`, `PBImageCorruptionDetector.java`, Hadoop 3.5.0.

use super::Problem;
use super::policies::built_in;
use super::strings::{Permission, Strings, symbol};
use crate::local_time::local_time;
use crate::offline::Output;
use std::collections::{BTreeMap, HashMap};
use surus_journal::image::ImageFile;
use surus_proto::hadoop::hdfs::fsimage::INodeSection;
use surus_proto::hadoop::hdfs::fsimage::i_node_directory_section::DirEntry;
use surus_proto::hadoop::hdfs::fsimage::i_node_reference_section::INodeReference;
use surus_proto::hadoop::hdfs::fsimage::i_node_section::{INode, XAttrFeatureProto};

const ROOT_ID: u64 = 16385;
/// `XATTR_ERASURECODING_POLICY` and the storage policy's, both in the SYSTEM namespace.
const EC_POLICY: &str = "hdfs.erasurecoding.policy";
const STORAGE_POLICY: &str = "hsm.block.storage.policy.id";
const SYSTEM: usize = 3;

/// What Delimited shows.
pub struct Columns<'a> {
    pub delimiter: &'a str,
    pub storage_policy: bool,
    pub ec_policy: bool,
}

const HEADER: [&str; 12] = [
    "Path",
    "Replication",
    "ModificationTime",
    "AccessTime",
    "PreferredBlockSize",
    "BlocksCount",
    "FileSize",
    "NSQUOTA",
    "DSQUOTA",
    "Permission",
    "UserName",
    "GroupName",
];

pub fn delimited(image: &ImageFile, out: &mut Output, columns: &Columns<'_>) -> Result<(), Problem> {
    let strings = Strings::read(image)?;
    let mut names = Names::read(image, |_| {})?;
    names.read_directories(image, |_, _| {})?;
    let mut line = Line { delimiter: columns.delimiter, out: Vec::new() };
    HEADER.iter().for_each(|name| line.text(name));
    if columns.storage_policy {
        line.text("StoragePolicyId");
    }
    if columns.ec_policy {
        line.text("ErasureCodingPolicy");
    }
    line.end(out)?;
    let mut inodes = image.section("INODE");
    inodes.expect::<INodeSection>()?;
    let mut path = String::new();
    while let Some(inode) = inodes.message::<INode>()? {
        // What only a snapshot holds has no path.
        if !names.path(inode.id, &inode, &mut path) {
            continue;
        }
        entry(&mut line, &path, &inode, &strings, columns);
        line.end(out)?;
    }
    Ok(())
}

fn entry(line: &mut Line<'_>, path: &str, inode: &INode, strings: &Strings, columns: &Columns<'_>) {
    let mut shown = Shown::default();
    let bits;
    if let Some(file) = &inode.file {
        shown.replication = file.replication();
        shown.mtime = file.modification_time();
        shown.atime = file.access_time();
        shown.block_size = file.preferred_block_size();
        shown.blocks = file.blocks.len();
        shown.size = file.blocks.iter().map(|block| block.num_bytes()).sum();
        shown.has_acl = file.acl.as_ref().is_some_and(|acl| !acl.entries.is_empty());
        shown.storage_policy = file.storage_policy_id() as i32;
        shown.ec_policy = file.erasure_coding_policy_id.and_then(built_in).map(|policy| policy.name.to_owned());
        bits = file.permission();
    } else if let Some(directory) = &inode.directory {
        shown.is_directory = true;
        shown.mtime = directory.modification_time();
        shown.namespace_quota = directory.ns_quota() as i64;
        shown.space_quota = directory.ds_quota() as i64;
        shown.has_acl = directory.acl.as_ref().is_some_and(|acl| !acl.entries.is_empty());
        let xattr = |name: &str| system_xattr(directory.x_attrs.as_ref(), strings, name);
        shown.storage_policy =
            xattr(STORAGE_POLICY).and_then(|value| value.first()).map_or(0, |id| i32::from(*id as i8));
        shown.ec_policy = xattr(EC_POLICY).and_then(writable_string);
        bits = directory.permission();
    } else {
        let link = inode.symlink.clone().unwrap_or_default();
        shown.mtime = link.modification_time();
        shown.atime = link.access_time();
        bits = link.permission();
    }
    shown.put(line, path, &strings.permission(bits), columns);
}

#[derive(Default)]
struct Shown {
    is_directory: bool,
    replication: u32,
    mtime: u64,
    atime: u64,
    block_size: u64,
    blocks: usize,
    size: u64,
    namespace_quota: i64,
    space_quota: i64,
    has_acl: bool,
    storage_policy: i32,
    ec_policy: Option<String>,
}

impl Shown {
    fn put(&self, line: &mut Line<'_>, path: &str, permission: &Permission<'_>, columns: &Columns<'_>) {
        line.text(path);
        line.number(i64::from(self.replication as i32));
        line.text(&minute(self.mtime as i64));
        line.text(&minute(self.atime as i64));
        line.number(self.block_size as i64);
        line.number(self.blocks as i64);
        line.number(self.size as i64);
        line.number(self.namespace_quota);
        line.number(self.space_quota);
        let (kind, acl) = (if self.is_directory { "d" } else { "-" }, if self.has_acl { "+" } else { "" });
        line.text(&[kind, &symbol(permission.mode), acl].concat());
        line.text(permission.user);
        line.text(permission.group);
        if columns.storage_policy {
            line.number(i64::from(self.storage_policy));
        }
        if columns.ec_policy {
            line.text(self.ec_policy.as_deref().unwrap_or("-"));
        }
    }
}

fn system_xattr<'a>(feature: Option<&'a XAttrFeatureProto>, strings: &Strings, name: &str) -> Option<&'a [u8]> {
    let found = feature?.x_attrs.iter().find(|xattr| strings.xattr(xattr) == (SYSTEM, name))?;
    Some(found.value.as_deref().unwrap_or_default())
}

/// A string as `WritableUtils.writeString` writes it: length, then UTF-8.
fn writable_string(bytes: &[u8]) -> Option<String> {
    let (length, text) = bytes.split_first_chunk::<4>()?;
    let text = text.get(..u32::from_be_bytes(*length) as usize)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// `2026-11-30 10:52`, local time.
fn minute(ms: i64) -> String {
    let time = local_time(ms);
    format!("{:04}-{:02}-{:02} {:02}:{:02}", time.year, time.month, time.day, time.hour, time.minute)
}

/// A line that is being made.
struct Line<'a> {
    delimiter: &'a str,
    out: Vec<u8>,
}

impl Line<'_> {
    fn next(&mut self) {
        if !self.out.is_empty() {
            self.out.extend_from_slice(self.delimiter.as_bytes());
        }
    }

    fn number(&mut self, value: i64) {
        self.next();
        self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// Quoted as in CSV files; line ends become `%x0A`.
    fn text(&mut self, text: &str) {
        self.next();
        if !text.contains([',', '"', '\r', '\n']) {
            self.out.extend_from_slice(text.as_bytes());
            return;
        }
        let quoted = format!("\"{}\"", text.replace('"', "\"\""));
        let quoted =
            if quoted.contains("\r\n") { quoted.replace("\r\n", "%x0D%x0A") } else { quoted.replace('\n', "%x0A") };
        self.out.extend_from_slice(quoted.as_bytes());
    }

    fn end(&mut self, out: &mut Output) -> Result<(), Problem> {
        self.out.push(b'\n');
        out.buffer().extend_from_slice(&self.out);
        out.spill()?;
        self.out.clear();
        Ok(())
    }
}

/// Directories with their names, and the directory that each inode is in.
struct Names {
    directories: Vec<Directory>,
    /// Directory by inode id.
    by_id: HashMap<u64, u32>,
    /// The directory of each inode that has one.
    parents: HashMap<u64, u32>,
}

struct Directory {
    id: u64,
    /// None: directories name it, but the image has no such inode.
    name: Option<String>,
    path: Option<String>,
}

impl Names {
    fn read(image: &ImageFile, mut each: impl FnMut(u64)) -> Result<Names, Problem> {
        let mut names = Names { directories: Vec::new(), by_id: HashMap::new(), parents: HashMap::new() };
        let mut section = image.section("INODE");
        let head: INodeSection = section.expect()?;
        for _ in 0..head.num_inodes() {
            let inode: INode = section.expect()?;
            if inode.directory.is_some() {
                let name = String::from_utf8_lossy(inode.name.as_deref().unwrap_or_default()).into_owned();
                names.directory(inode.id, Some(name));
            }
            each(inode.id);
        }
        Ok(names)
    }

    fn directory(&mut self, id: u64, name: Option<String>) -> u32 {
        let at = self.directories.len() as u32;
        let known = *self.by_id.entry(id).or_insert(at);
        if known == at {
            self.directories.push(Directory { id, name, path: None });
        }
        known
    }

    /// Reads who is in which directory. `each` is told a directory and its children, apart from those that a snapshot holds too.
    fn read_directories(&mut self, image: &ImageFile, mut each: impl FnMut(u64, &[u64])) -> Result<(), Problem> {
        let mut references = Vec::new();
        let mut section = image.section("INODE_REFERENCE");
        while let Some(reference) = section.message::<INodeReference>()? {
            references.push(reference.referred_id());
        }
        let mut section = image.section("INODE_DIR");
        while let Some(entry) = section.message::<DirEntry>()? {
            let parent = self.directory(entry.parent(), None);
            each(entry.parent(), &entry.children);
            for child in &entry.children {
                self.parents.insert(*child, parent);
            }
            for at in &entry.ref_children {
                let child = references.get(*at as usize).ok_or_else(|| format!("there is no reference {at}"))?;
                self.parents.insert(*child, parent);
            }
        }
        Ok(())
    }

    /// Puts the path of an inode into `path`; false where it has none.
    fn path(&mut self, id: u64, inode: &INode, path: &mut String) -> bool {
        path.clear();
        if id == ROOT_ID {
            path.push('/');
            return true;
        }
        let Some(parent) = self.parent_path(id) else { return false };
        path.push_str(parent);
        if !parent.ends_with('/') {
            path.push('/');
        }
        path.push_str(&String::from_utf8_lossy(inode.name.as_deref().unwrap_or_default()));
        true
    }

    /// The path of the directory that an inode is in.
    fn parent_path(&mut self, id: u64) -> Option<&str> {
        if id == ROOT_ID {
            return Some("/");
        }
        let at = *self.parents.get(&id)?;
        self.make_path(at)?;
        self.directories[at as usize].path.as_deref()
    }

    /// Makes the path of a directory and of those above it that have none yet.
    fn make_path(&mut self, at: u32) -> Option<()> {
        let mut above = vec![at];
        loop {
            let last = *above.last()?;
            let directory = &self.directories[last as usize];
            if directory.path.is_some() {
                above.pop();
                break;
            }
            if directory.id == ROOT_ID {
                self.directories[last as usize].path = Some("/".to_owned());
                above.pop();
                break;
            }
            directory.name.as_ref()?;
            let parent = *self.parents.get(&directory.id)?;
            // A circle: no directory is above more than there are.
            if above.len() > self.directories.len() {
                return None;
            }
            above.push(parent);
        }
        while let Some(at) = above.pop() {
            let directory = &self.directories[at as usize];
            let parent = *self.parents.get(&directory.id)?;
            let parent = self.directories[parent as usize].path.as_deref()?;
            let name = directory.name.as_deref()?;
            let path = if parent.ends_with('/') { format!("{parent}{name}") } else { format!("{parent}/{name}") };
            self.directories[at as usize].path = Some(path);
        }
        Some(())
    }
}

/// What is wrong with an inode.
#[derive(Default)]
struct Corruption {
    is_missing: bool,
    missing_children: usize,
}

impl Corruption {
    fn name(&self) -> &'static str {
        match (self.is_missing, self.missing_children > 0) {
            (true, true) => "CorruptNodeWithMissingChild",
            (true, false) => "CorruptNode",
            _ => "MissingChild",
        }
    }
}

pub fn detect_corruption(image: &ImageFile, out: &mut Output, delimiter: &str) -> Result<(), Problem> {
    let mut ids = std::collections::HashSet::new();
    let mut names = Names::read(image, |id| {
        ids.insert(id);
    })?;
    let mut corruptions: BTreeMap<u64, Corruption> = BTreeMap::new();
    names.read_directories(image, |parent, children| {
        if !ids.contains(&parent) {
            corruptions.entry(parent).or_default().is_missing = true;
        }
        let missing = children.iter().filter(|child| !ids.contains(child));
        let count = missing.inspect(|child| corruptions.entry(**child).or_default().is_missing = true).count();
        if count > 0 {
            corruptions.entry(parent).or_default().missing_children = count;
        }
    })?;
    let mut line = Line { delimiter, out: Vec::new() };
    let header =
        ["CorruptionType", "Id", "IsSnapshot", "ParentPath", "ParentId", "Name", "NodeType", "CorruptChildren"];
    header.iter().for_each(|name| line.text(name));
    line.end(out)?;
    let mut inodes = image.section("INODE");
    inodes.expect::<INodeSection>()?;
    while let Some(inode) = inodes.message::<INode>()? {
        if !corruptions.contains_key(&inode.id) {
            continue;
        }
        let Some(parent_path) = names.parent_path(inode.id).map(str::to_owned) else { continue };
        let Some(corruption) = corruptions.remove(&inode.id) else { continue };
        let name = String::from_utf8_lossy(inode.name.as_deref().unwrap_or_default()).into_owned();
        put_corruption(&mut line, inode.id, &corruption, Some(&parent_path), names.parent_id(inode.id), &name, "Node");
        line.end(out)?;
    }
    for (id, corruption) in &corruptions {
        let at = names.by_id.get(id).map(|at| &names.directories[*at as usize]);
        let name = at.and_then(|directory| directory.name.clone()).unwrap_or_default();
        let kind = if ids.contains(id) { "Node" } else { "Unknown" };
        put_corruption(&mut line, *id, corruption, None, names.parent_id(*id), &name, kind);
        line.end(out)?;
    }
    Ok(())
}

impl Names {
    fn parent_id(&self, id: u64) -> Option<u64> {
        self.parents.get(&id).map(|at| self.directories[*at as usize].id)
    }
}

/// Without a parent's path the inode may be one of a snapshot.
fn put_corruption(
    line: &mut Line<'_>,
    id: u64,
    corruption: &Corruption,
    parent_path: Option<&str>,
    parent_id: Option<u64>,
    name: &str,
    kind: &str,
) {
    line.text(corruption.name());
    line.number(id as i64);
    line.text(if parent_path.is_none() { "true" } else { "false" });
    line.text(parent_path.unwrap_or_default());
    match parent_id {
        Some(id) => line.number(id as i64),
        None => line.text("Missing"),
    }
    line.text(name);
    line.text(kind);
    line.number(corruption.missing_children as i64);
}
