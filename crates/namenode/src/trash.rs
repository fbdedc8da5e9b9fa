//! The trash emptier: from time to time what lies in everybody's trash becomes a checkpoint, named after the time, and
//! checkpoints that are old enough are deleted. Source: `TrashPolicyDefault.java`, Hadoop 3.5.0.

use crate::clock::local_parts;
use crate::core::Core;
use crate::safe_mode::What;
use surus_namespace::edit_op::RenameOptions;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::rename::Rename2;
use surus_namespace::{Env, Operation};
use surus_types::date::days_from_civil;
use surus_types::{ExceptionClass, FileType, FsPermission, HdfsError, InodeId, RpcIds};

/// What users' own commands move things into.
const CURRENT: &str = "Current";
/// Everybody moves things in, and only owners take them out. Source: `FSNamesystem.SHARED_TRASH_PERMISSION`, Hadoop 3.5.0.
const SHARED_TRASH_MODE: FsPermission = FsPermission(0o1777);
/// Names that are tried for one checkpoint.
const ATTEMPTS_MAX: u32 = 1000;
/// Entries of a page of a listing.
const PAGE: u32 = 1000;

/// When the emptier works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrashTimes {
    /// `fs.trash.interval`: a checkpoint older than this is deleted; 0: there is no emptier.
    pub interval_ms: i64,
    /// `fs.trash.checkpoint.interval`, or the above where that is 0 or longer.
    pub checkpoint_ms: i64,
}

impl TrashTimes {
    pub fn new(interval_ms: i64, checkpoint_ms: i64) -> Self {
        let usual = checkpoint_ms <= 0 || checkpoint_ms > interval_ms;
        TrashTimes { interval_ms, checkpoint_ms: if usual { interval_ms } else { checkpoint_ms } }
    }

    /// The next time to work: a multiple of the interval after `now_ms`. `None`: never.
    pub fn next(&self, now_ms: i64) -> Option<i64> {
        (self.interval_ms > 0).then(|| now_ms - now_ms.rem_euclid(self.checkpoint_ms) + self.checkpoint_ms)
    }

    /// Whether it is time to work: `then` is what `next` said, and becomes the time after this one. A wall clock that was
    /// set back puts the work off by no more than the interval.
    pub fn is_due(&self, then: &mut Option<i64>, now_ms: i64) -> bool {
        let (is_due, next) = (then.is_some_and(|then| now_ms >= then), self.next(now_ms));
        if is_due || next < *then {
            *then = next;
        }
        is_due
    }
}

impl Core {
    /// With `dfs.namenode.snapshot.trashroot.enabled`: each snapshottable directory gets the trash that it lacks. For the end of
    /// safe mode; directories that become snapshottable later get theirs from the client that asks for it.
    /// Source: `FSNamesystem.checkAndProvisionSnapshotTrashRoots`, Hadoop 3.5.0.
    pub fn provision_snapshot_trash(&self) {
        let missing: Vec<String> = {
            let namespace = self.namespace.read();
            if !namespace.config.snapshots.trash_roots || namespace.blocks.safe_mode.is_on() {
                return;
            }
            let roots = namespace.snapshottable_paths();
            let trashes = roots.iter().map(|root| format!("{}/.Trash", root.trim_end_matches('/')));
            trashes.filter(|trash| namespace.tree.lookup(trash).is_none()).collect()
        };
        for src in missing {
            tracing::info!("a snapshottable directory has no trash: making {src}");
            let (permission, unmasked) = (SHARED_TRASH_MODE, Some(SHARED_TRASH_MODE));
            if let Err(error) = self.change(&Mkdirs { src: &src, permission, unmasked, create_parent: false }) {
                tracing::error!("could not make {src}: {error}");
            }
        }
    }

    /// Goes through all trash directories once: of homes, of encryption zones, and of snapshottable directories.
    pub fn empty_trash(&self) {
        if self.namespace.read().blocks.safe_mode.is_on() {
            tracing::info!("the trash is left alone while safe mode is on");
            return;
        }
        let now_ms = self.clock.now_ms();
        let prefix = self.namespace.read().config.home_prefix.clone();
        let homes = self.children_of(&prefix).into_iter().map(|user| format!("{prefix}/{user}/.Trash"));
        let zones = self.namespace.read().encryption_zones(InodeId(0), usize::MAX).0;
        let in_zones = zones.iter().flat_map(|zone| {
            let trash = format!("{}/.Trash", zone.path.trim_end_matches('/'));
            self.children_of(&trash).into_iter().map(move |user| format!("{trash}/{user}"))
        });
        let snapshots = match self.namespace.read().config.snapshots.trash_roots {
            true => self.namespace.read().snapshottable_paths(),
            false => Vec::new(),
        };
        let in_snapshots = snapshots.iter().flat_map(|root| {
            let trash = format!("{}/.Trash", root.trim_end_matches('/'));
            self.children_of(&trash).into_iter().map(move |user| format!("{trash}/{user}"))
        });
        for root in homes.chain(in_zones).chain(in_snapshots) {
            if let Err(error) = self.empty_one(&root, now_ms) {
                tracing::warn!("emptying {root}: {error}");
            }
        }
    }

    fn empty_one(&self, root: &str, now_ms: i64) -> Result<(), HdfsError> {
        let directories = self.children_of(root);
        for name in directories.iter().filter(|name| *name != CURRENT) {
            match checkpoint_ms(name, now_ms) {
                Some(then_ms) if now_ms - self.config.trash.interval_ms > then_ms => {
                    let src = format!("{root}/{name}");
                    self.change_trash(&src, &Delete { src: &src, recursive: true })?;
                    tracing::info!("deleted trash checkpoint {src}");
                }
                Some(_) => {}
                None => tracing::warn!("Unexpected item in trash: {root}/{name}. Ignoring."),
            }
        }
        if !directories.iter().any(|name| name == CURRENT) {
            return Ok(());
        }
        let (src, base) = (format!("{root}/{CURRENT}"), format!("{root}/{}", checkpoint_name(now_ms)));
        for attempt in 0..=ATTEMPTS_MAX {
            let dst = if attempt == 0 { base.clone() } else { format!("{base}-{attempt}") };
            let rename = Rename2 { src: &src, dst: &dst, options: RenameOptions::default() };
            match self.change_trash(&src, &rename) {
                Ok(()) => {
                    tracing::info!("created trash checkpoint {dst}");
                    return Ok(());
                }
                Err(error) if error.class == ExceptionClass::FileAlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(HdfsError::io(format!("Failed to checkpoint trash: {base}")))
    }

    /// Safe mode may have begun meanwhile.
    fn change_trash<O: Operation>(&self, src: &str, operation: &O) -> Result<O::Reply, HdfsError> {
        self.check_safe_mode(&self.namespace.read(), What("Cannot empty the trash ", src))?;
        self.change(operation)
    }

    /// Names of the directories in a directory, page by page; none where there is no such directory.
    fn children_of(&self, path: &str) -> Vec<String> {
        let (mut names, mut after): (Vec<String>, Vec<u8>) = (Vec::new(), Vec::new());
        loop {
            let env = Env {
                now_ms: self.clock.now_ms(),
                monotonic_ms: self.clock.monotonic_ms(),
                caller: &self.own_caller,
                rpc: &RpcIds::NONE,
                random: 0,
            };
            let start = after.clone();
            let end = self.namespace.read().get_listing(&env, path, &start, false, PAGE, |entry| {
                after = entry.status.name.to_vec();
                if entry.status.file_type == FileType::Directory && !entry.status.name.is_empty() {
                    names.push(String::from_utf8_lossy(entry.status.name).into_owned());
                }
                true
            });
            match end {
                Ok(Some(end)) if end.remaining > 0 && after != start => {}
                _ => return names,
            }
        }
    }
}

/// `yyMMddHHmmss` in local time.
fn checkpoint_name(ms: i64) -> String {
    let [year, month, day, hour, minute, second] = local_parts(ms);
    format!("{:02}{month:02}{day:02}{hour:02}{minute:02}{second:02}", year % 100)
}

/// The time a checkpoint is named after; names of old versions lack the seconds. Found by asking for the name of times
/// around: the way back from local time is not unique.
fn checkpoint_ms(name: &str, now_ms: i64) -> Option<i64> {
    let digits = name.split('-').next().unwrap_or(name);
    if !matches!(digits.len(), 10 | 12) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |i: usize| digits.get(2 * i..2 * i + 2).map_or(Some(0), |two| two.parse::<i64>().ok());
    let (year, month, day) = (2000 + part(0)?, part(1)?, part(2)?);
    let (hour, minute, second) = (part(3)?, part(4)?, part(5)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let as_utc = (days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second) * 1000;
    // How far local time is from UTC then: tried with that of now, which summer time can move.
    let offset = |ms: i64| {
        let [year, month, day, hour, minute, second] = local_parts(ms).map(i64::from);
        (days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second) * 1000
            - ms.div_euclid(1000) * 1000
    };
    let guess = as_utc - offset(now_ms);
    Some(as_utc - offset(guess))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_set_back_puts_nothing_off() {
        let times = TrashTimes::new(3_600_000, 600_000);
        let year = 365 * 86_400_000;
        let start = 1_764_500_000_000;
        let mut then = times.next(start);
        assert!(!times.is_due(&mut then, start + 1));
        assert!(!times.is_due(&mut then, start - year));
        assert!(times.is_due(&mut then, start - year + 600_000));
        assert!(!times.is_due(&mut then, start - year + 600_001));
        // Forwards it works once.
        assert!(times.is_due(&mut then, start));
        assert!(!times.is_due(&mut then, start + 1));
        let never = TrashTimes::new(0, 0);
        assert!(!never.is_due(&mut never.next(start), start + year));
    }

    #[test]
    fn names_there_and_back() {
        for ms in [1_764_500_000_000, 1_780_000_001_000, 951_782_400_000] {
            assert_eq!(checkpoint_ms(&checkpoint_name(ms), ms), Some(ms));
            assert_eq!(checkpoint_ms(&format!("{}-7", checkpoint_name(ms)), ms + 86_400_000), Some(ms));
        }
        assert_eq!(checkpoint_ms("Current", 0), None);
        assert_eq!(checkpoint_ms("269999999999", 0), None);
    }

    #[test]
    fn times() {
        assert_eq!(TrashTimes::new(0, 60_000).next(5), None);
        assert_eq!(TrashTimes::new(120_000, 0).next(130_000), Some(240_000));
        assert_eq!(TrashTimes::new(120_000, 60_000).next(130_000), Some(180_000));
        assert_eq!(TrashTimes::new(120_000, 180_000).next(0), Some(120_000));
    }
}
