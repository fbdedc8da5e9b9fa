//! The head of an answer with a file: what identifies its content, what it is, and what a browser may do with it.

use super::FileRequest;
use super::names::{content_type, disposition, is_active};
use headers::{ETag, HeaderMap, HeaderMapExt, HeaderName, HeaderValue, LastModified};
use std::time::{Duration, SystemTime};
use surus_types::{Block, ExceptionClass, FileStatus, HdfsError};

/// A file as it is now. Its length in bytes.
#[derive(Clone, Debug)]
pub struct Representation {
    pub etag: ETag,
    pub modified: SystemTime,
    pub length: u64,
}

impl Representation {
    /// Of a closed file that ends in the block `last`. Every change of content changes the tag: another file has another
    /// inode, an append another generation stamp, a truncate another length, and what is written after it another block.
    ///
    /// # Errors
    /// There is none.
    pub fn of(status: &FileStatus<'_>, length: u64, last: Option<Block>) -> Result<Representation, HdfsError> {
        let (last, modified_ms) = (last.unwrap_or_default(), u64::try_from(status.modification_time_ms).unwrap_or(0));
        let tag = format!(
            "\"{:x}-{length:x}-{modified_ms:x}-{:x}-{:x}\"",
            status.inode_id.0, last.id.0, last.generation_stamp.0
        );
        let etag = tag.parse().map_err(|_| HdfsError::new(ExceptionClass::IllegalState, "no entity tag"))?;
        Ok(Representation { etag, modified: SystemTime::UNIX_EPOCH + Duration::from_millis(modified_ms), length })
    }
}

/// Sets the headers of an answer about a file. `file` is absent where its content can be neither named nor had in parts: it is
/// being written, or is read through a client.
pub fn describe(out: &mut HeaderMap, request: &FileRequest, file: Option<&Representation>) {
    let fixed = |value: &'static str| HeaderValue::from_static(value);
    let content_type = content_type(&request.path);
    out.insert("content-type", fixed(content_type));
    out.insert("accept-ranges", fixed(if file.is_some() { "bytes" } else { "none" }));
    out.insert("cache-control", fixed(if file.is_some() { "no-cache" } else { "no-store" }));
    out.insert("x-content-type-options", fixed("nosniff"));
    if is_active(content_type) {
        out.insert("content-security-policy", fixed("sandbox"));
    }
    if let Some(file) = file {
        identify(out, file);
    }
    let name = request.file_name.as_ref().map(|name| HeaderValue::from_str(&disposition(name, &request.path)));
    if let Some(Ok(value)) = name {
        out.insert(HeaderName::from_static("content-disposition"), value);
    }
}

/// Sets what says which content a file has.
pub fn identify(out: &mut HeaderMap, file: &Representation) {
    out.typed_insert(file.etag.clone());
    out.typed_insert(LastModified::from(file.modified));
}

/// The status by which any HTTP client understands an error. Hadoop's own table has 403 for most.
pub fn status(class: ExceptionClass) -> u16 {
    match class {
        ExceptionClass::FileAlreadyExists | ExceptionClass::PathIsNotEmptyDirectory => 409,
        ExceptionClass::NsQuotaExceeded
        | ExceptionClass::DsQuotaExceeded
        | ExceptionClass::QuotaByStorageTypeExceeded => 507,
        ExceptionClass::SafeMode | ExceptionClass::Standby | ExceptionClass::Retriable => 503,
        ExceptionClass::Io => 500,
        ExceptionClass::ParentNotDirectory | ExceptionClass::PathIsNotDirectory => 404,
        other => other.http_status(),
    }
}
