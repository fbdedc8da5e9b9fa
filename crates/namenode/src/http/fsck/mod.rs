//! `/fsck`: checks files below a path and writes what it finds as text, as `hdfs fsck` shows it. The walk locks the
//! namespace for one page of a directory at a time.
//! Source: `FsckServlet.java`, `NamenodeFsck.java`, Hadoop 3.5.0; output compared with a real one.

mod block;
mod file;
mod summary;

use super::{answer, parameter, parameters};
use crate::audit;
use crate::core::Core;
use crate::http::java_date;
use file::FileCheck;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use summary::Summary;
use surus_namespace::ops::delete::Delete;
use surus_namespace::{DirOp, Env};
use surus_net::http::{BodySender, HttpBody, Response, StatusCode};
use surus_types::{Caller, HdfsError, RpcIds};

/// Text that is sent at once.
const PIECE_BYTES: usize = 64 << 10;
/// Pieces that wait for a slow client.
const PIECES_MAX: usize = 4;
/// A dot for so many files shows that something goes on.
const FILES_A_DOT: u64 = 100;

static NO_IDS: RpcIds = RpcIds::NONE;

/// What to show and do, by the query.
#[derive(Clone, Debug, Default)]
struct Options {
    path: String,
    move_corrupt: bool,
    delete_corrupt: bool,
    files: bool,
    open_files: bool,
    blocks: bool,
    locations: bool,
    racks: bool,
    replica_details: bool,
    upgrade_domains: bool,
    maintenance: bool,
    storage_policies: bool,
    corrupt_file_blocks: bool,
    show_progress: bool,
    cookie: String,
    block_ids: Option<String>,
}

impl Options {
    fn new(query: &str) -> Self {
        let mut options = Options { path: "/".to_owned(), cookie: "0".to_owned(), ..Options::default() };
        let text = |name: &str, or: &str| parameter(query, name).unwrap_or_else(|| or.to_owned());
        options.path = text("path", "/");
        options.cookie = text("startblockafter", "0");
        options.block_ids = parameter(query, "blockId");
        for name in parameters(query) {
            match name {
                "move" => options.move_corrupt = true,
                "delete" => options.delete_corrupt = true,
                "files" => options.files = true,
                "openforwrite" => options.open_files = true,
                "blocks" => options.blocks = true,
                "locations" => options.locations = true,
                "racks" => options.racks = true,
                "replicadetails" => options.replica_details = true,
                "upgradedomains" => options.upgrade_domains = true,
                "maintenance" => options.maintenance = true,
                "storagepolicies" => options.storage_policies = true,
                "listcorruptfileblocks" => options.corrupt_file_blocks = true,
                "showprogress" => options.show_progress = true,
                _ => {}
            }
        }
        options
    }
}

/// Answers at once; the text follows from a thread of its own.
pub async fn serve(core: &Arc<Core>, query: &str, peer: SocketAddr) -> Response<HttpBody> {
    let (sender, body) = HttpBody::stream(PIECES_MAX, None);
    let (options, core) = (Options::new(query), Arc::clone(core));
    let user: Arc<str> = parameter(query, "ugi").map_or_else(|| core.config.static_user.as_str().into(), Arc::from);
    let runtime = core.runtime.clone();
    runtime.spawn_blocking(move || {
        let groups = core.callers.groups().get_blocking(&user, core.clock.monotonic_ms());
        let caller = core.callers.caller(user, None, groups, peer.ip().to_string().into());
        let mut fsck = Fsck { core: &core, caller: &caller, options: &options, out: String::new(), sender };
        // The client may be gone.
        let _ = fsck.run();
        fsck.flush();
    });
    answer(StatusCode::OK, Some("text/plain;charset=utf-8"), body)
}

/// One check under way.
struct Fsck<'a> {
    core: &'a Core,
    caller: &'a Caller,
    options: &'a Options,
    out: String,
    sender: BodySender,
}

/// The client is gone.
struct Gone;

impl Fsck<'_> {
    fn flush(&mut self) -> bool {
        self.out.is_empty() || self.sender.send_blocking(std::mem::take(&mut self.out).into_bytes().into()).is_ok()
    }

    fn flush_if_long(&mut self) -> Result<(), Gone> {
        if self.out.len() < PIECE_BYTES || self.flush() { Ok(()) } else { Err(Gone) }
    }

    fn env(&self) -> Env<'_> {
        Env {
            now_ms: self.core.clock.now_ms(),
            monotonic_ms: self.core.clock.monotonic_ms(),
            caller: self.caller,
            rpc: &NO_IDS,
            random: 0,
        }
    }

    fn now(&self) -> String {
        java_date(self.core.clock.now_ms())
    }

    fn run(&mut self) -> Result<(), Gone> {
        let started = Instant::now();
        let options = self.options;
        let (user, address) = (self.caller.to_ugi_string(), self.caller.address.clone());
        if options.show_progress {
            self.out.push_str(
                "The fsck switch -showprogress is deprecated and no longer has any effect. Progress is now shown by default.\n",
            );
        }
        if let Some(ids) = &options.block_ids {
            let _ = writeln!(self.out, "FSCK started by {user} from /{address} at {}", self.now());
            let ids: Vec<&str> = ids.split(' ').collect();
            self.audit(&format!("blocksIds=[{}]", ids.join(", ")));
            for id in ids {
                self.check_block(id);
            }
            return Ok(());
        }
        let path = &options.path;
        let _ = writeln!(self.out, "FSCK started by {user} from /{address} for path {path} at {}", self.now());
        self.audit(path);
        match self.check_all(started) {
            Ok(result) => result,
            Err(error) => {
                let took = started.elapsed().as_millis();
                let now = self.now();
                let _ = writeln!(self.out, "FSCK ended at {now} in {took} milliseconds\n{}", error.message);
                let _ = write!(self.out, "\n\nFsck on path '{path}' FAILED");
                Ok(())
            }
        }
    }

    fn audit(&self, src: &str) {
        if audit::is_on() {
            let (src, dst, tail) = (Some(src), None, &*audit::tail_without_rpc(self.core));
            let event = audit::Event { cmd: "fsck", src, dst, has_perm: false, allowed: true, proto: "null", tail };
            audit::log(self.core, self.caller, &event);
        }
    }

    fn check_all(&mut self, started: Instant) -> Result<Result<(), Gone>, HdfsError> {
        let path = self.options.path.clone();
        let mut is_directory = None;
        self.core.namespace.read().get_file_info(&self.env(), &path, |status| {
            is_directory = status.map(|s| s.file_type == surus_types::FileType::Directory);
        })?;
        let Some(is_directory) = is_directory else {
            let _ = write!(self.out, "\n\nPath '{path}' does not exist");
            return Ok(Ok(()));
        };
        if self.options.corrupt_file_blocks {
            self.list_corrupt_file_blocks(&path)?;
            return Ok(Ok(()));
        }
        self.out.push('\n');
        let mut summary = Summary::new(self.core);
        let gone = match is_directory {
            true => self.check_directory(&path, &mut summary)?,
            false => self.check_files(std::slice::from_ref(&path), &mut summary),
        };
        if gone.is_err() {
            return Ok(Err(Gone));
        }
        summary.write(&mut self.out, self.options.storage_policies);
        let (now, took) = (self.now(), started.elapsed().as_millis());
        let _ = writeln!(self.out, "FSCK ended at {now} in {took} milliseconds");
        let _ = write!(self.out, "\n\nThe filesystem under path '{path}' is {}", summary.status());
        Ok(Ok(()))
    }

    /// Depth first, in the order of names.
    fn check_directory(&mut self, path: &str, summary: &mut Summary) -> Result<Result<(), Gone>, HdfsError> {
        if self.options.files {
            let _ = writeln!(self.out, "{path} <dir>");
        }
        summary.directories += 1;
        let mut last = Vec::new();
        loop {
            // Names, and whether each is a directory.
            let mut page: Vec<(String, bool)> = Vec::new();
            let end = {
                let namespace = self.core.namespace.read();
                let limit = namespace.config.list_limit;
                namespace.get_listing(&self.env(), path, &last, false, limit, |entry| {
                    let name = String::from_utf8_lossy(entry.status.name).into_owned();
                    page.push((name, entry.status.file_type == surus_types::FileType::Directory));
                    true
                })?
            };
            // The directory may have gone meanwhile.
            let Some(end) = end else { return Ok(Ok(())) };
            let parent = path.trim_end_matches('/');
            let mut files: Vec<String> = Vec::new();
            for (name, is_directory) in &page {
                let child = format!("{parent}/{name}");
                if !is_directory {
                    files.push(child);
                    continue;
                }
                if self.check_files(&std::mem::take(&mut files), summary).is_err() {
                    return Ok(Err(Gone));
                }
                if self.check_directory(&child, summary)?.is_err() {
                    return Ok(Err(Gone));
                }
            }
            if self.check_files(&files, summary).is_err() {
                return Ok(Err(Gone));
            }
            match page.pop() {
                Some((name, _)) if end.remaining > 0 => last = name.into_bytes(),
                _ => return Ok(Ok(())),
            }
        }
    }

    fn check_files(&mut self, paths: &[String], summary: &mut Summary) -> Result<(), Gone> {
        for path in paths {
            let corrupt = {
                let namespace = self.core.namespace.read();
                // Files that have gone, and those that this user may not reach, are passed over.
                let Ok(found) = namespace.resolve(&self.env(), path, DirOp::Read) else { continue };
                let Some(handle) = found.last.filter(|h| namespace.tree.inode(*h).is_file()) else { continue };
                let check =
                    FileCheck { namespace: &namespace, options: self.options, pool: &self.core.id.block_pool_id };
                check.run(handle, path, summary, &mut self.out)
            };
            if !self.options.files && summary.files.is_multiple_of(FILES_A_DOT) && summary.files > 0 {
                self.out.push('.');
            }
            if corrupt && self.options.delete_corrupt && !self.options.move_corrupt {
                self.delete(path);
            }
            self.flush_if_long()?;
        }
        Ok(())
    }

    fn delete(&self, path: &str) {
        let call = crate::call::Call::without_rpc(self.caller);
        let what = crate::safe_mode::What("Cannot delete ", path);
        let operation = Delete { src: path, recursive: true };
        match self.core.write(&call, what, &operation, |_, _| ()) {
            Ok(_) => tracing::info!("fsck deleted the corrupt file {path}"),
            Err(error) => tracing::error!("fsck cannot delete the corrupt file {path}: {error:?}"),
        }
    }

    /// Blocks without any good replica, and their files.
    fn list_corrupt_file_blocks(&mut self, path: &str) -> Result<(), HdfsError> {
        if !self.caller.is_superuser {
            let user = &self.caller.user;
            let text = format!(
                "Access denied for user {user}. Superuser privilege is required for operation listCorruptFileBlocks"
            );
            return Err(HdfsError::access_control(text));
        }
        let (files, cookie) = {
            let namespace = self.core.namespace.read();
            crate::rpc::client::corrupt_files(&namespace, path, &self.options.cookie)
        };
        let _ = writeln!(self.out, "Cookie:\t{cookie}");
        for (block, file) in &files {
            let _ = writeln!(self.out, "{block}\t{file}");
        }
        let count = match files.len() {
            0 if cookie == "0" => "no".to_owned(),
            0 => "no more".to_owned(),
            count => count.to_string(),
        };
        let _ = writeln!(self.out, "\n\nThe filesystem under path '{path}' has {count} CORRUPT files\n");
        Ok(())
    }
}
