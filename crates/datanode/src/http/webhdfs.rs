//! OPEN, CREATE, APPEND, GETFILECHECKSUM. Requests arrive on the runtime; the work is done on blocking threads.
//! Source: `WebHdfsHandler.java`, Hadoop 3.5.0.

use super::Http;
use super::answer::Answer;
use super::local::LocalFile;
use hyper::body::Incoming;
use hyper::header::EXPECT;
use std::ops::Range;
use std::sync::Arc;
use surus_client::{ClientError, CreateOptions, DfsClient, Reader};
use surus_net::http::{BodyReader, HttpBody, drain};
use surus_types::{ExceptionClass, FsPermission, HdfsError};
use surus_webhdfs::{Create, Operation, Request};

/// Permission of a file whose request names none. Source: `PermissionParam.java`, Hadoop 3.5.0.
const FILE_PERMISSION: FsPermission = FsPermission(0o644);

pub(super) async fn serve(http: Arc<Http>, request: Request, raw: hyper::Request<Incoming>) -> Answer {
    let expects_continue = raw.headers().contains_key(EXPECT);
    let body = raw.into_body();
    match &request.operation {
        Operation::Create(_) | Operation::Append { .. } => upload(http, request, body, expects_continue).await,
        _ => {
            let runtime = http.runtime.clone();
            let work = move || download(&http, &request);
            runtime.spawn_blocking(work).await.unwrap_or_else(|_| failed())
        }
    }
}

fn failed() -> Answer {
    Answer::error(&HdfsError::new(ExceptionClass::Runtime, "the request's thread ended early; see the DataNode's log"))
}

fn download(http: &Arc<Http>, request: &Request) -> Answer {
    let client = match http.clients.get(&http.node, request) {
        Ok(client) => client,
        Err(e) => return Answer::client_error(&e),
    };
    let result = match &request.operation {
        Operation::Open { offset, length } => open(http, &client, &request.path, *offset, *length),
        Operation::GetFileChecksum => checksum(&client, &request.path),
        _ => return Answer::error(&HdfsError::new(ExceptionClass::IllegalArgument, "Invalid operation")),
    };
    result.unwrap_or_else(|e| Answer::client_error(&e))
}

fn checksum(client: &DfsClient, path: &str) -> Result<Answer, ClientError> {
    let checksum = client.file_checksum(path)?;
    let mut body = Vec::with_capacity(256);
    surus_webhdfs::json::file_checksum(&mut body, &checksum.algorithm, &checksum.bytes);
    Ok(Answer::json(body))
}

/// Where the bytes of an OPEN come from.
pub(super) enum Source {
    Local(LocalFile),
    Remote(Box<Reader>),
}

impl Source {
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ClientError> {
        match self {
            Source::Local(file) => file.read(offset, buffer).map_err(|e| ClientError::io(e.to_string())),
            Source::Remote(reader) => match reader.pread(offset, buffer)? {
                n if n == buffer.len() => Ok(()),
                _ => Err(ClientError::io("the file is shorter than it was")),
            },
        }
    }
}

fn open(
    http: &Arc<Http>,
    client: &DfsClient,
    path: &str,
    offset: u64,
    length: Option<u64>,
) -> Result<Answer, ClientError> {
    // Beyond any file: the NameNode takes a signed number.
    let wanted = length.unwrap_or(i64::MAX as u64).min(i64::MAX as u64);
    let located = client.get_block_locations(path, offset.min(i64::MAX as u64), wanted.max(1))?;
    let local = LocalFile::find(&http.node, &located);
    let (source, file_length) = match local {
        Some(file) => (Source::Local(file), located.file_length),
        None => {
            let reader = client.open(path)?;
            let length = reader.len();
            (Source::Remote(Box::new(reader)), length)
        }
    };
    if offset > file_length {
        return Err(ClientError::Remote {
            class: ExceptionClass::Eof.java_name().to_owned(),
            message: "Cannot seek after EOF".to_owned(),
        });
    }
    let length = wanted.min(file_length - offset);
    Ok(Answer::data(body(http, source, client, path, offset..offset + length)?, length))
}

/// The bytes of a range. What is more than one piece is read while it leaves.
pub(super) fn body(
    http: &Arc<Http>,
    mut source: Source,
    client: &DfsClient,
    path: &str,
    range: Range<u64>,
) -> Result<HttpBody, ClientError> {
    let (client, file) = (client.clone(), path.to_owned());
    HttpBody::ranged(&http.runtime, format!("OPEN {path}"), range, move |at, buffer| {
        read_or_elsewhere(&mut source, &client, &file, at, buffer)
    })
}

/// Reads from here, and from another replica where the one here is damaged or gone.
fn read_or_elsewhere(
    source: &mut Source,
    client: &DfsClient,
    path: &str,
    offset: u64,
    buffer: &mut [u8],
) -> Result<(), ClientError> {
    match source.read(offset, buffer) {
        Err(e) if matches!(source, Source::Local(_)) => {
            tracing::warn!("{path}: the replica here cannot be read: {e}");
            *source = Source::Remote(Box::new(client.open(path)?));
            source.read(offset, buffer)
        }
        result => result,
    }
}

async fn upload(http: Arc<Http>, request: Request, body: Incoming, expects_continue: bool) -> Answer {
    let (runtime, threads) = (http.runtime.clone(), http.runtime.clone());
    let work = move || match start_upload(&http, &request) {
        Ok(mut writer) => {
            let mut reader = BodyReader::new(body, runtime);
            let copied = writer.write_from(&mut reader);
            // As in Hadoop, what came before a client broke off stays.
            let closed = writer.close();
            match copied.map_err(|e| ClientError::from_io(&e)).and(closed) {
                Ok(()) => Ok(success(&request)),
                Err(e) => Ok(Answer::client_error(&e)),
            }
        }
        Err(e) => Err((e, body)),
    };
    match threads.spawn_blocking(work).await {
        Ok(Ok(answer)) => answer,
        Ok(Err((e, body))) => {
            if !expects_continue {
                drain(body).await;
            }
            Answer::client_error(&e)
        }
        Err(_) => failed(),
    }
}

fn start_upload(http: &Arc<Http>, request: &Request) -> Result<surus_client::Writer, ClientError> {
    let client = http.clients.get(&http.node, request)?;
    match &request.operation {
        Operation::Create(create) => client.create(&request.path, &options(create)),
        _ => client.append(&request.path, false),
    }
}

fn options(create: &Create) -> CreateOptions {
    let flags = create.flags;
    CreateOptions {
        overwrite: if flags.is_empty() { create.overwrite } else { flags.contains(0x02) },
        create_parent: create.create_parent,
        replication: create.replication,
        block_size: create.block_size,
        permission: create.permission.unwrap_or(FILE_PERMISSION),
        unmasked: create.unmasked,
        lazy_persist: flags.contains(0x10),
        sync_block: flags.contains(0x08),
    }
}

fn success(request: &Request) -> Answer {
    match &request.operation {
        Operation::Create(_) => {
            let namenode = request.namenode_address.as_deref().unwrap_or_default();
            Answer::created(&format!("hdfs://{namenode}{}", request.path))
        }
        _ => Answer::appended(),
    }
}
