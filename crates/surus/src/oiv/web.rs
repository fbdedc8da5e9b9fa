//! Read-only WebHDFS on an image: GETFILESTATUS, LISTSTATUS, GETACLSTATUS, GETXATTRS, LISTXATTRS, GETCONTENTSUMMARY. Holds the
//! inodes as the bytes they are in the image.
//! Source: `WebImageViewer.java`, `FSImageHandler.java`, `FSImageLoader.java`, Hadoop 3.5.0.

use super::Problem;
use super::strings::{Strings, XATTR_NAMESPACES};
use crate::signals::Signals;
use prost::Message;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use surus_journal::image::ImageFile;
use surus_net::http::{
    HttpBody, HttpFuture, HttpLimits, HttpServer, HttpService, Incoming, Request, Response, StatusCode,
};
use surus_net::http::{Method, header};
use surus_proto::hadoop::hdfs::fsimage::INodeSection;
use surus_proto::hadoop::hdfs::fsimage::i_node_directory_section::DirEntry;
use surus_proto::hadoop::hdfs::fsimage::i_node_reference_section::INodeReference;
use surus_proto::hadoop::hdfs::fsimage::i_node_section::{AclFeatureProto, INode, XAttrFeatureProto};
use surus_webhdfs::json;

const ROOT_ID: u64 = 16385;
const PREFIX: &str = "/webhdfs/v1";
const NOT_FOUND: &str = "java.io.FileNotFoundException";
const ILLEGAL: &str = "java.lang.IllegalArgumentException";
const NO_XATTR: &str = "org.apache.hadoop.hdfs.protocol.XAttrNotFoundException";
const IO: &str = "java.io.IOException";

/// Serves the image until a signal.
pub fn serve(image: &ImageFile, address: &str) -> Result<(), Problem> {
    let tree = Arc::new(Tree::read(image)?);
    let mut signals = Signals::catch().map_err(|e| e.to_string())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let server = HttpServer::bind(address, tree, HttpLimits::default(), runtime.handle())?;
    println!("WebImageViewer started. Listening on {}. Press Ctrl+C to stop the viewer.", server.local_addr());
    signals.wait();
    server.stop();
    Ok(())
}

/// What an image holds of files, by id.
struct Tree {
    strings: Strings,
    /// Messages of inodes, one behind the other.
    bytes: Vec<u8>,
    /// Where the message of each inode lies.
    inodes: HashMap<u64, (usize, usize)>,
    children: HashMap<u64, Vec<u64>>,
}

/// A Java exception: class and message.
type Failure = (&'static str, String);

impl Tree {
    fn read(image: &ImageFile) -> Result<Tree, Problem> {
        let strings = Strings::read(image)?;
        let (mut bytes, mut inodes) = (Vec::new(), HashMap::new());
        let mut section = image.section("INODE");
        let head: INodeSection = section.expect()?;
        for _ in 0..head.num_inodes() {
            let message = section.bytes()?.ok_or(Problem::Eof)?;
            let id = INode::decode(message).map_err(|e| e.to_string())?.id;
            inodes.insert(id, (bytes.len(), message.len()));
            bytes.extend_from_slice(message);
        }
        let mut references = Vec::new();
        let mut section = image.section("INODE_REFERENCE");
        while let Some(reference) = section.message::<INodeReference>()? {
            references.push(reference.referred_id());
        }
        let mut children = HashMap::new();
        let mut section = image.section("INODE_DIR");
        while let Some(entry) = section.message::<DirEntry>()? {
            let referred = entry.ref_children.iter().filter_map(|at| references.get(*at as usize));
            children.insert(entry.parent(), entry.children.iter().chain(referred).copied().collect());
        }
        Ok(Tree { strings, bytes, inodes, children })
    }

    fn inode(&self, id: u64) -> Result<INode, Failure> {
        let (at, len) = self.inodes.get(&id).copied().ok_or((IO, format!("inode {id} is not in the image")))?;
        INode::decode(&self.bytes[at..at + len]).map_err(|e| (IO, e.to_string()))
    }

    fn children(&self, id: u64) -> &[u64] {
        self.children.get(&id).map_or(&[], Vec::as_slice)
    }

    fn lookup(&self, path: &str) -> Result<INode, Failure> {
        let mut found = self.inode(ROOT_ID)?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let mut next = None;
            for child in self.children(found.id) {
                let child = self.inode(*child)?;
                if child.name.as_deref() == Some(name.as_bytes()) {
                    next = Some(child);
                    break;
                }
            }
            found = next.ok_or_else(|| (NOT_FOUND, path.to_owned()))?;
        }
        Ok(found)
    }

    /// The answer to a request for `path` below the prefix.
    fn answer(&self, path: &str, query: &str) -> Result<Vec<u8>, Failure> {
        let outside = || (NOT_FOUND, format!("Path: {path} should start with {PREFIX}"));
        let path = decode(path.strip_prefix(PREFIX).ok_or_else(outside)?);
        let parameter = |name: &str| {
            let found = query.split('&').filter_map(|p| p.split_once('=')).filter(|(key, _)| *key == name);
            found.map(|(_, value)| decode(value)).collect::<Vec<_>>()
        };
        let operation = parameter("op").first().map(|op| op.to_uppercase()).unwrap_or_default();
        let mut out = Vec::new();
        match operation.as_str() {
            "GETFILESTATUS" => {
                out.extend_from_slice(b"{\"FileStatus\":\n");
                self.status(&mut out, &self.lookup(&path)?, false);
                out.extend_from_slice(b"\n}\n");
            }
            "LISTSTATUS" => self.list(&mut out, &path)?,
            "GETCONTENTSUMMARY" => self.summary(&mut out, &path)?,
            "GETACLSTATUS" => self.acl_status(&mut out, &path)?,
            "GETXATTRS" => {
                let encoding = parameter("encoding").first().map(|name| name.to_lowercase()).unwrap_or_default();
                self.xattrs(&mut out, &path, &parameter("xattr.name"), &encoding)?;
            }
            "LISTXATTRS" => {
                let names = self.xattr_list(&self.lookup(&path)?).into_iter().map(|(name, _)| name);
                json::xattr_names(&mut out, names);
            }
            _ => return Err((ILLEGAL, "Invalid value for webhdfs parameter \"op\"".to_owned())),
        }
        Ok(out)
    }

    fn list(&self, out: &mut Vec<u8>, path: &str) -> Result<(), Failure> {
        let inode = self.lookup(path)?;
        out.extend_from_slice(b"{\"FileStatuses\":{\"FileStatus\":[\n");
        if inode.directory.is_some() {
            for (at, child) in self.children(inode.id).iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                self.status(out, &self.inode(*child)?, true);
            }
        } else {
            self.status(out, &inode, false);
        }
        out.extend_from_slice(b"\n]}}\n");
        Ok(())
    }

    fn status(&self, out: &mut Vec<u8>, inode: &INode, with_name: bool) {
        let name = if with_name { inode.name.as_deref().unwrap_or_default() } else { b"" };
        let mut map = Map::default();
        let (bits, kind, children) = if let Some(file) = &inode.file {
            map.number("accessTime", file.access_time() as i64);
            map.number("blockSize", file.preferred_block_size() as i64);
            map.number("length", file.blocks.iter().map(|block| block.num_bytes() as i64).sum());
            map.number("modificationTime", file.modification_time() as i64);
            let replication = if file.erasure_coding_policy_id.is_some() { 1 } else { file.replication() };
            map.number("replication", i64::from(replication));
            (file.permission(), "FILE", 0)
        } else if let Some(directory) = &inode.directory {
            for name in ["accessTime", "blockSize", "length", "replication"] {
                map.number(name, 0);
            }
            map.number("modificationTime", directory.modification_time() as i64);
            (directory.permission(), "DIRECTORY", self.children(inode.id).len() as i64)
        } else {
            let link = inode.symlink.clone().unwrap_or_default();
            map.number("accessTime", link.access_time() as i64);
            for name in ["blockSize", "length", "replication"] {
                map.number(name, 0);
            }
            map.number("modificationTime", link.modification_time() as i64);
            map.text("symlink", link.target());
            (link.permission(), "SYMLINK", 0)
        };
        let permission = self.strings.permission(bits);
        map.text("group", permission.group.as_bytes());
        map.text("owner", permission.user.as_bytes());
        map.text("pathSuffix", name);
        map.text("permission", format!("{:o}", permission.mode).as_bytes());
        map.text("type", kind.as_bytes());
        map.number("fileId", inode.id as i64);
        map.number("childrenNum", children);
        map.put(out);
    }

    fn summary(&self, out: &mut Vec<u8>, path: &str) -> Result<(), Failure> {
        let inode = self.lookup(path)?;
        // Directories, files, length, length times replication.
        let mut sums = [0i64; 4];
        let mut left = vec![inode.id];
        while let Some(id) = left.pop() {
            let inode = self.inode(id)?;
            if let Some(file) = &inode.file {
                let length: i64 = file.blocks.iter().map(|block| block.num_bytes() as i64).sum();
                sums[1] += 1;
                sums[2] += length;
                sums[3] += length.wrapping_mul(i64::from(file.replication()));
            } else if inode.directory.is_some() {
                sums[0] += 1;
                left.extend_from_slice(self.children(id));
            } else {
                sums[1] += 1;
            }
        }
        let directory = inode.directory.as_ref();
        let mut map = Map::default();
        for (name, sum) in ["directoryCount", "fileCount", "length", "spaceConsumed"].into_iter().zip(sums) {
            map.number(name, sum);
        }
        map.number("quota", directory.map_or(-1, |directory| directory.ns_quota() as i64));
        map.number("spaceQuota", directory.map_or(-1, |directory| directory.ds_quota() as i64));
        out.extend_from_slice(b"{\"ContentSummary\":\n");
        map.put(out);
        out.extend_from_slice(b"\n}\n");
        Ok(())
    }

    fn acl_status(&self, out: &mut Vec<u8>, path: &str) -> Result<(), Failure> {
        let inode = self.lookup(path)?;
        let none = None::<AclFeatureProto>;
        let (bits, acl) = match (&inode.file, &inode.directory, &inode.symlink) {
            (Some(file), ..) => (file.permission(), &file.acl),
            (_, Some(directory), _) => (directory.permission(), &directory.acl),
            (.., link) => (link.as_ref().map_or(0, |link| link.permission()), &none),
        };
        let permission = self.strings.permission(bits);
        let mut entries = Vec::new();
        self.strings.acl(acl.as_ref(), |entry| entries.push(entry.to_owned()));
        out.extend_from_slice(b"{\"AclStatus\":{\"entries\":[");
        for (at, entry) in entries.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            json::string(out, entry.as_bytes());
        }
        for (name, text) in [("],\"group\":", permission.group), (",\"owner\":", permission.user)] {
            out.extend_from_slice(name.as_bytes());
            json::string(out, text.as_bytes());
        }
        let sticky = permission.mode & 0o1000 != 0;
        out.extend_from_slice(
            format!(",\"permission\":\"{:o}\",\"stickyBit\":{sticky}}}}}", permission.mode).as_bytes(),
        );
        Ok(())
    }

    /// Names with their prefix, and values.
    fn xattr_list(&self, inode: &INode) -> Vec<(String, Vec<u8>)> {
        let feature: Option<&XAttrFeatureProto> = match (&inode.file, &inode.directory) {
            (Some(file), _) => file.x_attrs.as_ref(),
            (_, Some(directory)) => directory.x_attrs.as_ref(),
            _ => None,
        };
        let xattrs = feature.iter().flat_map(|feature| &feature.x_attrs);
        xattrs
            .map(|xattr| {
                let (namespace, name) = self.strings.xattr(xattr);
                let namespace = XATTR_NAMESPACES.get(namespace).copied().unwrap_or_default().to_lowercase();
                (format!("{namespace}.{name}"), xattr.value.clone().unwrap_or_default())
            })
            .collect()
    }

    fn xattrs(&self, out: &mut Vec<u8>, path: &str, names: &[String], encoding: &str) -> Result<(), Failure> {
        let mut found = self.xattr_list(&self.lookup(path)?);
        let codec = match encoding {
            "text" => surus_types::XAttrCodec::Text,
            "base64" => surus_types::XAttrCodec::Base64,
            _ => surus_types::XAttrCodec::Hex,
        };
        if !names.is_empty() {
            let all: HashMap<String, Vec<u8>> = found.into_iter().collect();
            let wanted = names.iter().map(|name| Some((name.clone(), all.get(name)?.clone())));
            found = wanted
                .collect::<Option<_>>()
                .ok_or((NO_XATTR, "At least one of the attributes provided was not found.".to_owned()))?;
        }
        // An empty value is shown as one, unlike by a NameNode.
        out.extend_from_slice(b"{\"XAttrs\":[");
        for (at, (name, value)) in found.iter().enumerate() {
            out.extend_from_slice(if at > 0 { b",{\"name\":" } else { b"{\"name\":" });
            json::string(out, name.as_bytes());
            out.extend_from_slice(b",\"value\":");
            json::string(out, codec.encode(value).as_bytes());
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
        Ok(())
    }
}

impl HttpService for Tree {
    fn call(self: Arc<Self>, request: Request<Incoming>, _peer: SocketAddr) -> HttpFuture {
        Box::pin(async move {
            let (mut status, mut out) = (StatusCode::OK, Vec::new());
            if request.method() != Method::GET {
                status = StatusCode::METHOD_NOT_ALLOWED;
            } else {
                match self.answer(request.uri().path(), request.uri().query().unwrap_or_default()) {
                    Ok(text) => out = text,
                    Err((class, message)) => {
                        status = match class {
                            ILLEGAL => StatusCode::BAD_REQUEST,
                            NOT_FOUND => StatusCode::NOT_FOUND,
                            NO_XATTR => StatusCode::FORBIDDEN,
                            _ => StatusCode::INTERNAL_SERVER_ERROR,
                        };
                        json::remote_exception_named(&mut out, class, &message);
                    }
                }
            }
            let mut response = Response::new(HttpBody::from(out));
            *response.status_mut() = status;
            let json = header::HeaderValue::from_static("application/json; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
            response
        })
    }
}

/// Percent decoding.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        rest = match (first, tail) {
            (b'%', [a, b, tail @ ..]) if hex(*a).is_some() && hex(*b).is_some() => {
                bytes.push((hex(*a).unwrap_or(0) * 16 + hex(*b).unwrap_or(0)) as u8);
                tail
            }
            _ => {
                bytes.push(*first);
                tail
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// In which order Java puts the keys into its map, where that matters: of two in one bucket the first comes first.
const PUT_ORDER: [&str; 2] = ["owner", "replication"];

/// A JSON object whose keys come in the order of Java's HashMap.
#[derive(Default)]
struct Map {
    entries: Vec<(&'static str, Vec<u8>)>,
}

impl Map {
    fn number(&mut self, name: &'static str, value: i64) {
        self.entries.push((name, value.to_string().into_bytes()));
    }

    fn text(&mut self, name: &'static str, value: &[u8]) {
        let mut text = Vec::new();
        json::string(&mut text, value);
        self.entries.push((name, text));
    }

    fn put(mut self, out: &mut Vec<u8>) {
        // A table of 16 holds 12 entries, one of 32 holds 24.
        let buckets: u32 = if self.entries.len() > 12 { 32 } else { 16 };
        let bucket = |name: &str| {
            let hash = name.bytes().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
            (hash ^ hash >> 16) % buckets
        };
        self.entries.sort_by_key(|(name, _)| (bucket(name), PUT_ORDER.iter().position(|known| known == name)));
        out.push(b'{');
        for (at, (name, value)) in self.entries.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            json::string(out, name.as_bytes());
            out.push(b':');
            out.extend_from_slice(value);
        }
        out.push(b'}');
    }
}
