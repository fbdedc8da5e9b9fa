//! What flows: file data both ways, and listings of more than one page. Nothing is ever held as a whole.

use crate::failure::Failure;
use crate::file_system::ClusterFs;
use crate::gateway::{Asked, Gateway, ended_early};
use crate::response::{failed, json, location, respond, set};
use std::io::{self, Read};
use std::sync::Arc;
use surus_client::glob::{Pattern, unescape};
use surus_client::{ClientError, CreateOptions, DfsClient, Writer};
use surus_net::http::header::{CONTENT_LENGTH, EXPECT, HeaderValue};
use surus_net::http::{
    BodyReader, BodySender, Bytes, HttpBody, Incoming, PIECE_BYTES, Request, Response, StatusCode, drain,
};
use surus_types::{ExceptionClass, HdfsError};
use surus_webhdfs::json::Listing;
use surus_webhdfs::{Create, JSON, OCTET_STREAM, Operation, Page, json_httpfs};

/// Pieces that wait for a slow client.
const PIECES_MAX: usize = 2;

/// OPEN. At the end there is nothing to read, which is no error; beyond it is.
pub fn open(
    gateway: &Gateway,
    client: &DfsClient,
    path: &str,
    offset: u64,
    length: Option<u64>,
) -> Result<Response<HttpBody>, Failure> {
    let mut reader = client.open(path)?;
    let size = reader.len();
    if offset > size {
        let text = format!("Premature EOF from inputStream after skipping {size} byte(s).");
        return Err(HdfsError::new(ExceptionClass::Eof, text).into());
    }
    let length = length.unwrap_or(u64::MAX).min(size - offset);
    // A range of one piece is asked for as such: the DataNode does not read on to the end of the block.
    let is_one_piece = length <= PIECE_BYTES as u64;
    if !is_one_piece {
        reader.seek_to(offset)?;
    }
    let file = path.to_owned();
    let read = move |at: u64, buffer: &mut [u8]| match is_one_piece {
        true if reader.pread(at, buffer)? < buffer.len() => {
            Err(ClientError::io(format!("{file} is shorter than it was")))
        }
        true => Ok(()),
        false => reader.read_exact(buffer).map_err(|error| ClientError::from_io(&error)),
    };
    let body = HttpBody::ranged(&gateway.runtime, format!("OPEN {path}"), offset..offset + length, read)?;
    Ok(data(body, length))
}

fn data(body: HttpBody, length: u64) -> Response<HttpBody> {
    let mut response = respond(StatusCode::OK, OCTET_STREAM, body);
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    response
}

pub fn checksum(client: &DfsClient, path: &str) -> Result<Response<HttpBody>, Failure> {
    let checksum = client.file_checksum(path)?;
    let mut body = Vec::with_capacity(256);
    json_httpfs::file_checksum(&mut body, &checksum.algorithm, &checksum.bytes);
    Ok(json(body))
}

/// Names that a listing keeps.
enum Filter {
    All,
    Name(String),
    Glob(Pattern),
}

impl Filter {
    fn new(filter: Option<&str>) -> Result<Filter, Failure> {
        let Some(text) = filter else { return Ok(Filter::All) };
        match Pattern::parse(text) {
            Ok(Some(pattern)) => Ok(Filter::Glob(pattern)),
            Ok(None) => Ok(Filter::Name(unescape(text))),
            Err(problem) => Err(HdfsError::io(format!("Illegal file pattern: {problem}")).into()),
        }
    }

    fn keeps(&self, name: &[u8]) -> bool {
        match self {
            Filter::All => true,
            Filter::Name(wanted) => wanted.as_bytes() == name,
            Filter::Glob(pattern) => pattern.matches(&String::from_utf8_lossy(name)),
        }
    }
}

/// LISTSTATUS: the first page at once; further ones leave as they come.
pub fn list(gateway: &Gateway, fs: ClusterFs, path: &str, filter: Option<&str>) -> Result<Response<HttpBody>, Failure> {
    let filter = Filter::new(filter)?;
    let form = Listing::HttpFs;
    let mut out = Vec::new();
    form.start(&mut out);
    let start = out.len();
    let keep = |name: &[u8]| filter.keeps(name);
    let page = Page { path, start_after: b"", is_first: true, form, keep: Some(&keep) };
    let (remaining, last) = page.write(&fs, &mut out)?;
    if remaining == 0 {
        form.end(&mut out, 0);
        return Ok(json(out));
    }
    let is_first = out.len() == start;
    let (sender, body) = HttpBody::stream(PIECES_MAX, None);
    let path = path.to_owned();
    gateway.runtime.spawn_blocking(move || {
        if let Err(error) = send_pages(&sender, &fs, &path, &filter, out, last, is_first) {
            tracing::info!("LISTSTATUS {path}: {error}");
            sender.fail(error);
        }
    });
    Ok(respond(StatusCode::OK, JSON, body))
}

fn send_pages(
    sender: &BodySender,
    fs: &ClusterFs,
    path: &str,
    filter: &Filter,
    first: Vec<u8>,
    mut last: Vec<u8>,
    mut is_first: bool,
) -> io::Result<()> {
    let form = Listing::HttpFs;
    let keep = |name: &[u8]| filter.keeps(name);
    let capacity = first.len();
    sender.send_blocking(Bytes::from(first))?;
    let mut remaining = 1;
    while remaining > 0 {
        let mut out = Vec::with_capacity(capacity);
        let page = Page { path, start_after: &last, is_first, form, keep: Some(&keep) };
        (remaining, last) = page.write(fs, &mut out).map_err(|failure| io::Error::other(failure.message()))?;
        is_first &= out.is_empty();
        if remaining == 0 {
            form.end(&mut out, 0);
        }
        if !out.is_empty() {
            sender.send_blocking(Bytes::from(out))?;
        }
    }
    Ok(())
}

/// CREATE and APPEND with their data.
pub async fn upload(gateway: Arc<Gateway>, asked: Asked, request: Request<Incoming>) -> Response<HttpBody> {
    let expects_continue = request.headers().contains_key(EXPECT);
    let body = request.into_body();
    let runtime = gateway.runtime.clone();
    // The answer, and the body where it was not read.
    let work = move || {
        let fs = match gateway.file_system(&asked) {
            Ok(fs) => fs,
            Err(refused) => return (*refused, Some(body)),
        };
        let mut writer = match start(&fs.client, &asked) {
            Ok(writer) => writer,
            Err(failure) => return (failed(&failure), Some(body)),
        };
        let mut reader = BodyReader::new(body, runtime);
        let copied = writer.write_from(&mut reader);
        // As in Hadoop, what came before a client broke off stays.
        let closed = writer.close();
        let done = copied.map_err(Failure::from).and(closed.map_err(Failure::from));
        let response = match done {
            Ok(()) => written(&asked),
            Err(failure) => failed(&failure),
        };
        (response, None)
    };
    match tokio::task::spawn_blocking(work).await {
        Ok((response, unread)) => {
            if let Some(body) = unread.filter(|_| !expects_continue) {
                drain(body).await;
            }
            response
        }
        Err(_) => ended_early(),
    }
}

fn start(client: &DfsClient, asked: &Asked) -> Result<Writer, Failure> {
    let path = &asked.request.path;
    match &asked.request.operation {
        Operation::Create(create) => Ok(client.create(path, &options(create))?),
        _ => Ok(client.append(path, false)?),
    }
}

fn options(create: &Create) -> CreateOptions {
    CreateOptions {
        overwrite: create.overwrite,
        replication: create.replication,
        block_size: create.block_size,
        permission: create.permission.unwrap_or_default(),
        unmasked: create.unmasked,
        ..CreateOptions::default()
    }
}

fn written(asked: &Asked) -> Response<HttpBody> {
    if !matches!(asked.request.operation, Operation::Create(_)) {
        return respond(StatusCode::OK, JSON, HttpBody::empty());
    }
    let url = asked.url();
    let mut response = location(StatusCode::CREATED, &url);
    set(&mut response, "Location", &url);
    response
}
