//! Who runs this process, and how many files it may open.

use rustix::process::{Resource, getrlimit, getuid, setrlimit};
use std::path::Path;
use std::process::Command;
use surus_disk::{Disk, RealDisk};

/// Largest `/etc/passwd` that is read, in bytes.
const PASSWD_BYTES_MAX: u64 = 8 << 20;
/// Below this many open files a daemon says so: each block stream and each connection holds one or two.
const OPEN_FILES_WANTED: u64 = 4096;

/// The login name of this process's user: `/etc/passwd`, else what `id -un` says (LDAP and the like), else `USER`.
pub fn login_name() -> String {
    let uid = getuid().as_raw();
    passwd_name(uid).or_else(id_name).or_else(|| std::env::var("USER").ok()).unwrap_or_else(|| uid.to_string())
}

/// The user that a client acts as: `HADOOP_USER_NAME`, else the login name. Source: `UserGroupInformation.java`, Hadoop 3.5.0.
pub fn user_name() -> String {
    std::env::var("HADOOP_USER_NAME").ok().filter(|u| !u.is_empty()).unwrap_or_else(login_name)
}

fn passwd_name(uid: u32) -> Option<String> {
    let text = String::from_utf8(RealDisk.read(Path::new("/etc/passwd"), PASSWD_BYTES_MAX).ok()?).ok()?;
    let wanted = uid.to_string();
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == wanted).then(|| name.to_string())
    })
}

fn id_name() -> Option<String> {
    let output = Command::new("id").arg("-un").output().ok()?;
    let name = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !name.is_empty()).then_some(name)
}

/// Raises the limit of open files to the hard limit. A limit that stays low is worth a sentence.
pub fn raise_open_files() -> Option<String> {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum || (limit.maximum.is_none() && limit.current.is_some()) {
        let before = limit;
        limit.current = limit.maximum;
        if setrlimit(Resource::Nofile, limit.clone()).is_err() {
            limit = before;
        }
    }
    let current = limit.current?;
    (current < OPEN_FILES_WANTED).then(|| {
        format!(
            "only {current} files may be open at a time, {OPEN_FILES_WANTED} are wanted: raise the hard limit (ulimit -Hn, LimitNOFILE)"
        )
    })
}
