//! File data that lies in the process of who asks for it: the seam between a NameNode's HTTP server and the DataNode beside it.

use super::{HttpBody, HttpService};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use surus_types::Block;

/// A range of a closed file, as its NameNode knows it. Offsets and lengths in bytes.
#[derive(Clone, Debug)]
pub struct FileRange {
    pub pool_id: String,
    /// The blocks that hold the range, in order, each with its offset in the file.
    pub blocks: Vec<(u64, Block)>,
    pub offset: u64,
    pub length: u64,
    /// The WebHDFS request to a DataNode for the same file: other replicas are read by it where one here is damaged.
    pub url: String,
}

/// A body that is being opened.
pub type RangeFuture = Pin<Box<dyn Future<Output = io::Result<HttpBody>> + Send>>;

/// A DataNode as its own process sees it. As a service it serves WebHDFS's data side: what its port would be sent.
pub trait LocalData: HttpService {
    fn datanode_uuid(&self) -> String;

    /// The bytes of a range, their checksums verified. The first piece has been read when the future is done.
    ///
    /// The future's error: a block is not here as the range names it (`NotFound`), is damaged, or the disk fails.
    fn read(self: Arc<Self>, range: FileRange) -> RangeFuture;
}
