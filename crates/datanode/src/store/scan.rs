//! Reading a volume's replicas at start: finalized ones as they are, unfinished ones as RWR at their verified length,
//! and the few in whose middle a rename was cut off.

use super::meta;
use super::pool::BlockPool;
use super::replica::{Kind, OpenReplica, Replica};
use super::rolling::take_restart_note;
use super::volume::{PoolDirs, Volume, block_name, meta_name};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use surus_disk::OpenMode;
use surus_types::{Block, BlockId, GenerationStamp};

/// Generation stamp of a replica without a meta file. Source: `HdfsConstants.GRANDFATHER_GENERATION_STAMP`, Hadoop 3.5.0.
const NO_GENERATION_STAMP: GenerationStamp = GenerationStamp(0);

/// What lies in one directory.
#[derive(Default)]
struct Found {
    /// Block files: directory and length.
    data: HashMap<BlockId, (PathBuf, u64)>,
    /// Meta files: directory, stamp and length. The highest stamp wins where there are several.
    metas: HashMap<BlockId, (PathBuf, GenerationStamp, u64)>,
}

/// `blk_1` or `blk_1_1001.meta`; `None` for any other name.
pub(super) fn parse_name(name: &str) -> Option<(BlockId, Option<GenerationStamp>)> {
    let rest = name.strip_prefix("blk_")?;
    match rest.strip_suffix(".meta") {
        None => Some((BlockId(rest.parse().ok()?), None)),
        Some(rest) => {
            let (id, stamp) = rest.rsplit_once('_')?;
            Some((BlockId(id.parse().ok()?), Some(GenerationStamp(stamp.parse().ok()?))))
        }
    }
}

impl Found {
    fn stamp(&self, id: &BlockId) -> GenerationStamp {
        self.metas.get(id).map_or(NO_GENERATION_STAMP, |(_, stamp, _)| *stamp)
    }

    fn read(&mut self, volume: &Volume, dir: &Path) -> io::Result<()> {
        for entry in volume.disk.list(dir)? {
            let path = dir.join(&entry.name);
            if entry.is_dir {
                if entry.name.starts_with("subdir") {
                    self.read(volume, &path)?;
                }
                continue;
            }
            let length = volume.disk.metadata(&path)?.len;
            match parse_name(&entry.name) {
                None => {}
                Some((id, None)) => {
                    self.data.insert(id, (dir.to_owned(), length));
                }
                Some((id, Some(stamp))) => {
                    let present = self.metas.entry(id).or_insert_with(|| (dir.to_owned(), stamp, length));
                    if present.1 < stamp {
                        *present = (dir.to_owned(), stamp, length);
                    }
                }
            }
        }
        Ok(())
    }
}

impl BlockPool {
    /// Adds the replicas of one volume to the map.
    ///
    /// # Errors
    /// The volume's directories cannot be read: the volume has failed.
    pub(crate) fn scan(&self, volume: &Arc<Volume>) -> io::Result<()> {
        let (_, dirs) = self.volume(volume.index)?;
        let mut finalized = Found::default();
        finalized.read(volume, &dirs.finalized)?;
        let mut rbw = Found::default();
        rbw.read(volume, &dirs.rbw)?;
        self.mend(volume, dirs, &mut finalized, &mut rbw)?;
        let mut used = 0;
        for (id, (_, length)) in &finalized.data {
            let (stamp, meta_length) =
                finalized.metas.get(id).map_or((NO_GENERATION_STAMP, 0), |(_, stamp, length)| (*stamp, *length));
            used += length + meta_length;
            let replica =
                Replica { generation_stamp: stamp, num_bytes: *length, volume: volume.index, kind: Kind::Finalized };
            self.add_scanned(*id, replica);
        }
        for id in rbw.data.keys().filter(|id| !finalized.data.contains_key(id) || finalized.stamp(id) < rbw.stamp(id)) {
            let Some((_, stamp, meta_length)) = rbw.metas.get(id) else {
                tracing::warn!("{}: blk_{id} in rbw has no meta file: not served", volume.root.display());
                continue;
            };
            let (length, last_checksum) = match self.verify_unfinished(volume, dirs, *id, *stamp) {
                Ok(found) => found,
                // One bad file is no bad disk. The NameNode does not hear of the replica, and nothing of it is changed.
                Err(e) => {
                    tracing::error!(
                        "{}: blk_{id}_{stamp} in rbw cannot be read: not served: {e}",
                        volume.root.display()
                    );
                    continue;
                }
            };
            used += length + meta_length;
            let kind = match take_restart_note(volume, dirs, *id, super::now_ms()) {
                true => Kind::Rbw(OpenReplica::with_length(length, last_checksum)),
                false => Kind::Rwr,
            };
            self.add_scanned(*id, Replica { generation_stamp: *stamp, num_bytes: length, volume: volume.index, kind });
        }
        volume.add_used(used);
        volume.num_blocks.fetch_add((finalized.data.len() + rbw.data.len()) as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Ends renames that a crash cut off between the meta file (which goes first) and the block file.
    fn mend(&self, volume: &Volume, dirs: &PoolDirs, finalized: &mut Found, rbw: &mut Found) -> io::Result<()> {
        let cut_finalize: Vec<_> = rbw
            .data
            .keys()
            .filter(|id| !rbw.metas.contains_key(id) && finalized.metas.contains_key(id))
            .copied()
            .collect();
        for id in cut_finalize {
            if finalized.data.contains_key(&id) {
                continue;
            }
            if let (Some((from, length)), Some((to, ..))) = (rbw.data.remove(&id), finalized.metas.get(&id).cloned()) {
                volume.disk.rename(&from.join(block_name(id)), &to.join(block_name(id)))?;
                finalized.data.insert(id, (to, length));
            }
        }
        let cut_append: Vec<_> = finalized
            .data
            .keys()
            .filter(|id| !finalized.metas.contains_key(id) && rbw.metas.contains_key(id))
            .copied()
            .collect();
        for id in cut_append {
            if rbw.data.contains_key(&id) {
                continue;
            }
            if let Some((from, length)) = finalized.data.remove(&id) {
                volume.disk.rename(&from.join(block_name(id)), &dirs.rbw.join(block_name(id)))?;
                rbw.data.insert(id, (dirs.rbw.clone(), length));
            }
        }
        Ok(())
    }

    /// Checks an unfinished replica against its checksums and cuts off what they do not cover. Its length then, and the
    /// checksum of its last chunk where that is partial.
    fn verify_unfinished(
        &self,
        volume: &Volume,
        dirs: &PoolDirs,
        id: BlockId,
        stamp: GenerationStamp,
    ) -> io::Result<(u64, Option<[u8; 4]>)> {
        let block = Block { id, generation_stamp: stamp, num_bytes: 0 };
        let data = volume.disk.open(&dirs.rbw.join(block_name(id)), OpenMode::ReadWrite)?;
        let meta = volume.disk.open(&dirs.rbw.join(meta_name(&block)), OpenMode::ReadWrite)?;
        let checksum = match meta::read_header(&*meta) {
            Ok(checksum) => checksum,
            // A process that was killed may not have written it; whatever bytes there are stay as they are.
            Err(e) if e.kind() == io::ErrorKind::InvalidData => {
                tracing::warn!("{}: {block} in rbw: {e}", volume.root.display());
                return Ok((0, None));
            }
            Err(e) => return Err(e),
        };
        let (length, last_checksum) = meta::verified_length(&*data, &*meta)?;
        let on_disk = data.len()?;
        if length < on_disk {
            tracing::info!("{block}: {on_disk} bytes on disk, {length} of them match their checksums");
            data.set_len(length)?;
        }
        // Checksums of bytes that are gone would be counted into the checksum of the block.
        let meta_length = meta::meta_length(checksum, length);
        if meta.len()? > meta_length {
            meta.set_len(meta_length)?;
        }
        Ok((length, last_checksum))
    }

    /// A replica that lies on two volumes: the later stamp wins, then the longer one.
    fn add_scanned(&self, id: BlockId, replica: Replica) {
        let mut map = self.map.lock();
        if let Some(present) = map.get(&id) {
            let better = (replica.generation_stamp, replica.num_bytes) > (present.generation_stamp, present.num_bytes);
            tracing::warn!("blk_{id} lies on two volumes; {} is used", if better { "the second" } else { "the first" });
            if !better {
                return;
            }
        }
        map.insert(id, replica);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_block_files() {
        assert_eq!(parse_name("blk_7"), Some((BlockId(7), None)));
        assert_eq!(parse_name("blk_-7_1001.meta"), Some((BlockId(-7), Some(GenerationStamp(1001)))));
        for other in ["blk_", "blk_x", "blk_7.meta", "blk_7_x.meta", "VERSION", "blk_7_1.meta.tmp"] {
            assert_eq!(parse_name(other), None, "{other}");
        }
    }
}
