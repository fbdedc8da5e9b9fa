//! WebHDFS: the same operations as the RPC door, as JSON. Source: `NamenodeWebHdfsMethods.java`, Hadoop 3.5.0.

use super::file_system::CallFs;
use super::{answer, audited, one_hop, redirect, set};
use crate::audit;
use crate::call::{Call, Done, Refused};
use crate::core::Core;
use hyper::body::Body as _;
use std::net::SocketAddr;
use std::sync::Arc;
use surus_net::http::{
    FileRange, HttpBody, Incoming, Method as HttpMethod, Request as HttpRequest, Response, StatusCode,
};
use surus_types::{Caller, ExceptionClass, FileStatus, HdfsError, TxId};
use surus_webhdfs::json::{self, Listing};
use surus_webhdfs::web::DirectoryPage;
use surus_webhdfs::{FileSystem, JSON, Method, OCTET_STREAM, Operation, Request, Side};
use tokio::sync::oneshot;

/// What a request comes to.
pub(super) enum Answer {
    /// A JSON body.
    Json(Vec<u8>),
    /// JSON under way.
    Stream(HttpBody),
    /// Nothing to say; with or without a content type, as Hadoop's methods differ.
    Empty { typed: bool },
    /// Go to this URL of a DataNode.
    Redirect(String),
    /// A range of a file that the DataNode in this process is to have.
    Data(FileRange),
    /// This URL of the DataNode in this process, which takes the request as it came.
    HandOver(String),
}

/// An answer, and the transaction it must wait for.
type Outcome = Result<(Answer, TxId), HdfsError>;

pub async fn serve(core: &Arc<Core>, request: HttpRequest<Incoming>, peer: SocketAddr) -> Response<HttpBody> {
    if request.method() == HttpMethod::OPTIONS {
        // As Hadoop 3.5.0, whatever is asked for.
        return answer(StatusCode::OK, Some("text/html"), HttpBody::empty());
    }
    let mut outcome = outcome(core, &request, peer, true).await;
    if let Ok((Answer::Data(range), _)) = outcome {
        match one_hop::read(core, range).await {
            Some(response) => return response,
            // The client may read it elsewhere.
            None => outcome = self::outcome(core, &request, peer, false).await,
        }
    }
    let mut response = match outcome {
        Ok((Answer::HandOver(url), _)) => return one_hop::hand_over(core, request, &url, peer).await,
        Ok((answer, txid)) => {
            core.durable(txid).await;
            respond(answer)
        }
        Err(error) => respond_error(&error),
    };
    if let Some(user) = surus_webhdfs::user_name(request.uri().query().unwrap_or("")) {
        set(&mut response, "Set-Cookie", &surus_webhdfs::new_auth_cookie(&user, core.clock.now_ms()));
    }
    response
}

fn respond(what: Answer) -> Response<HttpBody> {
    match what {
        Answer::Json(body) => answer(StatusCode::OK, Some(JSON), body.into()),
        Answer::Stream(body) => answer(StatusCode::OK, Some(JSON), body),
        Answer::Empty { typed } => answer(StatusCode::OK, typed.then_some(OCTET_STREAM), HttpBody::empty()),
        Answer::Redirect(location) | Answer::HandOver(location) | Answer::Data(FileRange { url: location, .. }) => {
            let mut response = answer(StatusCode::TEMPORARY_REDIRECT, Some(OCTET_STREAM), HttpBody::empty());
            set(&mut response, "Location", &location);
            response
        }
    }
}

pub fn respond_error(error: &HdfsError) -> Response<HttpBody> {
    let mut body = Vec::new();
    json::remote_exception(&mut body, error);
    let status = StatusCode::from_u16(error.class.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer(status, Some(JSON), body.into())
}

/// `may_be_here`: the answer may come from the DataNode in this process, where the client wants that.
async fn outcome(core: &Arc<Core>, http: &HttpRequest<Incoming>, peer: SocketAddr, may_be_here: bool) -> Outcome {
    let Some(method) = Method::from_http(http.method().as_str()) else {
        let text = format!("{} is not supported", http.method());
        return Err(HdfsError::new(ExceptionClass::UnsupportedOperation, text));
    };
    let request = surus_webhdfs::parse(Side::NameNode, method, http.uri().path(), http.uri().query().unwrap_or(""))?;
    let caller = caller(core, &request, peer).await?;
    let call = Call::without_rpc(&caller);
    let has_body = !http.body().is_end_stream();
    let here = may_be_here.then(|| one_hop::answer(core, &call, &request, has_body)).flatten();
    let is_here = here.is_some();
    let outcome = match here {
        Some(answer) => answer.map(|answer| (answer, TxId(0))),
        None => answered(core, &call, &request),
    };
    if audit::is_on()
        && let Some(allowed) = audit::allowed(&outcome)
    {
        // What is handed over comes back by RPC.
        let is_read_here = is_here && !matches!(outcome, Ok((Answer::HandOver(_), _)));
        log(core, &caller, &request, is_read_here, allowed);
    }
    outcome
}

/// The line of the audit log, for the operations that leave one here.
fn log(core: &Core, caller: &Caller, request: &Request, is_read_here: bool, allowed: bool) {
    let Some((cmd, has_perm)) = audited::audited(&request.operation, is_read_here) else { return };
    let dst =
        if let Operation::Rename { destination, .. } = &request.operation { Some(destination.as_str()) } else { None };
    let tail = &audit::tail_without_rpc(core);
    let event = audit::Event { cmd, src: Some(&request.path), dst, has_perm, allowed, proto: "webhdfs", tail };
    audit::log(core, caller, &event);
}

/// Who asks: `user.name` or the static user, or whom that one may act as.
pub(super) async fn caller(core: &Arc<Core>, request: &Request, peer: SocketAddr) -> Result<Caller, HdfsError> {
    let real: Arc<str> = request.user.as_deref().unwrap_or(&core.config.static_user).into();
    let address: Arc<str> = peer.ip().to_canonical().to_string().into();
    let user: Arc<str> = match &request.do_as {
        Some(user) => user.as_str().into(),
        None => Arc::clone(&real),
    };
    let (sender, receiver) = oneshot::channel();
    let now_ms = core.clock.monotonic_ms();
    let known = core.callers.groups().get(&user, now_ms, || Box::new(move |groups| drop(sender.send(groups))));
    let groups = match known {
        Some(groups) => groups,
        None => receiver.await.unwrap_or_else(|_| Arc::from([])),
    };
    if user == real {
        return Ok(core.callers.caller(user, None, groups, address));
    }
    core.proxies.read().authorize(&real, &user, &groups, peer.ip().to_canonical())?;
    Ok(core.callers.caller(user, Some(real), groups, address))
}

/// A redirect, or its URL as JSON where the client wants to follow by hand.
fn send_to(core: &Core, request: &Request, host_port: &str) -> Answer {
    let location = surus_webhdfs::location(host_port, request, &core.client_address());
    if !request.no_redirect {
        return Answer::Redirect(location);
    }
    let mut body = Vec::new();
    json::location(&mut body, &location);
    Answer::Json(body)
}

/// What the NameNode does alone: it sends clients on to DataNodes, and lists a directory in pieces.
fn answered(core: &Core, call: &Call<'_>, request: &Request) -> Outcome {
    let (src, excluded) = (request.path.as_str(), &request.excluded_datanodes);
    let for_data = |offset| redirect::for_data(&core.namespace.read(), &core.env(call), src, offset, excluded);
    let address = match &request.operation {
        Operation::Open { offset, .. } => for_data(Some(*offset))?,
        Operation::GetFileChecksum | Operation::Append { .. } => for_data(None)?,
        Operation::Create(_) => redirect::for_create(&core.namespace.read(), &core.env(call), excluded)?,
        Operation::ListStatus => {
            let body = list_all(core, call, src, Form::Json(Listing::Whole))?;
            return Ok((Answer::Stream(body), TxId(0)));
        }
        operation => {
            let fs = CallFs::new(core, call);
            let answer = match surus_webhdfs::answer(&fs, Side::NameNode, src, operation)? {
                surus_webhdfs::Answer::Json(body) => Answer::Json(body),
                surus_webhdfs::Answer::Empty { typed } => Answer::Empty { typed },
            };
            return Ok((answer, fs.txid()));
        }
    };
    Ok((send_to(core, request, &address), TxId(0)))
}

/// The whole of a directory, page by page: between pages the namespace is unlocked. What is more than one page leaves as
/// it is made, so that the client reads one page while the next is formatted and memory stays bounded.
pub(super) fn list_all(core: &Core, call: &Call<'_>, src: &str, form: Form) -> Result<HttpBody, HdfsError> {
    let mut page = Vec::new();
    form.start(&mut page);
    let (remaining, last) = list_page(core, call, src, &[], &form, true, &mut page)?;
    if remaining > 0 {
        return Ok(more_pages(core, call, src, form, page, last));
    }
    form.end(&mut page);
    Ok(page.into())
}

/// How a listing is written.
pub(super) enum Form {
    Json(Listing),
    /// For people.
    Page(DirectoryPage),
}

impl Form {
    fn start(&self, out: &mut Vec<u8>) {
        match self {
            Form::Json(listing) => listing.start(out),
            Form::Page(page) => page.start(out),
        }
    }

    fn entry(&self, out: &mut Vec<u8>, first: bool, status: &FileStatus<'_>) {
        match self {
            Form::Json(listing) => listing.entry(out, first, status),
            Form::Page(page) => page.entry(out, status),
        }
    }

    /// The end of a whole listing.
    fn end(&self, out: &mut Vec<u8>) {
        match self {
            Form::Json(listing) => listing.end(out, 0),
            Form::Page(page) => page.end(out),
        }
    }
}

/// `first`, and the pages from `last` on. An error in between can only break the connection off.
fn more_pages(core: &Core, call: &Call<'_>, src: &str, form: Form, first: Vec<u8>, mut last: Vec<u8>) -> HttpBody {
    let (me, caller, src) = (core.me.clone(), call.caller.clone(), src.to_owned());
    let page_bytes = first.len();
    let (mut first, mut remaining) = (Some(first), 1);
    HttpBody::Pulled(Box::new(move || {
        if let Some(first) = first.take() {
            return Some(Ok(first.into()));
        }
        if remaining == 0 {
            return None;
        }
        let Some(core) = me.upgrade() else { return Some(Err(std::io::ErrorKind::BrokenPipe.into())) };
        let call = Call::without_rpc(&caller);
        let mut page = Vec::with_capacity(page_bytes + page_bytes / 8);
        match list_page(&core, &call, &src, &last, &form, false, &mut page) {
            Ok(end) => (remaining, last) = end,
            Err(error) => return Some(Err(std::io::Error::other(error.message))),
        }
        if remaining == 0 {
            form.end(&mut page);
        }
        Some(Ok(page.into()))
    }))
}

/// One page; returns what remains and the last name.
fn list_page(
    core: &Core,
    call: &Call<'_>,
    src: &str,
    start_after: &[u8],
    form: &Form,
    mut first: bool,
    out: &mut Vec<u8>,
) -> Result<(u32, Vec<u8>), HdfsError> {
    let mut last = Vec::new();
    let put = |status: &FileStatus<'_>| {
        form.entry(out, first, status);
        first = false;
        last.clear();
        last.extend_from_slice(status.name);
    };
    match CallFs::new(core, call).list(src, start_after, put)? {
        Some(remaining) => Ok((remaining, last)),
        None => Err(HdfsError::file_not_found(format!("File {src} does not exist."))),
    }
}

/// The transaction that the answer to a change waits for.
pub(super) fn settled(result: Result<Done, Refused>) -> Result<TxId, HdfsError> {
    match result {
        Ok(done) => Ok(done.txid),
        Err(Refused::Error(error) | Refused::Park { otherwise: error, .. }) => Err(error),
    }
}
