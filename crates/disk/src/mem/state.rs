//! Files and directories of the in-memory disk, each twice: as readers see it, and as a power cut leaves it.

use crate::{DirEntry, Metadata, OpenMode, SECTOR_BYTES, Space};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub(super) type FileId = usize;
const ROOT: FileId = 0;

/// How much of what was never synced a crash clone keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CrashMode {
    /// Nothing: the strictest reading of "not synced".
    Nothing,
    /// Any subset of sectors, lengths and names, by the seed.
    Random,
}

#[derive(Clone)]
pub(super) struct State {
    nodes: Vec<Node>,
    /// Changes of names since they were last made durable, in order.
    pending: Vec<NameChange>,
    pub locks: BTreeSet<PathBuf>,
    pub capacity: Option<u64>,
}

#[derive(Clone)]
enum Node {
    File(FileNode),
    Dir { entries: BTreeMap<String, FileId>, durable: BTreeMap<String, FileId> },
}

/// One change of directory entries; a rename happens whole or not at all.
#[derive(Clone)]
enum NameChange {
    Link { dir: FileId, name: String, target: FileId },
    Unlink { dir: FileId, name: String },
    Rename { from_dir: FileId, from: String, to_dir: FileId, to: String, target: FileId },
}

impl NameChange {
    fn concerns(&self, wanted: FileId) -> bool {
        match self {
            NameChange::Link { dir, .. } | NameChange::Unlink { dir, .. } => *dir == wanted,
            NameChange::Rename { from_dir, to_dir, .. } => *from_dir == wanted || *to_dir == wanted,
        }
    }
}

impl Default for State {
    fn default() -> Self {
        State { nodes: vec![Node::new_dir()], pending: Vec::new(), locks: BTreeSet::new(), capacity: None }
    }
}

impl Node {
    fn new_dir() -> Node {
        Node::Dir { entries: BTreeMap::new(), durable: BTreeMap::new() }
    }
}

impl State {
    pub fn open(&mut self, path: &Path, mode: OpenMode) -> io::Result<(FileId, bool)> {
        let found = self.find(path);
        match (found, mode) {
            (Ok(id), _) if matches!(self.nodes[id], Node::Dir { .. }) => Err(error(io::ErrorKind::IsADirectory, path)),
            (Ok(_), OpenMode::CreateNew) => Err(error(io::ErrorKind::AlreadyExists, path)),
            (Ok(id), OpenMode::Create) => {
                self.file(id).set_len(0);
                Ok((id, true))
            }
            (Ok(id), _) => Ok((id, false)),
            (Err(e), OpenMode::Read | OpenMode::ReadWrite) => Err(e),
            (Err(e), _) if e.kind() != io::ErrorKind::NotFound => Err(e),
            (Err(_), _) => {
                let (dir, name) = self.find_parent(path)?;
                Ok((self.add(dir, name, Node::File(FileNode::default())), true))
            }
        }
    }

    pub fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let id = self.find(path)?;
        Ok(match &self.nodes[id] {
            Node::Dir { .. } => Metadata { is_dir: true, len: 0, modified_ms: 0, links: 1 },
            Node::File(file) => Metadata { is_dir: false, len: file.len(), modified_ms: 0, links: self.links(id) },
        })
    }

    pub fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let Node::Dir { entries, .. } = &self.nodes[self.find(path)?] else {
            return Err(error(io::ErrorKind::NotADirectory, path));
        };
        let is_dir = |id: &FileId| matches!(self.nodes[*id], Node::Dir { .. });
        Ok(entries.iter().map(|(name, id)| DirEntry { name: name.clone(), is_dir: is_dir(id) }).collect())
    }

    pub fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
        let mut id = ROOT;
        for name in names(path) {
            id = match self.child(id, &name, path) {
                Ok(child) => child,
                Err(e) if e.kind() == io::ErrorKind::NotFound => self.add(id, name, Node::new_dir()),
                Err(e) => return Err(e),
            };
        }
        match self.nodes[id] {
            Node::Dir { .. } => Ok(()),
            Node::File(_) => Err(error(io::ErrorKind::AlreadyExists, path)),
        }
    }

    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let target = self.find(from)?;
        let (from_dir, from_name) = self.find_parent(from)?;
        let (to_dir, to_name) = self.find_parent(to)?;
        if let Ok(id) = self.find(to)
            && let Node::Dir { entries, .. } = &self.nodes[id]
            && !entries.is_empty()
        {
            return Err(error(io::ErrorKind::DirectoryNotEmpty, to));
        }
        self.entries(from_dir).remove(&from_name);
        self.entries(to_dir).insert(to_name.clone(), target);
        self.pending.push(NameChange::Rename { from_dir, from: from_name, to_dir, to: to_name, target });
        Ok(())
    }

    pub fn hard_link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let target = self.find(from)?;
        let (dir, name) = self.find_parent(to)?;
        match (self.child(dir, &name, to), &self.nodes[target]) {
            (Ok(_), _) => return Err(error(io::ErrorKind::AlreadyExists, to)),
            (Err(_), Node::Dir { .. }) => return Err(error(io::ErrorKind::PermissionDenied, from)),
            (Err(_), Node::File(_)) => {}
        }
        self.entries(dir).insert(name.clone(), target);
        self.pending.push(NameChange::Link { dir, name, target });
        Ok(())
    }

    /// How many names a file has, below the root: what is in removed directories is gone.
    fn links(&self, file: FileId) -> u64 {
        let (mut count, mut waiting) = (0, vec![ROOT]);
        while let Some(id) = waiting.pop() {
            match &self.nodes[id] {
                Node::File(_) => count += u64::from(id == file),
                Node::Dir { entries, .. } => waiting.extend(entries.values()),
            }
        }
        count
    }

    pub fn remove(&mut self, path: &Path, want_dir: bool) -> io::Result<()> {
        let id = self.find(path)?;
        match (&self.nodes[id], want_dir) {
            (Node::Dir { .. }, false) => return Err(error(io::ErrorKind::IsADirectory, path)),
            (Node::File(_), true) => return Err(error(io::ErrorKind::NotADirectory, path)),
            _ => {}
        }
        let (dir, name) = self.find_parent(path)?;
        self.entries(dir).remove(&name);
        self.pending.push(NameChange::Unlink { dir, name });
        Ok(())
    }

    pub fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let id = self.find(path)?;
        let (done, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|change| change.concerns(id));
        self.pending = kept;
        for change in done {
            self.make_durable(change);
        }
        Ok(())
    }

    pub fn sync_everything(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            self.make_durable(change);
        }
        for node in &mut self.nodes {
            if let Node::File(file) = node {
                file.sync();
            }
        }
    }

    pub fn write(&mut self, id: FileId, data: &[u8], offset: u64) -> io::Result<()> {
        if let Some(capacity) = self.capacity {
            let grows = (offset + data.len() as u64).saturating_sub(self.file(id).len());
            if self.used() + grows > capacity {
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        self.file(id).write(data, offset);
        Ok(())
    }

    pub fn file(&mut self, id: FileId) -> &mut FileNode {
        match &mut self.nodes[id] {
            Node::File(file) => file,
            Node::Dir { .. } => unreachable!("only files are opened"),
        }
    }

    pub fn lock(&mut self, path: &Path, content: &str) -> io::Result<()> {
        if self.locks.contains(path) {
            return Err(error(io::ErrorKind::WouldBlock, path));
        }
        let (id, _) = self.open(path, OpenMode::Create)?;
        self.write(id, content.as_bytes(), 0)?;
        self.locks.insert(path.to_path_buf());
        Ok(())
    }

    pub fn unlock(&mut self, path: &Path) {
        self.locks.remove(path);
        self.remove(path, false).ok();
    }

    pub fn space(&self) -> Space {
        let used = self.used();
        let capacity = self.capacity.unwrap_or(1 << 40);
        Space { capacity, available: capacity.saturating_sub(used), used }
    }

    pub fn contents(&self) -> Vec<(PathBuf, Arc<Vec<u8>>)> {
        let mut all = Vec::new();
        let mut waiting = vec![(PathBuf::from("/"), ROOT)];
        while let Some((path, id)) = waiting.pop() {
            match &self.nodes[id] {
                Node::File(file) => all.push((path, Arc::clone(&file.data))),
                Node::Dir { entries, .. } => waiting.extend(entries.iter().map(|(name, id)| (path.join(name), *id))),
            }
        }
        all.sort();
        all
    }

    /// What a power cut leaves.
    pub fn crash(&self, mode: CrashMode, seed: u64) -> State {
        let mut random = Random(seed);
        let mut after = self.clone();
        let mut pending = std::mem::take(&mut after.pending);
        match if mode == CrashMode::Nothing { 0 } else { random.below(4) } {
            0 => pending.clear(),
            1 => {}
            2 => pending.truncate(random.below(pending.len() + 1)),
            _ => pending.retain(|_| random.below(2) == 0),
        }
        for change in pending {
            after.make_durable(change);
        }
        let keep = if mode == CrashMode::Nothing { 0 } else { random.below(5) };
        for node in &mut after.nodes {
            match node {
                Node::File(file) => file.crash(keep, &mut random),
                Node::Dir { entries, durable } => entries.clone_from(durable),
            }
        }
        after
    }

    fn used(&self) -> u64 {
        let len = |node: &Node| if let Node::File(file) = node { file.len() } else { 0 };
        self.nodes.iter().map(len).sum()
    }

    fn add(&mut self, dir: FileId, name: String, node: Node) -> FileId {
        let target = self.nodes.len();
        self.nodes.push(node);
        self.entries(dir).insert(name.clone(), target);
        self.pending.push(NameChange::Link { dir, name, target });
        target
    }

    fn make_durable(&mut self, change: NameChange) {
        match change {
            NameChange::Link { dir, name, target } => {
                self.durable(dir).insert(name, target);
            }
            NameChange::Unlink { dir, name } => {
                self.durable(dir).remove(&name);
            }
            NameChange::Rename { from_dir, from, to_dir, to, target } => {
                // A rename whose source was never made durable has nothing to rename.
                if self.durable(from_dir).get(&from) == Some(&target) {
                    self.durable(from_dir).remove(&from);
                    self.durable(to_dir).insert(to, target);
                }
            }
        }
    }

    fn entries(&mut self, dir: FileId) -> &mut BTreeMap<String, FileId> {
        match &mut self.nodes[dir] {
            Node::Dir { entries, .. } => entries,
            Node::File(_) => unreachable!("only directories are looked into"),
        }
    }

    fn durable(&mut self, dir: FileId) -> &mut BTreeMap<String, FileId> {
        match &mut self.nodes[dir] {
            Node::Dir { durable, .. } => durable,
            Node::File(_) => unreachable!("only directories are looked into"),
        }
    }

    fn child(&self, dir: FileId, name: &str, path: &Path) -> io::Result<FileId> {
        match &self.nodes[dir] {
            Node::Dir { entries, .. } => entries.get(name).copied().ok_or_else(|| error(io::ErrorKind::NotFound, path)),
            Node::File(_) => Err(error(io::ErrorKind::NotADirectory, path)),
        }
    }

    fn find(&self, path: &Path) -> io::Result<FileId> {
        names(path).try_fold(ROOT, |dir, name| self.child(dir, &name, path))
    }

    fn find_parent(&self, path: &Path) -> io::Result<(FileId, String)> {
        let mut parts: Vec<String> = names(path).collect();
        let name = parts.pop().ok_or_else(|| error(io::ErrorKind::InvalidInput, path))?;
        let dir = parts.iter().try_fold(ROOT, |dir, name| self.child(dir, name, path))?;
        match self.nodes[dir] {
            Node::Dir { .. } => Ok((dir, name)),
            Node::File(_) => Err(error(io::ErrorKind::NotADirectory, path)),
        }
    }
}

fn names(path: &Path) -> impl Iterator<Item = String> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    })
}

fn error(kind: io::ErrorKind, path: &Path) -> io::Error {
    io::Error::new(kind, format!("{}: {kind}", path.display()))
}

/// A file: what readers see, what is durable, and every version in between of each sector and of the length.
#[derive(Clone, Default)]
pub(super) struct FileNode {
    data: Arc<Vec<u8>>,
    durable: Arc<Vec<u8>>,
    sectors: BTreeMap<usize, Vec<Arc<[u8]>>>,
    lengths: Vec<usize>,
}

impl FileNode {
    pub fn len(&self) -> u64 {
        self.data.len() as u64
    }

    pub fn read(&self, buffer: &mut [u8], offset: u64) -> usize {
        let start = (offset as usize).min(self.data.len());
        let count = buffer.len().min(self.data.len() - start);
        buffer[..count].copy_from_slice(&self.data[start..start + count]);
        count
    }

    pub fn write(&mut self, bytes: &[u8], offset: u64) {
        if bytes.is_empty() {
            return;
        }
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        let data = Arc::make_mut(&mut self.data);
        if data.len() < end {
            data.resize(end, 0);
            self.lengths.push(end);
        }
        data[start..end].copy_from_slice(bytes);
        for sector in start / SECTOR_BYTES..=(end - 1) / SECTOR_BYTES {
            let from = sector * SECTOR_BYTES;
            let until = (from + SECTOR_BYTES).min(data.len());
            self.sectors.entry(sector).or_default().push(Arc::from(&data[from..until]));
        }
    }

    pub fn set_len(&mut self, len: u64) {
        Arc::make_mut(&mut self.data).resize(len as usize, 0);
        self.lengths.push(len as usize);
    }

    pub fn sync(&mut self) {
        self.durable = Arc::clone(&self.data);
        self.sectors.clear();
        self.lengths.clear();
    }

    /// `keep`: 0 nothing unsynced, 1 all of it, otherwise each sector at any of its versions and any of the lengths.
    fn crash(&mut self, keep: usize, random: &mut Random) {
        let before = std::mem::take(self);
        if before.sectors.is_empty() && before.lengths.is_empty() {
            *self = before;
            return;
        }
        let mut data = match keep {
            0 => before.durable,
            1 => before.data,
            _ => {
                let choice = random.below(before.lengths.len() + 1);
                let len = if choice == 0 { before.durable.len() } else { before.lengths[choice - 1] };
                let mut data = before.durable.as_ref().clone();
                data.resize(len, 0);
                for (sector, versions) in &before.sectors {
                    let choice = random.below(versions.len() + 1);
                    let from = sector * SECTOR_BYTES;
                    if choice > 0 && from < len {
                        let version = &versions[choice - 1];
                        let count = version.len().min(len - from);
                        data[from..from + count].copy_from_slice(&version[..count]);
                    }
                }
                Arc::new(data)
            }
        };
        std::mem::swap(&mut self.data, &mut data);
        self.durable = Arc::clone(&self.data);
    }
}

/// SplitMix64: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }
}
