//! WebHDFS without a redirect, where the DataNode that a client would be sent to is in this process. A file is resolved and its
//! rights are checked here, and its bytes come straight from the block files; writes, and reads of open or encrypted files, are
//! handed to the DataNode's own WebHDFS with their bodies unread.

use super::webhdfs::Answer;
use super::{redirect, webhdfs};
use crate::call::Call;
use crate::core::Core;
use std::net::SocketAddr;
use std::sync::Arc;
use surus_namespace::ops::get_block_locations::{BlockLocationsPart, GetBlockLocations};
use surus_net::http::{FileRange, HttpBody, Incoming, LocalData, Request as HttpRequest, Response, header};
use surus_types::{ExceptionClass, HdfsError};
use surus_webhdfs::{OCTET_STREAM, Operation, Request};

/// The answer to a request that is to have no redirect; `None`: the usual one. `has_body`: a body follows, or may.
pub fn answer(core: &Core, call: &Call<'_>, request: &Request, has_body: bool) -> Option<Result<Answer, HdfsError>> {
    let is_wanted = request.one_hop.unwrap_or(core.config.one_hop && !request.no_redirect);
    // Who names DataNodes to leave out has met one that failed.
    if !is_wanted || !request.excluded_datanodes.is_empty() {
        return None;
    }
    let datanode = core.local_data.read().clone()?;
    match &request.operation {
        Operation::Open { offset, length } => open(core, call, request, &*datanode, *offset, *length).transpose(),
        // Hadoop's own client begins with a request without a body, to be redirected.
        Operation::Create(_) | Operation::Append { .. } if request.one_hop == Some(true) || has_body => {
            hand_over_url(core, request, &*datanode).map(|url| Ok(Answer::HandOver(url)))
        }
        Operation::GetFileChecksum => hand_over_url(core, request, &*datanode).map(|url| Ok(Answer::HandOver(url))),
        _ => None,
    }
}

fn open(
    core: &Core,
    call: &Call<'_>,
    request: &Request,
    datanode: &dyn LocalData,
    offset: u64,
    length: Option<u64>,
) -> Result<Option<Answer>, HdfsError> {
    let (src, env) = (request.path.as_str(), core.env(call));
    let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let asked = GetBlockLocations { src, offset: signed(offset), length: length.map_or(i64::MAX, signed) };
    let namespace = core.namespace.read();
    let (file, access_time) = namespace.check_block_locations(&env, &asked)?;
    let header = namespace.block_locations_header(file);
    if header.under_construction || header.encryption.is_some() {
        drop(namespace);
        return Ok(hand_over_url(core, request, datanode).map(Answer::HandOver));
    }
    let file_length = header.file_length;
    if offset > 0 && offset >= file_length {
        return Err(HdfsError::io(format!("Offset={offset} out of the range [0, {file_length}); OPEN, path={src}")));
    }
    let length = length.unwrap_or(u64::MAX).min(file_length - offset);
    let mut blocks = Vec::new();
    if length > 0 {
        namespace.lend_block_locations(&env, file, offset, length, &mut |part| {
            if let BlockLocationsPart::Block(block) = part {
                blocks.push((block.offset, block.block));
            }
        });
    }
    let Some(address) = redirect::of_datanode(&namespace, &datanode.datanode_uuid()) else { return Ok(None) };
    drop(namespace);
    if access_time.is_some() {
        core.set_access_time(&env, &asked);
    }
    let url = url_at(core, request, &address);
    Ok(Some(Answer::Data(FileRange { pool_id: core.id.block_pool_id.clone(), blocks, offset, length, url })))
}

/// The URL of a request at the DataNode of this process; `None` where that one is not in service.
pub fn hand_over_url(core: &Core, request: &Request, datanode: &dyn LocalData) -> Option<String> {
    let address = redirect::of_datanode(&core.namespace.read(), &datanode.datanode_uuid())?;
    Some(url_at(core, request, &address))
}

pub fn url_at(core: &Core, request: &Request, address: &str) -> String {
    let named = Request { user: request.user.clone().or(Some(core.config.static_user.clone())), ..request.clone() };
    surus_webhdfs::location(address, &named, &core.client_address())
}

/// A range from the DataNode of this process, as its own port would answer; `None` where it has it not, or damaged.
pub async fn read(core: &Core, range: FileRange) -> Option<Response<HttpBody>> {
    let body = body(core, range).await?;
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, header::HeaderValue::from_static("GET"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, header::HeaderValue::from_static("*"));
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(OCTET_STREAM));
    Some(response)
}

/// The bytes of a range; `None` as for `read`.
pub async fn body(core: &Core, range: FileRange) -> Option<HttpBody> {
    if range.length == 0 {
        return Some(HttpBody::empty());
    }
    let datanode: Arc<dyn LocalData> = core.local_data.read().clone()?;
    datanode
        .read(range)
        .await
        .inspect_err(|error| tracing::info!("a file cannot be read without a redirect: {error}"))
        .ok()
}

/// Has the DataNode of this process serve a request as if it had come to its port with this URL.
pub async fn hand_over(
    core: &Core,
    mut request: HttpRequest<Incoming>,
    url: &str,
    peer: SocketAddr,
) -> Response<HttpBody> {
    let datanode = core.local_data.read().clone();
    match (datanode, url.parse()) {
        (Some(datanode), Ok(uri)) => {
            *request.uri_mut() = uri;
            datanode.call(request, peer).await
        }
        _ => webhdfs::respond_error(&HdfsError::new(ExceptionClass::Runtime, "the DataNode of this process is gone")),
    }
}
