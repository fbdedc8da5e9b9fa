//! Where the caller's trash is. Source: `DistributedFileSystem.java` (`getTrashRoot`, `getTrashRoots`), Hadoop 3.5.0.

use crate::client::DfsClient;
use crate::error::Result;
use crate::snapshots::SnapshottableDirectoryStatus;
use surus_types::ExceptionClass;

const TRASH: &str = ".Trash";

impl DfsClient {
    /// The caller's trash for a path: in the encryption zone that its parent lies in, as nothing moves out of one; in the
    /// snapshottable directory that it lies in, where those have trashes; else at home.
    ///
    /// # Errors
    /// The NameNode does not answer.
    pub fn trash_root(&self, path: &str) -> Result<String> {
        let holds = |root: &String| path.starts_with(&format!("{}/", root.trim_end_matches('/')));
        let snapshots = self.snapshot_tops()?.into_iter().find(holds);
        let above = match path.rsplit_once('/') {
            Some((above, _)) if !above.is_empty() => above,
            _ => "/",
        };
        let zone = match self.may_have_zones()? {
            false => None,
            true => self.get_ez_for_path(above).unwrap_or_else(|error| {
                tracing::warn!("Exception in checking the encryption zone for the path {path}. {}", error.message());
                None
            }),
        };
        // Of two the inner one: both lie on the way to the path.
        let top = zone.map(|zone| zone.path).into_iter().chain(snapshots).max_by_key(String::len);
        Ok(top.map_or_else(|| self.home_trash(), |top| self.trash_below(&top)))
    }

    /// All trash directories that the caller may have, whether they are there or not. Zones are listed to superusers only.
    ///
    /// # Errors
    /// The NameNode does not answer.
    pub fn trash_roots(&self) -> Result<Vec<String>> {
        let mut roots = vec![self.home_trash()];
        if self.may_have_zones()? {
            match self.list_encryption_zones() {
                Ok(zones) => roots.extend(zones.iter().map(|zone| self.trash_below(&zone.path))),
                Err(error) => tracing::warn!("Cannot get all encrypted trash roots: {}", error.message()),
            }
        }
        roots.extend(self.snapshot_tops()?.iter().map(|top| self.trash_below(top)));
        Ok(roots)
    }

    /// The trash directories of all users, as far as the caller may list them.
    ///
    /// # Errors
    /// The NameNode does not answer.
    pub fn trash_roots_of_all(&self) -> Result<Vec<String>> {
        let homes = self.names_in(&self.config().home_prefix)?;
        let mut roots: Vec<String> =
            homes.iter().map(|user| format!("{}/{user}/{TRASH}", self.config().home_prefix)).collect();
        let mut tops = self.snapshot_tops()?;
        if self.may_have_zones()?
            && let Ok(zones) = self.list_encryption_zones()
        {
            tops.extend(zones.into_iter().map(|zone| zone.path));
        }
        for top in tops {
            let trash = format!("{}/{TRASH}", top.trim_end_matches('/'));
            roots.extend(self.names_in(&trash)?.iter().map(|user| format!("{trash}/{user}")));
        }
        Ok(roots)
    }

    /// None where the directory is missing.
    fn names_in(&self, directory: &str) -> Result<Vec<String>> {
        match self.list_status(directory) {
            Ok(entries) => Ok(entries.iter().map(|entry| entry.name().to_string()).collect()),
            Err(error) if error.is(ExceptionClass::FileNotFound) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn home_trash(&self) -> String {
        format!("{}/{TRASH}", self.home_directory())
    }

    /// The trash in an encryption zone or a snapshottable directory.
    fn trash_below(&self, top: &str) -> String {
        format!("{}/{TRASH}/{}", top.trim_end_matches('/'), self.user())
    }

    fn may_have_zones(&self) -> Result<bool> {
        Ok(!self.get_server_defaults()?.key_provider_uri.is_empty() || !self.config().key_provider_uri.is_empty())
    }

    /// The caller's snapshottable directories, where each has a trash.
    fn snapshot_tops(&self) -> Result<Vec<String>> {
        if !self.get_server_defaults()?.snapshot_trash_roots {
            return Ok(Vec::new());
        }
        let path = |directory: &SnapshottableDirectoryStatus| {
            let (above, name) = (&directory.parent_fullpath, &directory.dir_status.path);
            format!("{}/{}", String::from_utf8_lossy(above).trim_end_matches('/'), String::from_utf8_lossy(name))
        };
        Ok(self.get_snapshottable_directories()?.iter().map(path).collect())
    }
}
