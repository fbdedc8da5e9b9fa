//! Start-up: the newest image that reads, the edits behind it, and the repair of what a crash left. Until all of it has
//! been read and applied, nothing on disk changes.

use crate::error::{DamageKind, JournalError};
use crate::image::{LoadedImage, load_image};
use crate::names::FileName;
use crate::scan::{SegmentEnd, SegmentReader};
use crate::storage::Storage;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use surus_disk::{OpenMode, SyncPoint};
use surus_namespace::{EditOp, Namespace, NamespaceConfig};
use surus_types::TxId;

/// Told during start-up.
pub trait LoadObserver {
    /// An image of so many bytes is read.
    fn loading_image(&mut self, _file: &Path, _bytes: u64) {}
    /// The image was read.
    fn loaded_image(&mut self, _namespace: &Namespace) {}
    /// A segment of edits is read.
    fn loading_edits(&mut self, _file: &Path) {}
    /// An operation was applied: `namespace` is the state after it.
    fn replayed(&mut self, _op: &EditOp, _txid: TxId, _namespace: &Namespace) {}
    /// Asked in recovery mode about what makes a load fail and has a `JournalError::cut`: whether it is passed over. The same
    /// may be asked again.
    fn passes_over(&mut self, _problem: &JournalError) -> bool {
        false
    }
    /// Something an operator should read in the log: an image that was passed over, a torn tail that is cut off.
    fn notice(&mut self, _text: &str) {}
}

/// An observer that does not care.
impl LoadObserver for () {}

/// What start-up found.
pub struct Loaded {
    pub namespace: Namespace,
    /// The last transaction of the log.
    pub last_txid: TxId,
    /// The image it began with.
    pub image_txid: TxId,
    /// When that image's file was written, milliseconds since 1970.
    pub image_time_ms: i64,
    pub edits_replayed: u64,
    /// Whether saving an image now makes the next start faster or the directories whole.
    pub needs_checkpoint: bool,
}

impl Storage {
    /// Loads the namespace and leaves only finalised segments: a log can be started behind `last_txid`.
    ///
    /// # Errors
    /// `NoImage`, `Damaged`, `Gap`, `Replay`, `Version`: then nothing was changed. Or the disk's.
    pub fn load(&self, config: NamespaceConfig, observer: &mut dyn LoadObserver) -> Result<Loaded, JournalError> {
        let mut files = Vec::new();
        for dir in self.live_dirs() {
            files.extend(self.files(dir)?.into_iter().map(|name| (dir.to_path_buf(), name)));
        }
        let seen_txid = self.seen_txid()?;
        let (image, image_time_ms, image_dirs) = self.load_newest_image(&files, config, observer)?;

        let mut replay = Replay {
            storage: self,
            namespace: image.namespace,
            next: TxId(image.txid.0 + 1),
            ends: BTreeMap::new(),
            damages: Vec::new(),
            passed_over: false,
        };
        replay.run(&files, seen_txid, observer)?;
        let last_txid = TxId(replay.next.0 - 1);
        for (damage, _) in &replay.damages {
            observer.notice(&format!("damage that costs nothing, its transactions are elsewhere: {damage}"));
        }
        if replay.passed_over {
            // Whoever starts next must not come to it again.
            self.save_namespace(&replay.namespace.freeze(), last_txid)?;
        }
        self.repair(&files, &replay.ends, observer)?;

        let edits_replayed = last_txid.0 - image.txid.0;
        let needs_checkpoint = edits_replayed > 0 || image_dirs < self.live_dirs().count() || self.has_new_directory();
        Ok(Loaded {
            namespace: replay.namespace,
            last_txid,
            image_txid: image.txid,
            image_time_ms,
            edits_replayed,
            needs_checkpoint,
        })
    }

    /// The newest image that reads, when it was written, and how many directories hold it.
    fn load_newest_image(
        &self,
        files: &[(PathBuf, FileName)],
        config: NamespaceConfig,
        observer: &mut dyn LoadObserver,
    ) -> Result<(LoadedImage, i64, usize), JournalError> {
        let mut images: BTreeMap<TxId, Vec<&Path>> = BTreeMap::new();
        for (dir, name) in files {
            if let FileName::Image(txid) = name {
                images.entry(*txid).or_default().push(dir);
            }
        }
        let mut errors = Vec::new();
        for (txid, dirs) in images.iter().rev() {
            for dir in dirs {
                let path = FileName::Image(*txid).path(dir);
                let (bytes, time_ms) = self.disk.metadata(&path).map_or((0, 0), |m| (m.len, m.modified_ms as i64));
                observer.loading_image(&path, bytes);
                match self.load_image(dir, *txid, config.clone()) {
                    Ok(image) => {
                        observer.loaded_image(&image.namespace);
                        return Ok((image, time_ms, dirs.len()));
                    }
                    Err(error) => {
                        observer.notice(&format!("an fsimage is passed over: {error}"));
                        errors.push(error);
                    }
                }
            }
        }
        Err(JournalError::NoImage(errors))
    }

    fn load_image(&self, dir: &Path, txid: TxId, config: NamespaceConfig) -> Result<LoadedImage, JournalError> {
        /// The line of an MD5 file: 32 hexadecimal digits, blank, asterisk, name.
        const MD5_FILE_BYTES_MAX: u64 = 4096;
        let path = FileName::Image(txid).path(dir);
        let md5_path = FileName::ImageMd5(txid).path(dir);
        let text = self.disk.read(&md5_path, MD5_FILE_BYTES_MAX).map_err(JournalError::io("reading an MD5 file"))?;
        let md5 = std::str::from_utf8(&text).ok().and_then(parse_md5).ok_or_else(|| JournalError::Image {
            file: md5_path.clone(),
            section: "MD5".to_owned(),
            offset: 0,
            problem: "it holds no MD5".to_owned(),
        })?;
        let image = load_image(&*self.disk, &path, md5, &self.info, config)?;
        if image.txid != txid {
            let problem = format!("the image was saved at transaction {}", image.txid);
            return Err(JournalError::Image { file: path, section: "NS_INFO".to_owned(), offset: 8, problem });
        }
        Ok(image)
    }

    /// Cuts torn tails and finalises every segment.
    fn repair(
        &self,
        files: &[(PathBuf, FileName)],
        ends: &BTreeMap<PathBuf, Outcome>,
        observer: &mut dyn LoadObserver,
    ) -> Result<(), JournalError> {
        let failed = || JournalError::io("finalising an edit segment of a former run");
        for (dir, name) in files {
            let path = name.path(dir);
            match (name, ends.get(&path)) {
                (FileName::InProgress(first), Some(Outcome::Read { end, next, mended })) => {
                    if *next == *first {
                        self.disk.remove_file(&path).map_err(failed())?;
                        continue;
                    }
                    let file = self.disk.open(&path, OpenMode::ReadWrite).map_err(failed())?;
                    file.set_len(end.offset()).map_err(failed())?;
                    for (offset, byte) in mended {
                        file.write_all_at(&[*byte], *offset).map_err(failed())?;
                        file.sync_data(SyncPoint("journal.mend")).map_err(failed())?;
                        observer.notice(&format!("{}: byte {offset} was missing and is mended", path.display()));
                    }
                    if let SegmentEnd::Torn { offset, error, last_lost } = end {
                        // Durable before the segment's final name can be: a finalised segment has no torn tail.
                        file.sync_data(SyncPoint("journal.cut")).map_err(failed())?;
                        let lost = match last_lost {
                            Some(last) if last > next => format!("transactions {next} to {last} were"),
                            _ => format!("transaction {next} was"),
                        };
                        observer.notice(&format!(
                            "{}: cut off at offset {offset} ({error}); {lost} being written when the machine stopped, \
                             and never acknowledged",
                            path.display()
                        ));
                    }
                    let last = TxId(next.0 - 1);
                    let to = FileName::Finalized { first: *first, last }.path(dir);
                    self.disk.rename(&path, &to).map_err(failed())?;
                }
                (FileName::InProgress(_), Some(Outcome::Damaged)) => {
                    let mut aside = path.clone().into_os_string();
                    aside.push(".corrupt");
                    observer.notice(&format!("{} is kept as {}", path.display(), Path::new(&aside).display()));
                    self.disk.rename(&path, Path::new(&aside)).map_err(failed())?;
                }
                (FileName::ImageCheckpoint(_) | FileName::ImageReceived(_), _) => match self.disk.remove_file(&path) {
                    // An image that was saved meanwhile took the name.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    removed => removed.map_err(failed())?,
                },
                _ => {}
            }
        }
        Ok(())
    }
}

/// The 32 hexadecimal digits with which a text begins.
pub fn parse_md5(text: &str) -> Option<[u8; 16]> {
    let digits = text.get(..32).filter(|digits| digits.is_ascii())?;
    let mut md5 = [0; 16];
    for (byte, pair) in md5.iter_mut().zip(digits.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(md5)
}

/// What reading a segment came to.
enum Outcome {
    Read { end: SegmentEnd, next: TxId, mended: Vec<(u64, u8)> },
    Damaged,
}

/// First and last transaction, as the name says them, and path.
type Segment = (TxId, Option<TxId>, PathBuf);

struct Replay<'a> {
    storage: &'a Storage,
    namespace: Namespace,
    /// The transaction to apply next.
    next: TxId,
    ends: BTreeMap<PathBuf, Outcome>,
    /// Damage that another directory's copy may make good.
    damages: Vec<(JournalError, Segment)>,
    /// The observer let something pass.
    passed_over: bool,
}

impl Replay<'_> {
    /// Applies all there is; `seen` must be among it.
    fn run(
        &mut self,
        files: &[(PathBuf, FileName)],
        seen: TxId,
        observer: &mut dyn LoadObserver,
    ) -> Result<(), JournalError> {
        let mut unread: Vec<Segment> = files
            .iter()
            .filter_map(|(dir, name)| match name {
                FileName::Finalized { first, last } => Some((*first, Some(*last), name.path(dir))),
                FileName::InProgress(first) => Some((*first, None, name.path(dir))),
                _ => None,
            })
            .collect();
        unread.sort();
        loop {
            let next = self.next;
            let covers = |(first, last, _): &Segment| *first <= next && last.is_none_or(|last| last >= next);
            let is_next = |(error, _): &(JournalError, Segment)| error.cut().is_some_and(|cut| cut.txid >= next);
            if let Some(at) = unread.iter().position(covers) {
                let segment = unread.remove(at);
                if let Err(error) = self.read(&segment, false, observer) {
                    if !matches!(error, JournalError::Damaged(_)) {
                        return Err(error);
                    }
                    self.ends.insert(segment.2.clone(), Outcome::Damaged);
                    self.damages.push((error, segment));
                }
            } else if let Some(at) = self.damages.iter().position(is_next) {
                let (error, segment) = self.damages.remove(at);
                self.pass_over(error, observer)?;
                self.read(&segment, true, observer)?;
            } else {
                let later = unread.iter().map(|(first, ..)| *first).filter(|first| *first > next).min();
                let missing_until = later.map(|later| later.0 - 1).or((next <= seen).then_some(seen.0));
                let Some(last) = missing_until.map(TxId) else { return Ok(()) };
                self.pass_over(JournalError::Gap { first: next, last }, observer)?;
                self.next = TxId(last.0 + 1);
            }
        }
    }

    fn pass_over(&mut self, error: JournalError, observer: &mut dyn LoadObserver) -> Result<(), JournalError> {
        match observer.passes_over(&error) {
            true => {
                self.passed_over = true;
                Ok(())
            }
            false => Err(error),
        }
    }

    /// Applies what a segment adds. `past_damage`: the observer is asked about damage in it.
    fn read(
        &mut self,
        (first, last, path): &Segment,
        past_damage: bool,
        observer: &mut dyn LoadObserver,
    ) -> Result<(), JournalError> {
        let (disk, layout, mut is_damaged) = (&*self.storage.disk, self.storage.info.layout_version, false);
        observer.loading_edits(path);
        let mut reader = match SegmentReader::open(disk, path, *first, layout) {
            Err(error @ JournalError::Damaged(_)) if past_damage => {
                self.pass_over(error, observer)?;
                is_damaged = true;
                SegmentReader::open_past_header(disk, path, *first, layout)?
            }
            opened => opened?,
        };
        if last.is_some() {
            reader = reader.finalized();
        }
        loop {
            let (offset, txid, op) = match reader.next_op() {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(error @ JournalError::Damaged(_)) if past_damage => {
                    self.pass_over(error, observer)?;
                    is_damaged = true;
                    reader.resync()?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if last.is_some_and(|last| txid > last) {
                let error = JournalError::damaged(path, offset, txid, DamageKind::RunsOver);
                if !past_damage {
                    return Err(error);
                }
                self.pass_over(error, observer)?;
                break;
            }
            if txid < self.next {
                continue;
            }
            match self.namespace.apply(&op, txid) {
                Ok(_) => observer.replayed(&op, txid, &self.namespace),
                Err(problem) => {
                    let (file, problem) = (path.to_path_buf(), problem.to_string());
                    self.pass_over(JournalError::Replay { file, offset, txid, problem }, observer)?;
                }
            }
            self.next = TxId(txid.0 + 1);
        }
        let (end, next) = (reader.end().cloned(), reader.next_txid());
        let end = end.unwrap_or(SegmentEnd::Clean { offset: 0 });
        if let Some(last) = last.filter(|last| next <= *last) {
            let error = JournalError::damaged(path, end.offset(), next, DamageKind::EndsEarly);
            if !past_damage {
                return Err(error);
            }
            self.pass_over(error, observer)?;
            self.next = self.next.max(TxId(last.0 + 1));
        }
        let mended = reader.mended().to_vec();
        let outcome = if is_damaged { Outcome::Damaged } else { Outcome::Read { end, next, mended } };
        self.ends.insert(path.clone(), outcome);
        Ok(())
    }
}
