//! A directory as a page for people.

use super::PREFIX;
use crate::url::encode_path;
use std::io::Write as _;
use surus_types::date::Utc;
use surus_types::{FileStatus, FileType};

/// The page of one directory, written entry by entry: `start`, any number of `entry`, one `end`.
pub struct DirectoryPage {
    /// Decoded, without a slash at its end.
    directory: String,
    /// Goes behind every link: `?user.name=...`, or nothing. Safe in an attribute.
    query: String,
}

impl DirectoryPage {
    /// `user`: whom the links name, as the request did.
    pub fn new(path: &str, user: Option<&str>) -> Self {
        let query = user.map(|user| format!("?user.name={}", crate::url::encode_component(user))).unwrap_or_default();
        DirectoryPage { directory: path.trim_end_matches('/').to_owned(), query }
    }

    pub fn start(&self, out: &mut Vec<u8>) {
        let shown = escape(if self.directory.is_empty() { "/" } else { &self.directory });
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{shown}</title></head><body>\n<h1>{shown}</h1>\n<table>\n\
             <tr><th>Mode</th><th>Owner</th><th>Group</th><th>Size</th><th>Modified (UTC)</th><th>Name</th></tr>\n"
        );
        if let Some((parent, _)) = self.directory.rsplit_once('/') {
            let _ = writeln!(
                out,
                "<tr><td></td><td></td><td></td><td></td><td></td><td><a href=\"{PREFIX}{}/{}\">..</a></td></tr>",
                encode_path(parent),
                self.query
            );
        }
    }

    pub fn entry(&self, out: &mut Vec<u8>, status: &FileStatus<'_>) {
        let name = String::from_utf8_lossy(status.name);
        let (slash, size) = match status.file_type {
            FileType::Directory => ("/", String::new()),
            _ => ("", status.length.to_string()),
        };
        let at = Utc::at(status.modification_time_ms);
        let _ = writeln!(
            out,
            "<tr><td>{}{}</td><td>{}</td><td>{}</td><td align=\"right\">{size}</td>\
             <td>{:04}-{:02}-{:02} {:02}:{:02}</td><td><a href=\"{PREFIX}{}/{}{slash}{}\">{}{slash}</a></td></tr>",
            if status.file_type == FileType::Directory { 'd' } else { '-' },
            status.permission,
            escape(status.owner),
            escape(status.group),
            at.year,
            at.month,
            at.day,
            at.hour,
            at.minute,
            encode_path(&self.directory),
            encode_path(&name),
            self.query,
            escape(&name)
        );
    }

    pub fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"</table>\n</body></html>\n");
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_types::{FsPermission, InodeId};

    fn page(path: &str, user: Option<&str>, names: &[(&str, FileType)]) -> String {
        let page = DirectoryPage::new(path, user);
        let mut out = Vec::new();
        page.start(&mut out);
        for (name, file_type) in names {
            let status = FileStatus {
                file_type: *file_type,
                name: name.as_bytes(),
                length: 12,
                permission: FsPermission(0o754),
                owner: "al",
                group: "<g>",
                modification_time_ms: 784_111_777_500,
                access_time_ms: 0,
                symlink: b"",
                replication: 1,
                block_size: 1,
                inode_id: InodeId(1),
                children: 0,
                storage_policy: 0,
                flags: 0,
                ec_policy: None,
                encryption: None,
            };
            page.entry(&mut out, &status);
        }
        page.end(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_are_escaped() {
        let text = page(
            "/a\"b/<c>",
            Some("al$"),
            &[
                ("d'&", FileType::Directory),
                ("<script>alert(1)</script>", FileType::File),
                ("a?b#c%2e", FileType::File),
            ],
        );
        let want = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>/a&quot;b/&lt;c&gt;</title></head><body>\n\
            <h1>/a&quot;b/&lt;c&gt;</h1>\n<table>\n\
            <tr><th>Mode</th><th>Owner</th><th>Group</th><th>Size</th><th>Modified (UTC)</th><th>Name</th></tr>\n\
            <tr><td></td><td></td><td></td><td></td><td></td><td><a href=\"/fs/a%22b/?user.name=al%24\">..</a></td></tr>\n\
            <tr><td>drwxr-xr--</td><td>al</td><td>&lt;g&gt;</td><td align=\"right\"></td><td>1994-11-06 08:49</td>\
            <td><a href=\"/fs/a%22b/%3Cc%3E/d'%26/?user.name=al%24\">d&#39;&amp;/</a></td></tr>\n\
            <tr><td>-rwxr-xr--</td><td>al</td><td>&lt;g&gt;</td><td align=\"right\">12</td><td>1994-11-06 08:49</td>\
            <td><a href=\"/fs/a%22b/%3Cc%3E/%3Cscript%3Ealert(1)%3C/script%3E?user.name=al%24\">&lt;script&gt;alert(1)&lt;/script&gt;</a></td></tr>\n\
            <tr><td>-rwxr-xr--</td><td>al</td><td>&lt;g&gt;</td><td align=\"right\">12</td><td>1994-11-06 08:49</td>\
            <td><a href=\"/fs/a%22b/%3Cc%3E/a%3Fb%23c%252e?user.name=al%24\">a?b#c%2e</a></td></tr>\n\
            </table>\n</body></html>\n";
        assert_eq!(text, want);
        assert!(!page("/", None, &[]).contains(">..<"));
        assert!(page("/a", None, &[]).contains("<a href=\"/fs/\">..</a>"));
    }
}
