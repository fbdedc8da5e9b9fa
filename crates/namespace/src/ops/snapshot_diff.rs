//! getSnapshotDiffReport and getSnapshotDiffReportListing: what changed below a directory between two snapshots, or
//! between a snapshot and now. Source: `SnapshotDiffInfo.java`, `SnapshotDiffListingInfo.java`,
//! `DirectorySnapshottableFeature.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::permission::Wanted;
use crate::plan::Env;
use crate::resolve::{DirOp, Resolved};
use crate::tree::{CURRENT, ChildrenDiff, InodeHandle, PastChildren, Reference, SnapshotId, compare_names};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use surus_types::{ExceptionClass, FsAction, HdfsError, InodeId};

/// Inodes looked at for one page: it ends behind them, however few differences it has.
const PAGE_INODES_MAX: usize = 5_000;

/// The request, of both calls.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotDiff<'a> {
    pub root: &'a str,
    /// Names of snapshots; empty: now.
    pub from: &'a str,
    pub to: &'a str,
}

/// Letters of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiffType {
    Create,
    Modify,
    Delete,
    Rename,
}

impl DiffType {
    /// As reports and the wire write it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Create => "+",
            Self::Modify => "M",
            Self::Delete => "-",
            Self::Rename => "R",
        }
    }
    /// As WebHDFS writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Modify => "MODIFY",
            Self::Delete => "DELETE",
            Self::Rename => "RENAME",
        }
    }
}

/// Paths are relative to the directory asked for; it is the empty one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiffReportEntry {
    pub kind: DiffType,
    pub source: Vec<u8>,
    pub target: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiffReport {
    /// The snapshottable directory.
    pub root: String,
    pub entries: Vec<DiffReportEntry>,
}

/// An entry of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiffListingEntry {
    pub path: Vec<u8>,
    pub directory: InodeId,
    pub inode: InodeId,
    pub is_reference: bool,
    pub target: Option<Vec<u8>>,
}

/// One page of differences.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiffListing {
    pub modified: Vec<DiffListingEntry>,
    pub created: Vec<DiffListingEntry>,
    pub deleted: Vec<DiffListingEntry>,
    pub is_from_earlier: bool,
    /// Where the next page begins: empty and -1 after the last one.
    pub last_path: Vec<u8>,
    pub last_index: i32,
}

impl DiffListing {
    fn len(&self) -> usize {
        self.modified.len() + self.created.len() + self.deleted.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No page follows.
    pub fn is_last(&self) -> bool {
        self.last_path.is_empty() && self.last_index < 0
    }
}

/// What is compared.
#[derive(Clone, Copy)]
struct Comparison {
    root: InodeHandle,
    scope: InodeHandle,
    earlier: SnapshotId,
    later: SnapshotId,
    is_from_earlier: bool,
}

/// A changed inode below the scope, with its path in the earlier state.
enum Change<'a> {
    Directory(InodeHandle, Rc<ChildrenDiff<'a>>),
    File(InodeHandle),
}

/// A directory whose children in the earlier state are being gone through.
struct Opened<'a> {
    path: Vec<u8>,
    handle: InodeHandle,
    changes: Option<Rc<ChildrenDiff<'a>>>,
    children: PastChildren<'a>,
}

/// A change with its present path in components, which the report is sorted by, and its path in the report.
type SortedChange<'a> = (Vec<&'a [u8]>, Vec<u8>, Change<'a>);

/// Where a moved inode came from and went to, as far as either lies in the directory compared.
type Renames = BTreeMap<InodeHandle, (Option<Vec<u8>>, Option<Vec<u8>>)>;

fn joined(names: &[&[u8]]) -> Vec<u8> {
    names.join(&b'/')
}

fn below(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, name].join(&b'/') }
}

impl Namespace {
    /// The whole report.
    ///
    /// # Errors
    /// Nothing there is snapshottable, a snapshot is unknown, the caller may not read all of it.
    pub fn get_snapshot_diff_report(&self, env: &Env<'_>, request: &SnapshotDiff<'_>) -> Result<DiffReport, HdfsError> {
        let Some(comparison) = self.comparison(env, request)? else {
            return Ok(DiffReport { root: request.root.into(), entries: Vec::new() });
        };
        let mut changes: Vec<SortedChange<'_>> = Vec::new();
        let mut renames = Renames::new();
        self.visit_changes(&comparison, b"", usize::MAX, &mut |path, change| {
            let handle = match &change {
                Change::File(file) => *file,
                Change::Directory(directory, diff) => {
                    for created in diff.created.iter().filter(|created| created.is_reference) {
                        let (_, target) = renames.entry(created.inode).or_default();
                        target.get_or_insert_with(|| below(&path, created.name));
                    }
                    for deleted in &diff.deleted {
                        if let Reference::WithName(_) = deleted.reference {
                            renames.entry(deleted.inode).or_default().0 = Some(below(&path, &deleted.name));
                            if let Some(target) =
                                self.tree.path_below(comparison.scope, deleted.inode, comparison.later)
                            {
                                renames.entry(deleted.inode).or_default().1 = Some(joined(&target));
                            }
                        }
                    }
                    *directory
                }
            };
            changes.push((self.tree.sort_path(handle), path, change));
            true
        });
        changes.sort_by(|a, b| compare_paths(&a.0, &b.0));
        let mut entries = Vec::new();
        for (_, path, change) in changes {
            entries.push(DiffReportEntry { kind: DiffType::Modify, source: path.clone(), target: None });
            if let Change::Directory(_, diff) = change {
                report_children(&path, &diff, comparison.is_from_earlier, &renames, &mut entries);
            }
        }
        Ok(DiffReport { root: self.tree.path_of(comparison.root).unwrap_or_default(), entries })
    }

    /// One page, from the place a page before ended at (empty and -1: the first). A page may be empty where others follow:
    /// it then looked at as much as one hold of the namespace may.
    ///
    /// # Errors
    /// As [`Namespace::get_snapshot_diff_report`].
    pub fn get_snapshot_diff_report_listing(
        &self,
        env: &Env<'_>,
        request: &SnapshotDiff<'_>,
        start_path: &[u8],
        start_index: i32,
    ) -> Result<DiffListing, HdfsError> {
        let mut page = DiffListing { last_index: -1, ..DiffListing::default() };
        let Some(comparison) = self.comparison(env, request)? else { return Ok(page) };
        page.is_from_earlier = comparison.is_from_earlier;
        let limit = self.config.snapshots.diff_listing_limit as usize;
        let mut is_full = false;
        let stopped_before = self.visit_changes(&comparison, start_path, PAGE_INODES_MAX, &mut |path, change| {
            let from = if path == start_path { usize::try_from(start_index.saturating_add(1)).unwrap_or(0) } else { 0 };
            let room = limit.saturating_sub(page.len());
            let num_entries = change.num_entries();
            for i in (from..num_entries).take(room) {
                let (kind, entry) = self.listing_entry(&comparison, &path, &change, i);
                match kind {
                    DiffType::Create => page.created.push(entry),
                    DiffType::Delete => page.deleted.push(entry),
                    _ => page.modified.push(entry),
                }
            }
            is_full = num_entries.saturating_sub(from) > room;
            if is_full {
                page.last_path = path;
                page.last_index = (from + room) as i32 - 1;
            }
            !is_full
        });
        if let Some(path) = stopped_before.filter(|_| !is_full) {
            page.last_path = path;
        }
        Ok(page)
    }

    /// What a page says of one changed inode: first itself, then what came, then what went.
    fn listing_entry(
        &self,
        comparison: &Comparison,
        path: &[u8],
        change: &Change<'_>,
        index: usize,
    ) -> (DiffType, DiffListingEntry) {
        let id = |handle| self.tree.inode(handle).id();
        let (handle, diff) = match change {
            Change::File(file) => (*file, None),
            Change::Directory(directory, diff) => (*directory, Some(diff)),
        };
        let directory = id(handle);
        let (Some(index), Some(diff)) = (index.checked_sub(1), diff) else {
            let (path, is_reference) = (path.to_vec(), diff.is_some());
            let entry = DiffListingEntry { path, directory, inode: directory, is_reference, target: None };
            return (DiffType::Modify, entry);
        };
        if let Some(created) = diff.created.get(index) {
            let (inode, is_reference) = (id(created.inode), created.is_reference);
            let path = below(path, created.name);
            return (DiffType::Create, DiffListingEntry { path, directory, inode, is_reference, target: None });
        }
        let deleted = diff.deleted[index - diff.created.len()];
        let target = match deleted.reference {
            Reference::WithName(_) => self.tree.path_below(comparison.scope, deleted.inode, comparison.later),
            _ => None,
        };
        let target = target.map(|names| joined(&names));
        let (path, inode) = (below(path, &deleted.name), id(deleted.inode));
        let is_reference = target.is_some();
        (DiffType::Delete, DiffListingEntry { path, directory, inode, is_reference, target })
    }

    /// `None`: both names mean the same.
    fn comparison(&self, env: &Env<'_>, request: &SnapshotDiff<'_>) -> Result<Option<Comparison>, HdfsError> {
        if !(request.from.is_empty() && request.to.is_empty()) {
            super::snapshot::check_can_name(request.root)?;
        }
        let path = self.resolve(env, request.root, DirOp::Read)?;
        for name in [request.from, request.to] {
            let past =
                if name.is_empty() { path.path.as_ref().into() } else { format!("{}/.snapshot/{name}", path.path) };
            let past = self.resolve(env, &past, DirOp::Read)?;
            let wanted = Wanted { access: Some(FsAction::READ), subtree: Some(FsAction::READ), ..Wanted::default() };
            self.check_permission(env, &past, wanted)?;
        }
        let error = |text: String| HdfsError::new(ExceptionClass::Snapshot, text);
        let root = if self.config.snapshots.diffs_of_descendants {
            self.diff_root(&path)?
        } else {
            self.snapshottable_root(&path)?
        };
        let scope = self.existing_directory(&path)?;
        if request.from.is_empty() && request.to.is_empty() {
            return Ok(None);
        }
        let id = |name: &str| match name {
            "" => Ok(CURRENT),
            name => self.tree.inode(root).snapshot_named(name.as_bytes()).map(|s| s.id).ok_or_else(|| {
                let root = self.tree.path_of(root).unwrap_or_default();
                error(format!("Cannot find the snapshot of directory {root} with name {name}"))
            }),
        };
        let (from, to) = (id(request.from)?, id(request.to)?);
        if from == to {
            return Ok(None);
        }
        let (earlier, later) = (from.min(to), from.max(to));
        Ok(Some(Comparison { root, scope, earlier, later, is_from_earlier: from < to }))
    }

    /// The snapshottable directory that the path, or the directory of what is no directory, is or lies in.
    /// Source: `SnapshotManager.getSnapshottableAncestorDir`, Hadoop 3.5.0.
    fn diff_root(&self, path: &Resolved<'_>) -> Result<InodeHandle, HdfsError> {
        let directory = path.last.filter(|&last| self.tree.inode(last).is_directory()).or_else(|| path.parent());
        let no_parent = || HdfsError::file_not_found(format!("Directory does not exist: {}", path.parent_path()));
        let directory = directory.ok_or_else(no_parent)?;
        if self.tree.inode(directory).is_snapshottable() {
            return Ok(directory);
        }
        self.snapshottable_above(directory).ok_or_else(|| {
            let text = format!("The path {} is neither snapshottable nor under a snapshot root!", path.path);
            HdfsError::new(ExceptionClass::Snapshot, text)
        })
    }

    /// Every changed inode of the earlier state from `start` on, depth first, directories before what is in them and children
    /// in name order; stops at false. What lies before `start` is not looked at, whether `start` still differs, is still there
    /// or not. Where `limit` inodes were looked at, the path of the next one is returned.
    fn visit_changes<'a>(
        &'a self,
        comparison: &Comparison,
        start: &[u8],
        limit: usize,
        visit: &mut dyn FnMut(Vec<u8>, Change<'a>) -> bool,
    ) -> Option<Vec<u8>> {
        let Comparison { earlier, later, .. } = *comparison;
        let mut opened: Vec<Opened<'a>> = Vec::new();
        // Names of `start` not come to yet, the next one last.
        let mut skipped: Vec<&[u8]> = start.split(|&byte| byte == b'/').rev().filter(|name| !name.is_empty()).collect();
        let mut next = Some((comparison.scope, Vec::new()));
        let mut looked_at = 0;
        loop {
            let Some((handle, path)) = next.take() else {
                let directory = opened.last_mut()?;
                match directory.children.next() {
                    Some((name, child)) => {
                        looked_at += 1;
                        if looked_at >= limit {
                            return Some(below(&directory.path, name));
                        }
                        let is_shown = self.is_compared(comparison, directory, name, child);
                        next = is_shown.then(|| (child, below(&directory.path, name)));
                    }
                    None => _ = opened.pop(),
                }
                continue;
            };
            let skip_to = skipped.pop();
            if !self.tree.inode(handle).is_directory() {
                let is_changed = skip_to.is_none() && self.tree.file_changed(handle, earlier, later);
                skipped.clear();
                if is_changed && !visit(path, Change::File(handle)) {
                    return None;
                }
                continue;
            }
            let changes = self.tree.directory_changes(handle, earlier, later).map(Rc::new);
            if skip_to.is_none()
                && let Some(changes) = &changes
                && !visit(path.clone(), Change::Directory(handle, Rc::clone(changes)))
            {
                return None;
            }
            let children = self.tree.children_at(handle, earlier, skip_to.unwrap_or_default());
            let directory = Opened { path, handle, changes, children };
            if let Some(name) = skip_to
                && let Some(child) = self.tree.child_at(handle, name, earlier)
                && self.is_compared(comparison, &directory, name, child)
            {
                next = Some((child, below(&directory.path, name)));
            } else {
                skipped.clear();
            }
            opened.push(directory);
        }
    }

    /// Whether a child in the earlier state is in the later one, too, here or moved.
    fn is_compared(&self, comparison: &Comparison, directory: &Opened<'_>, name: &[u8], child: InodeHandle) -> bool {
        let is_gone = directory.changes.as_ref().is_some_and(|changes| changes.is_deleted(name));
        let reference = || self.tree.held_reference(directory.handle, name, comparison.earlier);
        !is_gone
            || matches!(reference(), Reference::WithName(_))
                && self.tree.path_below(comparison.scope, child, comparison.later).is_some()
    }
}

impl Change<'_> {
    /// Entries that a page has of it.
    fn num_entries(&self) -> usize {
        match self {
            Change::File(_) => 1,
            Change::Directory(_, diff) => 1 + diff.created.len() + diff.deleted.len(),
        }
    }
}

/// Reports name inodes nearer to the root first, then in the order of their paths.
/// Source: `SnapshotDiffInfo.INODE_COMPARATOR`, Hadoop 3.5.0.
fn compare_paths(a: &[&[u8]], b: &[&[u8]]) -> Ordering {
    let by_name = || {
        let mut orders = a.iter().zip(b).map(|(a, b)| compare_names(a, b));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    a.len().cmp(&b.len()).then_with(by_name)
}

fn report_children(
    path: &[u8],
    diff: &ChildrenDiff<'_>,
    is_from_earlier: bool,
    renames: &Renames,
    entries: &mut Vec<DiffReportEntry>,
) {
    let (came, went) =
        if is_from_earlier { (DiffType::Create, DiffType::Delete) } else { (DiffType::Delete, DiffType::Create) };
    let rename = |inode: InodeHandle| match renames.get(&inode) {
        Some((Some(source), Some(target))) => Some((source.clone(), target.clone())),
        _ => None,
    };
    for created in diff.created.iter().filter(|created| rename(created.inode).is_none()) {
        entries.push(DiffReportEntry { kind: came, source: below(path, created.name), target: None });
    }
    for deleted in &diff.deleted {
        entries.push(match rename(deleted.inode) {
            Some((source, target)) => {
                let (source, target) = if is_from_earlier { (source, target) } else { (target, source) };
                DiffReportEntry { kind: DiffType::Rename, source, target: Some(target) }
            }
            None => DiffReportEntry { kind: went, source: below(path, &deleted.name), target: None },
        });
    }
}
