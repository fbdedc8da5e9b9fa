//! WebHDFS: the same operations as the RPC door, as JSON. Source: `NamenodeWebHdfsMethods.java`, Hadoop 3.5.0.

use super::{answer, attributes, features, one_hop, redirect, set, snapshots};
use crate::audit;
use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::safe_mode::What;
use crate::walks;
use hyper::body::Body as _;
use std::net::SocketAddr;
use std::sync::Arc;
use surus_namespace::edit_op::RenameOptions;
use surus_namespace::ops::concat::Concat;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::erasure_coding::{
    ChangeErasureCodingPolicy, PolicyChange, SetErasureCodingPolicy, UnsetErasureCodingPolicy,
};
use surus_namespace::ops::get_block_locations::{BlockLocationsPart, GetBlockLocations};
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::rename::{Rename, Rename2};
use surus_namespace::ops::set_owner::SetOwner;
use surus_namespace::ops::set_permission::SetPermission;
use surus_namespace::ops::set_quota::{DONT_SET, SetQuota, command};
use surus_namespace::ops::set_replication::SetReplication;
use surus_namespace::ops::set_storage_policy::SetStoragePolicy;
use surus_namespace::ops::set_times::SetTimes;
use surus_namespace::ops::truncate::Truncate;
use surus_net::http::{
    FileRange, HttpBody, Incoming, Method as HttpMethod, Request as HttpRequest, Response, StatusCode,
};
use surus_types::{Caller, ExceptionClass, FileStatus, FsPermission, HdfsError, RpcIds, TxId};
use surus_webhdfs::json::{self, Listing, ServerDefaults};
use surus_webhdfs::web::DirectoryPage;
use surus_webhdfs::{JSON, Method, OCTET_STREAM, Operation, Request, Side};
use tokio::sync::oneshot;

/// Mode of a new directory where the request names none.
const DIRECTORY_MODE: FsPermission = FsPermission(0o755);

/// How long Hadoop's authentication cookie holds (`hadoop.http.authentication.token.validity`).
const COOKIE_LIFE_MS: i64 = 36_000_000;
/// Nobody reads the cookie back: with simple authentication the name in the query counts. It only has the right look.
const COOKIE_SIGNATURE: &str = "c3VydXMgcmVhZHMgbm8gY29va2llcyBoZXJlLiAgICA=";

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
        let expires_ms = core.clock.now_ms() + COOKIE_LIFE_MS;
        set(&mut response, "Set-Cookie", &surus_webhdfs::auth_cookie(&user, expires_ms, COOKIE_SIGNATURE));
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
    let call = Call { caller: &caller, rpc: &RpcIds::NONE, body: &[], waited: true, audit_tail: "" };
    let has_body = !http.body().is_end_stream();
    let here = may_be_here.then(|| one_hop::answer(core, &call, &request, has_body)).flatten();
    let is_here = here.is_some();
    let outcome = match (here, method) {
        (Some(answer), _) => answer.map(|answer| (answer, TxId(0))),
        (None, Method::Get) => read(core, &call, &request).map(|answer| (answer, TxId(0))),
        (None, _) => write(core, &call, &request),
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

/// The line of the audit log, for the operations that leave one here; those sent to a DataNode come back by RPC.
fn log(core: &Core, caller: &Caller, request: &Request, is_read_here: bool, allowed: bool) {
    let (cmd, has_perm) = match &request.operation {
        Operation::Open { .. } if is_read_here => ("open", false),
        Operation::GetFileStatus | Operation::GetFileLinkStatus => ("getfileinfo", false),
        Operation::ListStatus | Operation::ListStatusBatch { .. } => ("listStatus", false),
        Operation::GetContentSummary => ("contentSummary", false),
        Operation::GetQuotaUsage => ("quotaUsage", false),
        Operation::CheckAccess { .. } => ("checkAccess", false),
        Operation::Mkdirs { .. } => ("mkdirs", true),
        Operation::Rename { .. } => ("rename", true),
        Operation::Delete { .. } => ("delete", false),
        Operation::SetReplication { .. } => ("setReplication", false),
        Operation::SetOwner { .. } => ("setOwner", true),
        Operation::SetPermission { .. } => ("setPermission", true),
        Operation::SetTimes { .. } => ("setTimes", true),
        Operation::Truncate { .. } => ("truncate", true),
        Operation::SetStoragePolicy { .. } => ("setStoragePolicy", true),
        Operation::UnsetStoragePolicy => ("unsetStoragePolicy", true),
        Operation::SetQuota { namespace_quota, space_quota } => (command(*namespace_quota, *space_quota), false),
        Operation::SetQuotaByStorageType { space_quota, .. } => (command(DONT_SET, *space_quota), false),
        other => match attributes::audited(other).or_else(|| snapshots::audited(other)) {
            Some(line) => line,
            None => return,
        },
    };
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

fn read(core: &Core, call: &Call<'_>, request: &Request) -> Result<Answer, HdfsError> {
    let (env, src) = (core.env(call), request.path.as_str());
    let namespace = core.namespace.read();
    let mut out = Vec::new();
    let missing = || Err(HdfsError::file_not_found(format!("File does not exist: {src}")));
    match &request.operation {
        Operation::Open { offset, .. } => {
            let address = redirect::for_data(&namespace, &env, src, Some(*offset), &request.excluded_datanodes)?;
            return Ok(send_to(core, request, &address));
        }
        Operation::GetFileChecksum => {
            let address = redirect::for_data(&namespace, &env, src, None, &request.excluded_datanodes)?;
            return Ok(send_to(core, request, &address));
        }
        Operation::GetFileStatus | Operation::GetFileLinkStatus => {
            let put = |status: Option<FileStatus<'_>>| status.map(|s| json::file_status(&mut out, &s));
            let found = match request.operation {
                Operation::GetFileLinkStatus => namespace.get_file_link_info(&env, src, put)?,
                _ => namespace.get_file_info(&env, src, put)?,
            };
            if found.is_none() {
                return missing();
            }
        }
        Operation::ListStatus => {
            drop(namespace);
            return list_all(core, call, src, Form::Json(Listing::Whole)).map(Answer::Stream);
        }
        Operation::ListStatusBatch { start_after } => {
            drop(namespace);
            Listing::Batch.start(&mut out);
            let form = Form::Json(Listing::Batch);
            let (remaining, _) = list_page(core, call, src, start_after.as_bytes(), &form, true, &mut out)?;
            Listing::Batch.end(&mut out, remaining);
        }
        Operation::GetContentSummary => {
            drop(namespace);
            json::content_summary(&mut out, &core.totals(call, src, false)?);
        }
        Operation::GetQuotaUsage => {
            drop(namespace);
            json::quota_usage(&mut out, &core.totals(call, src, true)?);
        }
        Operation::GetHomeDirectory => {
            json::path(&mut out, &format!("{}/{}", namespace.config.home_prefix, call.caller.user))
        }
        Operation::GetTrashRoot => json::path(&mut out, &features::trash_root(&namespace, &env, src)),
        Operation::GetDelegationToken => json::no_token(&mut out),
        Operation::GetServerDefaults => json::server_defaults(&mut out, &server_defaults(core)),
        Operation::GetStatus => json::fs_status(&mut out, &namespace.blocks.fs_stats()),
        Operation::CheckAccess { action } => {
            namespace.check_access_of(&env, src, *action)?;
            return Ok(Answer::Empty { typed: false });
        }
        Operation::GetFileBlockLocations { offset, length } | Operation::GetBlockLocations { offset, length } => {
            let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            let length = length.map_or(i64::MAX, signed);
            let asked = GetBlockLocations { src, offset: signed(*offset), length };
            let is_old = matches!(request.operation, Operation::GetBlockLocations { .. });
            return located(core, &namespace, &env, &asked, is_old);
        }
        other => {
            let result = features::read(&namespace, &env, src, other)
                .or_else(|| attributes::read(&namespace, &env, src, other))
                .or_else(|| snapshots::read(&namespace, &env, src, other));
            return result.unwrap_or_else(|| Err(not_here(other))).map(Answer::Json);
        }
    }
    Ok(Answer::Json(out))
}

fn not_here(operation: &Operation) -> HdfsError {
    let name = if let Operation::Unsupported(name) = operation { name } else { "NULL" };
    surus_webhdfs::unsupported_error(name)
}

fn server_defaults(core: &Core) -> ServerDefaults {
    let defaults = &core.config.server_defaults;
    ServerDefaults {
        replication: u16::try_from(defaults.replication).unwrap_or(u16::MAX),
        write_packet_size: defaults.write_packet_size,
        file_buffer_size: defaults.file_buffer_size,
        checksum_type: defaults.checksum_type as u8,
        trash_interval_minutes: defaults.trash_interval_minutes,
        block_size: defaults.block_size,
        bytes_per_checksum: defaults.bytes_per_checksum,
    }
}

fn located(
    core: &Core,
    namespace: &surus_namespace::Namespace,
    env: &surus_namespace::Env<'_>,
    asked: &GetBlockLocations<'_>,
    is_old: bool,
) -> Result<Answer, HdfsError> {
    let (file, _) = namespace.check_block_locations(env, asked)?;
    let header = namespace.block_locations_header(file);
    let mut out = Vec::new();
    // The JSON of several blocks needs their views at once, and each is lent only while it is visited.
    let mut blocks = Vec::new();
    namespace.lend_block_locations(env, file, asked.offset as u64, asked.length as u64, &mut |part| {
        if let BlockLocationsPart::Block(block) = part {
            let storages: Vec<_> = block
                .replicas
                .iter()
                .filter_map(|r| namespace.blocks.datanodes.find_storage_anywhere(r.storage_uuid))
                .collect();
            blocks.push((block.block, block.offset, block.corrupt, storages));
        }
    });
    let replicas: Vec<Vec<_>> = blocks
        .iter()
        .map(|(.., storages)| storages.iter().map(|s| namespace.blocks.datanodes.replica(*s)).collect())
        .collect();
    let views: Vec<_> = blocks
        .iter()
        .zip(&replicas)
        .map(|((block, offset, corrupt, _), replicas)| surus_types::LocatedBlock {
            block: *block,
            offset: *offset,
            corrupt: *corrupt,
            replicas,
        })
        .collect();
    match is_old {
        true => json::located_blocks(&mut out, &core.id.block_pool_id, &header, &views),
        false => json::block_locations(&mut out, &views),
    }
    Ok(Answer::Json(out))
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
        let call = Call { caller: &caller, rpc: &RpcIds::NONE, body: &[], waited: true, audit_tail: "" };
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
    let env = core.env(call);
    let namespace = core.namespace.read();
    let limit = namespace.config.list_limit;
    let mut last = Vec::new();
    let end = namespace.get_listing(&env, src, start_after, false, limit, |entry| {
        form.entry(out, first, &entry.status);
        first = false;
        last.clear();
        last.extend_from_slice(entry.status.name);
        true
    })?;
    match end {
        Some(end) => Ok((end.remaining, last)),
        None => Err(HdfsError::file_not_found(format!("File {src} does not exist."))),
    }
}

pub(super) fn settled(result: Result<Done, Refused>) -> Result<TxId, HdfsError> {
    match result {
        Ok(done) => Ok(done.txid),
        Err(Refused::Error(error) | Refused::Park { otherwise: error, .. }) => Err(error),
    }
}

/// A change that answers true or false.
fn boolean(result: Result<Done, Refused>, value: bool) -> Outcome {
    let txid = settled(result)?;
    let mut body = Vec::new();
    json::boolean(&mut body, value);
    Ok((Answer::Json(body), txid))
}

/// A change that answers nothing.
fn nothing(result: Result<Done, Refused>) -> Outcome {
    Ok((Answer::Empty { typed: true }, settled(result)?))
}

fn change_ec_policy(core: &Core, call: &Call<'_>, name: &str, change: PolicyChange) -> Outcome {
    nothing(core.write_if(call, None, &ChangeErasureCodingPolicy { name, change }, |_, ()| {}))
}

fn set_storage_policy(core: &Core, call: &Call<'_>, src: &str, policy: Option<&str>) -> Outcome {
    let operation = SetStoragePolicy { src, policy };
    nothing(core.write_if(call, None, &operation, |_, ()| {}))
}

fn set_quota(core: &Core, call: &Call<'_>, operation: &SetQuota<'_>) -> Outcome {
    nothing(core.write_if(call, None, operation, |_, ()| {}))
}

fn write_snapshots(core: &Core, call: &Call<'_>, src: &str, operation: &Operation) -> Outcome {
    let mut body = Vec::new();
    let Some(result) = snapshots::write(core, call, src, operation, &mut body) else { return Err(not_here(operation)) };
    let txid = settled(result)?;
    let answer = if body.is_empty() { Answer::Empty { typed: true } } else { Answer::Json(body) };
    Ok((answer, txid))
}

fn write(core: &Core, call: &Call<'_>, request: &Request) -> Outcome {
    let src = request.path.as_str();
    let mut value = false;
    match &request.operation {
        Operation::Create(_) => {
            let address = redirect::for_create(&core.namespace.read(), &core.env(call), &request.excluded_datanodes)?;
            Ok((send_to(core, request, &address), TxId(0)))
        }
        Operation::Append { .. } => {
            let excluded = &request.excluded_datanodes;
            let address = redirect::for_data(&core.namespace.read(), &core.env(call), src, None, excluded)?;
            Ok((send_to(core, request, &address), TxId(0)))
        }
        Operation::Mkdirs { permission, unmasked } => {
            let permission = permission.unwrap_or(DIRECTORY_MODE);
            let operation = Mkdirs { src, permission, unmasked: *unmasked, create_parent: true };
            let what = What("Cannot create directory ", src);
            boolean(core.write(call, what, &operation, |_, made| value = *made), true)
        }
        Operation::Rename { destination, options: None } => {
            let operation = Rename { src, dst: destination };
            let result = core.write(call, What("Cannot rename ", src), &operation, |_, renamed| value = *renamed);
            boolean(result, value)
        }
        Operation::Rename { destination, options: Some(options) } => {
            let options = RenameOptions { overwrite: options.overwrite, to_trash: options.to_trash };
            let operation = Rename2 { src, dst: destination, options };
            nothing(walks::rename(core, call, src, &operation, |_, ()| {}))
        }
        Operation::SetReplication { replication } => {
            let replication = replication.map_or(core.config.server_defaults.replication, u32::from);
            let operation = SetReplication { src, replication };
            let result = core.write_if(call, None, &operation, |_, set| value = *set);
            boolean(result, value)
        }
        Operation::SetOwner { owner, group } => {
            let operation = SetOwner { src, user: owner.as_deref(), group: group.as_deref() };
            nothing(core.write(call, What("Cannot set owner for ", src), &operation, |_, ()| {}))
        }
        Operation::SetPermission { permission } => {
            let operation = SetPermission { src, permission: *permission };
            nothing(core.write(call, What("Cannot set permission for ", src), &operation, |_, ()| {}))
        }
        Operation::SetTimes { modification_time_ms, access_time_ms } => {
            let operation = SetTimes { src, modification_time: *modification_time_ms, access_time: *access_time_ms };
            nothing(core.write(call, What("Cannot set times ", src), &operation, |_, ()| {}))
        }
        Operation::SetQuota { namespace_quota, space_quota } => {
            let (namespace_quota, space_quota) = (*namespace_quota, *space_quota);
            set_quota(core, call, &SetQuota { src, namespace_quota, space_quota, storage_type: None })
        }
        Operation::SetQuotaByStorageType { storage_type, space_quota } => {
            let (storage_type, space_quota) = (Some(*storage_type), *space_quota);
            set_quota(core, call, &SetQuota { src, namespace_quota: DONT_SET, space_quota, storage_type })
        }
        Operation::SetEcPolicy { policy } => {
            let operation = SetErasureCodingPolicy { src, policy: Some(policy) };
            nothing(core.write_if(call, None, &operation, |_, ()| {}))
        }
        Operation::UnsetEcPolicy => {
            let txid = settled(core.write_if(call, None, &UnsetErasureCodingPolicy { src }, |_, ()| {}))?;
            Ok((Answer::Empty { typed: false }, txid))
        }
        Operation::EnableEcPolicy { policy } => change_ec_policy(core, call, policy, PolicyChange::Enable),
        Operation::DisableEcPolicy { policy } => change_ec_policy(core, call, policy, PolicyChange::Disable),
        Operation::SetStoragePolicy { policy } => set_storage_policy(core, call, src, Some(policy)),
        Operation::UnsetStoragePolicy => {
            let (_, txid) = set_storage_policy(core, call, src, None)?;
            Ok((Answer::Empty { typed: false }, txid))
        }
        Operation::SatisfyStoragePolicy => Err(crate::rpc::client::storage::satisfier_is_off(core)),
        Operation::Truncate { new_length } => {
            let new_length = i64::try_from(*new_length).unwrap_or(i64::MAX);
            // Source: `NamenodeWebHdfsMethods.post` (TRUNCATE), Hadoop 3.5.0: a client of its own for each request.
            let client_name = format!("DFSClient_{}", rand::random::<i64>());
            let operation = Truncate { src, new_length, client_name: &client_name };
            let result = core.write_if(call, None, &operation, |_, done| value = *done);
            boolean(result, value)
        }
        Operation::Concat { sources } => {
            let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
            let operation = Concat { target: src, sources: &sources };
            let txid = settled(core.write(call, What("Cannot concat ", src), &operation, |_, ()| {}))?;
            Ok((Answer::Empty { typed: false }, txid))
        }
        Operation::Delete { recursive } => {
            let operation = Delete { src, recursive: *recursive };
            let below = walks::Below::delete(src);
            let what = What("Cannot delete ", src);
            let result = core.write_below(call, what, &operation, below, |_, deleted| value = *deleted);
            boolean(result, value)
        }
        other => match attributes::write(core, call, src, other) {
            Some(result) => nothing(result),
            None => write_snapshots(core, call, src, other),
        },
    }
}
