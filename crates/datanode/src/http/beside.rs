//! What a NameNode in the same process reads and writes, without a redirect and, for what it has resolved, without a call back.

use super::Http;
use super::local::LocalFile;
use super::webhdfs::{self, Source};
use std::io;
use std::sync::Arc;
use surus_net::http::{FileRange, HttpBody, LocalData, PIECE_BYTES, RangeFuture, Uri};
use surus_webhdfs::{Method, Side};

impl LocalData for Http {
    fn datanode_uuid(&self) -> String {
        self.node.store.datanode_uuid().to_owned()
    }

    fn read(self: Arc<Self>, range: FileRange) -> RangeFuture {
        Box::pin(async move {
            let runtime = self.runtime.clone();
            runtime.spawn_blocking(move || read(&self, &range)).await.unwrap_or_else(|e| Err(io::Error::other(e)))
        })
    }
}

fn read(http: &Arc<Http>, range: &FileRange) -> io::Result<HttpBody> {
    let mut file = LocalFile::of(&http.node, &range.pool_id, &range.blocks).ok_or(io::ErrorKind::NotFound)?;
    if range.length <= PIECE_BYTES as u64 {
        let mut data = vec![0; range.length as usize];
        file.read(range.offset, &mut data)?;
        return Ok(data.into());
    }
    // So long a body may outlive its replicas here.
    let url: Uri = range.url.parse().map_err(io::Error::other)?;
    let request = surus_webhdfs::parse(Side::DataNode, Method::Get, url.path(), url.query().unwrap_or(""))
        .map_err(|e| io::Error::other(e.message))?;
    let client = http.clients.get(&http.node, &request).map_err(io::Error::other)?;
    let bytes = range.offset..range.offset.saturating_add(range.length);
    webhdfs::body(http, Source::Local(file), &client, &request.path, bytes).map_err(io::Error::other)
}
