//! Full and read-only disks under the real process: small tmpfs mounts. Where mounting is not allowed (it wants root) the tests say so
//! and check nothing.

use crate::server::{Server, start_command};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use surus_client::{ClientError, CreateOptions, DfsClient};
use surus_types::FsPermission;

/// How long a process may take to notice that it must end.
const EXIT_MAX: Duration = Duration::from_secs(20);

/// A tmpfs, unmounted when dropped.
struct Mount(PathBuf);

impl Mount {
    /// `None`, with the reason printed: mounting is not allowed here.
    fn new(at: PathBuf, size: &str) -> Option<Mount> {
        std::fs::create_dir_all(&at).unwrap();
        let out = Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(&at).output();
        match out {
            Ok(out) if out.status.success() => Some(Mount(at)),
            Ok(out) => {
                println!("NOT RUN, mounting is not allowed here: {}", String::from_utf8_lossy(&out.stderr).trim());
                None
            }
            Err(error) => {
                println!("NOT RUN, there is no mount: {error}");
                None
            }
        }
    }

    fn remount(&self, options: &str) {
        let status = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status().unwrap();
        assert!(status.success(), "remount,{options}");
    }

    /// Takes all the room that is left.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = File::create(&path).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
        path
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Starts on `dir` with block data in `data`; the NameNode takes every byte of its disk.
fn command(dir: &Path, data: &Path) -> Command {
    let mut command = start_command(dir);
    command.args(["-D", &format!("dfs.datanode.data.dir=file://{}", data.display())]);
    command.args(["-D", "dfs.namenode.resource.du.reserved=0", "-D", "dfs.namenode.fs-limits.min-block-size=0"]);
    command
}

/// Starts and must end by itself; exit code and what it wrote to stderr.
fn refused(dir: &Path, data: &Path) -> (i32, String) {
    let mut child = command(dir, data).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + EXIT_MAX;
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code().unwrap(),
            None if Instant::now() > deadline => {
                child.kill().unwrap();
                panic!("it still runs");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    (code, text)
}

fn put(client: &DfsClient, path: &str, content: &[u8]) -> Result<(), ClientError> {
    let mut writer = client.create(path, &CreateOptions { block_size: Some(1 << 20), ..CreateOptions::default() })?;
    writer.write_all(content).map_err(|e| ClientError::from_io(&e))?;
    writer.close()
}

fn read(client: &DfsClient, path: &str) -> Vec<u8> {
    let mut content = Vec::new();
    client.open(path).unwrap().copy_to(&mut content).unwrap();
    content
}

#[test]
fn a_full_name_directory_stops_the_namenode_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::new(dir.path().join("fs"), "8m") else { return };
    let mut server = Server::start_with(command(&mount.0, data.path()));
    server.wait_for_safe_mode();
    let client = server.client();
    client.mkdirs("/before", FsPermission(0o755), false).unwrap();
    let filler = mount.fill();
    let name = "x".repeat(250);
    let mut acknowledged = Vec::new();
    for i in 0.. {
        assert!(i < 50_000, "the disk is full, and still everything is acknowledged");
        let path = format!("/{name}{i}");
        match client.mkdirs(&path, FsPermission(0o755), false) {
            Ok(done) => assert!(done),
            Err(_) => break,
        }
        acknowledged.push(path);
    }
    assert!(!acknowledged.is_empty(), "what was preallocated can still be written");
    let (code, errors) = server.wait_for_end(EXIT_MAX);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("No space left on device") && errors.contains(mount.0.to_str().unwrap()), "{errors}");

    // Still full: a start has to say so and change nothing.
    let (code, errors) = refused(&mount.0, data.path());
    assert_ne!(code, 0, "{errors}");
    assert!(errors.contains("No space left on device"), "{errors}");
    std::fs::remove_file(filler).unwrap();
    let server = Server::start_with(command(&mount.0, data.path()));
    server.wait_for_safe_mode();
    let found = server.client().list_status("/").unwrap();
    let missing =
        acknowledged.iter().filter(|path| !found.iter().any(|f| Some(f.name()) == path.strip_prefix("/"))).count();
    assert_eq!(missing, 0, "of {} acknowledged", acknowledged.len());
    assert!(found.iter().any(|f| f.name() == "before"));
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn a_full_data_directory_is_an_error_to_the_client() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::new(dir.path().join("data"), "8m") else { return };
    let server = Server::start_with(command(&dir.path().join("fs"), &mount.0.join("dn")));
    server.wait_for_safe_mode();
    let client = server.client();
    let content: Vec<u8> = (0..2_500_000u32).map(|i| (i * 31 % 251) as u8).collect();
    put(&client, "/first", &content).unwrap_or_else(|error| panic!("{error}\n{}", server.log()));
    let filler = mount.fill();
    // The NameNode may still believe in the room of the last heartbeat, or know better.
    let error = put(&client, "/second", &content).unwrap_err().to_string();
    let known = ["Unable to create new block", "could only be written to 0"];
    assert!(known.iter().any(|text| error.contains(text)), "{error}");
    // The DataNode tells the client first and its log then.
    let deadline = Instant::now() + EXIT_MAX;
    while error.contains(known[0]) && !server.log().contains("No space left on device") {
        assert!(Instant::now() < deadline, "{}", server.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(read(&client, "/first") == content);
    client.mkdirs("/names/go/on", FsPermission(0o755), true).unwrap();
    std::fs::remove_file(filler).unwrap();
    client.delete("/second", false).unwrap();
    // The next heartbeat tells of the room.
    let deadline = Instant::now() + EXIT_MAX;
    while let Err(error) = put(&client, "/third", &content) {
        assert!(Instant::now() < deadline, "{error}");
        client.delete("/third", false).unwrap();
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(read(&client, "/third") == content && read(&client, "/first") == content);
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn read_only_directories_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let Some(name) = Mount::new(dir.path().join("fs"), "16m") else { return };
    let Some(data) = Mount::new(dir.path().join("data"), "16m") else { return };
    let dn = data.0.join("dn");
    let server = Server::start_with(command(&name.0, &dn));
    server.wait_for_safe_mode();
    put(&server.client(), "/f", b"content").unwrap();
    assert_eq!(server.terminate(), Some(0));
    for (mount, path) in [(&name, &name.0), (&data, &dn)] {
        mount.remount("ro");
        let (code, errors) = refused(&name.0, &dn);
        assert_ne!(code, 0, "{errors}");
        assert!(errors.contains("Read-only file system"), "{errors}");
        assert!(errors.contains(path.to_str().unwrap()), "{}: {errors}", path.display());
        mount.remount("rw");
    }
    let server = Server::start_with(command(&name.0, &dn));
    server.wait_for_safe_mode();
    assert_eq!(read(&server.client(), "/f"), b"content");
    assert_eq!(server.terminate(), Some(0));
}
