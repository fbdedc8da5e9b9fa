//! The plain web door, `/fs/PATH`: files as a web server sends them, with media type, entity tag, conditions and ranges;
//! directories as a page for people or as JSON. What is sent comes from the block files of the DataNode in this process; for
//! what is elsewhere the client is sent on to the DataNode that has it.

mod write;

use super::webhdfs::{Form, list_all};
use super::{answer, one_hop, redirect, set, webhdfs};
use crate::audit;
use crate::call::Call;
use crate::core::Core;
use http_body_util::BodyExt;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use surus_namespace::ops::get_block_locations::{BlockLocationsPart, GetBlockLocations};
use surus_net::http::{
    BodySender, FileRange, HttpBody, Incoming, Method, Request as HttpRequest, Response, StatusCode, header,
};
use surus_types::{Caller, FileType, HdfsError};
use surus_webhdfs::json::Listing;
use surus_webhdfs::web::{self, DirectoryPage, FileRequest, Multipart, Representation, Selected};
use surus_webhdfs::{JSON, Operation, Request};

/// Pieces that wait for a slow client.
const PIECES_MAX: usize = 2;

pub async fn serve(core: &Arc<Core>, request: HttpRequest<Incoming>, peer: SocketAddr) -> Response<HttpBody> {
    let asked = web::parse(request.uri().path(), request.uri().query().unwrap_or(""));
    let result = match asked {
        Ok(asked) => perform(core, &asked, request, peer).await,
        Err(error) => Err(error),
    };
    result.unwrap_or_else(|error| refused(&error))
}

fn refused(error: &HdfsError) -> Response<HttpBody> {
    let status = StatusCode::from_u16(web::status(error.class)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    text(status, &format!("{}\n", error.message))
}

async fn perform(
    core: &Arc<Core>,
    asked: &FileRequest,
    request: HttpRequest<Incoming>,
    peer: SocketAddr,
) -> Result<Response<HttpBody>, HdfsError> {
    let now_s = core.clock.now_ms() / 1000;
    web::verify(core.config.link_secret.as_deref(), request.method().as_str(), asked, now_s)?;
    match *request.method() {
        Method::GET | Method::HEAD => get(core, asked, request, peer).await,
        Method::PUT => write::put(core, asked, request, peer).await,
        Method::DELETE => write::delete(core, asked, &request, peer).await,
        _ => {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD, PUT and DELETE are served here.\n");
            set(&mut response, "Allow", "GET, HEAD, PUT, DELETE");
            Ok(response)
        }
    }
}

fn text(status: StatusCode, text: &str) -> Response<HttpBody> {
    answer(status, Some("text/plain; charset=utf-8"), text.to_owned().into())
}

/// What a path leads to.
enum Found {
    Directory,
    File(File),
    /// A file that only a client can read: it is being written, or is encrypted.
    ForClients,
}

/// A file, and what of it is to be sent.
struct File {
    representation: Representation,
    selected: Selected,
    /// The ranges to send: one, or several in as many parts.
    ranges: Vec<FileRange>,
}

async fn get(
    core: &Arc<Core>,
    asked: &FileRequest,
    request: HttpRequest<Incoming>,
    peer: SocketAddr,
) -> Result<Response<HttpBody>, HdfsError> {
    let open = open_request(asked);
    let caller = webhdfs::caller(core, &open, peer).await?;
    let call = Call::without_rpc(&caller);
    let found = find(core, &call, &open, &request);
    let cmd = if matches!(found, Ok(Found::Directory)) { "listStatus" } else { "open" };
    if !matches!(found, Ok(Found::ForClients)) {
        audit_line(core, &caller, cmd, &asked.path, audit::allowed(&found));
    }
    match found? {
        Found::Directory => directory(core, &call, asked, &request),
        Found::File(file) => Ok(match respond(core, asked, file, request.method() == Method::HEAD).await {
            Some(response) => response,
            None => send_on(core, &call, &open)?,
        }),
        Found::ForClients => for_clients(core, &call, asked, &open, request, peer).await,
    }
}

fn audit_line(core: &Core, caller: &Caller, cmd: &str, path: &str, allowed: Option<bool>) {
    if audit::is_on()
        && let Some(allowed) = allowed
    {
        let tail = &audit::tail_without_rpc(core);
        let event = audit::Event { cmd, src: Some(path), dst: None, has_perm: false, allowed, proto: "webhdfs", tail };
        audit::log(core, caller, &event);
    }
}

/// The WebHDFS request for the whole of a file.
fn open_request(asked: &FileRequest) -> Request {
    Request {
        path: asked.path.clone(),
        user: asked.user.clone(),
        do_as: asked.do_as.clone(),
        namenode_address: None,
        no_redirect: false,
        one_hop: None,
        excluded_datanodes: Vec::new(),
        filter: None,
        has_data: false,
        operation: Operation::Open { offset: 0, length: None },
    }
}

/// Resolves the path, checks the caller's rights, and selects what is to be sent: all of one state of the file.
fn find(core: &Core, call: &Call<'_>, open: &Request, request: &HttpRequest<Incoming>) -> Result<Found, HdfsError> {
    let (src, env) = (open.path.as_str(), core.env(call));
    let asked = GetBlockLocations { src, offset: 0, length: i64::MAX };
    let namespace = core.namespace.read();
    match namespace.get_file_info(&env, src, |status| status.map(|s| s.file_type))? {
        None => return Err(HdfsError::file_not_found(format!("File does not exist: {src}"))),
        Some(FileType::Directory) => return Ok(Found::Directory),
        Some(_) => {}
    }
    let (file, access_time) = namespace.check_block_locations(&env, &asked)?;
    let shown = namespace.block_locations_header(file);
    if shown.under_construction || shown.encryption.is_some() {
        return Ok(Found::ForClients);
    }
    let last = file.blocks().last().map(|block| namespace.blocks.block(*block));
    let representation = Representation::of(&file.status(b""), shown.file_length, last)?;
    let is_get = request.method() == Method::GET;
    let selected = web::select(is_get, request.headers(), &representation);
    let wanted = match &selected {
        Selected::Whole if is_get => std::iter::once(0..representation.length).collect(),
        Selected::Parts(parts) => parts.clone(),
        _ => Vec::new(),
    };
    let address = core.local_data.read().as_ref().and_then(|d| redirect::of_datanode(&namespace, &d.datanode_uuid()));
    let url = address.map(|address| one_hop::url_at(core, open, &address)).unwrap_or_default();
    let range = |Range { start, end }: Range<u64>| {
        let (mut blocks, length) = (Vec::new(), end - start);
        if length > 0 {
            namespace.lend_block_locations(&env, file, start, length, &mut |part| {
                if let BlockLocationsPart::Block(block) = part {
                    blocks.push((block.offset, block.block));
                }
            });
        }
        FileRange { pool_id: core.id.block_pool_id.clone(), blocks, offset: start, length, url: url.clone() }
    };
    let ranges: Vec<FileRange> = wanted.into_iter().map(range).collect();
    drop(namespace);
    if access_time.is_some() && is_get && !ranges.is_empty() {
        core.set_access_time(&env, &asked);
    }
    Ok(Found::File(File { representation, selected, ranges }))
}

/// The answer about a file; `None` where its bytes are not here.
async fn respond(core: &Arc<Core>, asked: &FileRequest, file: File, is_head: bool) -> Option<Response<HttpBody>> {
    let File { representation, selected, mut ranges } = file;
    let length = representation.length;
    let (status, body, about_body) = match &selected {
        Selected::Whole if is_head => (StatusCode::OK, HttpBody::stream(1, Some(length)).1, None),
        Selected::Whole => (StatusCode::OK, one_hop::body(core, ranges.pop()?).await?, None),
        Selected::Parts(parts) if parts.len() == 1 => {
            let part = web::content_range(parts.first()?, length);
            (
                StatusCode::PARTIAL_CONTENT,
                one_hop::body(core, ranges.pop()?).await?,
                Some((header::CONTENT_RANGE, part)),
            )
        }
        Selected::Parts(parts) => {
            let frame = Multipart::new(rand::random(), web::content_type(&asked.path), length);
            let content_type = frame.content_type();
            let body = several(core, frame, parts.clone(), ranges).await?;
            (StatusCode::PARTIAL_CONTENT, body, Some((header::CONTENT_TYPE, content_type)))
        }
        Selected::NotModified => (StatusCode::NOT_MODIFIED, HttpBody::empty(), None),
        Selected::PreconditionFailed => (StatusCode::PRECONDITION_FAILED, HttpBody::empty(), None),
        Selected::Unsatisfiable => {
            let whole = format!("bytes */{length}");
            (StatusCode::RANGE_NOT_SATISFIABLE, HttpBody::empty(), Some((header::CONTENT_RANGE, whole)))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    web::describe(response.headers_mut(), asked, Some(&representation));
    if let Some((name, value)) = about_body {
        set(&mut response, name.as_str(), &value);
    }
    Some(response)
}

/// A body of several parts. The first has begun to be read when this is done.
async fn several(
    core: &Arc<Core>,
    frame: Multipart<'static>,
    parts: Vec<Range<u64>>,
    ranges: Vec<FileRange>,
) -> Option<HttpBody> {
    let mut ranges = ranges.into_iter();
    let first = one_hop::body(core, ranges.next()?).await?;
    let (sender, body) = HttpBody::stream(PIECES_MAX, Some(frame.content_length(&parts)));
    let core = Arc::clone(core);
    tokio::spawn(async move {
        if let Err(error) = send_parts(&core, &sender, &frame, parts, first, ranges).await {
            tracing::info!("an answer with several ranges breaks off: {error}");
            sender.fail(error);
        }
    });
    Some(body)
}

async fn send_parts(
    core: &Core,
    sender: &BodySender,
    frame: &Multipart<'_>,
    parts: Vec<Range<u64>>,
    first: HttpBody,
    mut rest: impl Iterator<Item = FileRange>,
) -> io::Result<()> {
    let mut first = Some(first);
    for part in &parts {
        let mut body = match first.take() {
            Some(first) => first,
            None => {
                let range = rest.next().ok_or(io::ErrorKind::UnexpectedEof)?;
                one_hop::body(core, range).await.ok_or(io::ErrorKind::NotFound)?
            }
        };
        sender.send(frame.head(part).into()).await?;
        while let Some(piece) = body.frame().await {
            if let Ok(data) = piece?.into_data() {
                sender.send(data).await?;
            }
        }
    }
    sender.send(frame.end().into()).await
}

/// A redirect to a DataNode that has the beginning of the file.
fn send_on(core: &Core, call: &Call<'_>, open: &Request) -> Result<Response<HttpBody>, HdfsError> {
    let address = redirect::for_data(&core.namespace.read(), &core.env(call), &open.path, Some(0), &[])?;
    Ok(redirect_to(core, open, &address))
}

fn redirect_to(core: &Core, request: &Request, address: &str) -> Response<HttpBody> {
    let mut response = answer(StatusCode::TEMPORARY_REDIRECT, None, HttpBody::empty());
    set(&mut response, "Location", &one_hop::url_at(core, request, address));
    response
}

/// A file that a client reads: the DataNode of this process has one. As far as the file's writer has flushed it; whole.
async fn for_clients(
    core: &Core,
    call: &Call<'_>,
    asked: &FileRequest,
    open: &Request,
    request: HttpRequest<Incoming>,
    peer: SocketAddr,
) -> Result<Response<HttpBody>, HdfsError> {
    let datanode = core.local_data.read().clone();
    let Some(url) = datanode.and_then(|datanode| one_hop::hand_over_url(core, open, &*datanode)) else {
        return send_on(core, call, open);
    };
    let mut response = one_hop::hand_over(core, request, &url, peer).await;
    if response.status() == StatusCode::OK {
        response.headers_mut().remove(header::ACCESS_CONTROL_ALLOW_METHODS);
        response.headers_mut().remove(header::ACCESS_CONTROL_ALLOW_ORIGIN);
        web::describe(response.headers_mut(), asked, None);
    }
    Ok(response)
}

/// A directory: as a page where the client says that it reads HTML, else as LISTSTATUS has it.
fn directory(
    core: &Core,
    call: &Call<'_>,
    asked: &FileRequest,
    request: &HttpRequest<Incoming>,
) -> Result<Response<HttpBody>, HdfsError> {
    let accept = request.headers().get(header::ACCEPT).and_then(|a| a.to_str().ok()).unwrap_or("");
    if !accept.contains("text/html") {
        let body = list_all(core, call, &asked.path, Form::Json(Listing::Whole))?;
        let mut response = answer(StatusCode::OK, Some(JSON), body);
        set(&mut response, "Vary", "Accept");
        return Ok(response);
    }
    let page = Form::Page(DirectoryPage::new(&asked.path, asked.user.as_deref()));
    let body = list_all(core, call, &asked.path, page)?;
    let mut response = answer(StatusCode::OK, Some("text/html; charset=utf-8"), body);
    set(&mut response, "Vary", "Accept");
    set(&mut response, "Content-Security-Policy", "default-src 'none'");
    Ok(response)
}
