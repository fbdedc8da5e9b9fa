//! PUT and DELETE of the plain web door.

use super::{open_request, redirect_to, refused, text};
use crate::call::Call;
use crate::core::Core;
use crate::http::{answer, one_hop, redirect, webhdfs};
use crate::safe_mode::What;
use crate::{audit, walks};
use http_body_util::BodyExt;
use std::net::SocketAddr;
use std::sync::Arc;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::get_block_locations::GetBlockLocations;
use surus_net::http::{HttpBody, Incoming, Request as HttpRequest, Response, StatusCode, drain, header};
use surus_types::{ExceptionClass, FileType, HdfsError};
use surus_webhdfs::web::{self, FileRequest, Representation};
use surus_webhdfs::{Create, CreateFlags, Operation, Request};

/// What is at a path.
enum Present {
    Nothing,
    Directory,
    /// Without a representation while it is being written, and where nobody asks for it.
    File(Option<Representation>),
}

/// `is_asked`: the representation of a file matters.
fn present(core: &Core, call: &Call<'_>, path: &str, is_asked: bool) -> Result<Present, HdfsError> {
    let env = core.env(call);
    let namespace = core.namespace.read();
    match namespace.get_file_info(&env, path, |status| status.map(|s| s.file_type))? {
        None => return Ok(Present::Nothing),
        Some(FileType::Directory) => return Ok(Present::Directory),
        Some(_) if !is_asked => return Ok(Present::File(None)),
        Some(_) => {}
    }
    let (file, _) = namespace.check_block_locations(&env, &GetBlockLocations { src: path, offset: 0, length: 0 })?;
    let shown = namespace.block_locations_header(file);
    if shown.under_construction {
        return Ok(Present::File(None));
    }
    let last = file.blocks().last().map(|block| namespace.blocks.block(*block));
    Ok(Present::File(Some(Representation::of(&file.status(b""), shown.file_length, last)?)))
}

impl Present {
    fn allows(&self, request: &HttpRequest<Incoming>) -> bool {
        match self {
            Present::File(file) => web::may_change(request.headers(), true, file.as_ref()),
            Present::Directory => web::may_change(request.headers(), true, None),
            Present::Nothing => web::may_change(request.headers(), false, None),
        }
    }
}

/// A PUT that may go on.
struct Prepared {
    is_new: bool,
    must_be_new: bool,
    create: Request,
}

/// Stores a file whole, over what was there: the body goes to the DataNode of this process as it comes.
pub async fn put(
    core: &Arc<Core>,
    asked: &FileRequest,
    request: HttpRequest<Incoming>,
    peer: SocketAddr,
) -> Result<Response<HttpBody>, HdfsError> {
    let caller = webhdfs::caller(core, &open_request(asked), peer).await?;
    let call = Call::without_rpc(&caller);
    let Prepared { is_new, must_be_new, create } = match prepare(core, &call, asked, &request) {
        Ok(prepared) => prepared,
        Err(refusal) => {
            if !request.headers().contains_key(header::EXPECT) {
                drain(request.into_body()).await;
            }
            return Ok(*refusal);
        }
    };
    let datanode = core.local_data.read().clone();
    let Some(url) = datanode.and_then(|datanode| one_hop::hand_over_url(core, &create, &*datanode)) else {
        let address = redirect::for_create(&core.namespace.read(), &core.env(&call), &[])?;
        return Ok(redirect_to(core, &create, &address));
    };
    let stored = one_hop::hand_over(core, request, &url, peer).await;
    if stored.status() != StatusCode::CREATED {
        let error = error_of(stored).await;
        return match error.class {
            ExceptionClass::FileAlreadyExists if must_be_new => {
                Ok(text(StatusCode::PRECONDITION_FAILED, "The file is there already.\n"))
            }
            _ => Err(error),
        };
    }
    let status = if is_new { StatusCode::CREATED } else { StatusCode::NO_CONTENT };
    let mut response = answer(status, None, HttpBody::empty());
    if let Ok(Present::File(Some(file))) = present(core, &call, &asked.path, true) {
        web::identify(response.headers_mut(), &file);
    }
    Ok(response)
}

/// Checks what can be checked before the body is read; else the answer.
fn prepare(
    core: &Core,
    call: &Call<'_>,
    asked: &FileRequest,
    request: &HttpRequest<Incoming>,
) -> Result<Prepared, Box<Response<HttpBody>>> {
    if request.headers().contains_key(header::CONTENT_RANGE) {
        return Err(Box::new(text(StatusCode::BAD_REQUEST, "A part of a file cannot be put.\n")));
    }
    let is_asked = web::is_conditional(request.headers());
    let before = present(core, call, &asked.path, is_asked).map_err(|error| Box::new(refused(&error)))?;
    if !before.allows(request) {
        return Err(Box::new(text(StatusCode::PRECONDITION_FAILED, "The file is not as the request wants it.\n")));
    }
    if let Present::Directory = before {
        return Err(Box::new(text(StatusCode::CONFLICT, "This is a directory.\n")));
    }
    let must_be_new = web::must_be_new(request.headers());
    let create = Request { operation: Operation::Create(create(!must_be_new)), ..open_request(asked) };
    Ok(Prepared { is_new: matches!(before, Present::Nothing), must_be_new, create })
}

fn create(overwrite: bool) -> Create {
    Create {
        permission: None,
        unmasked: None,
        overwrite,
        buffer_size: None,
        replication: None,
        block_size: None,
        create_parent: true,
        flags: CreateFlags::default(),
    }
}

/// The exception in an answer of the DataNode.
async fn error_of(response: Response<HttpBody>) -> HdfsError {
    let unclear = || HdfsError::new(ExceptionClass::Runtime, "the DataNode failed; see its log");
    let Ok(body) = response.into_body().collect().await else { return unclear() };
    let parsed: Result<serde_json::Value, _> = serde_json::from_slice(&body.to_bytes());
    let Ok(value) = parsed else { return unclear() };
    let exception = &value["RemoteException"];
    let class = exception["javaClassName"].as_str().and_then(ExceptionClass::from_java_name);
    match (class, exception["message"].as_str()) {
        (Some(class), message) => HdfsError::new(class, message.unwrap_or_default()),
        (None, Some(message)) => HdfsError::new(ExceptionClass::Runtime, message),
        (None, None) => unclear(),
    }
}

/// Deletes a file, or a directory: an empty one, or with `recursive=true` any.
pub async fn delete(
    core: &Arc<Core>,
    asked: &FileRequest,
    request: &HttpRequest<Incoming>,
    peer: SocketAddr,
) -> Result<Response<HttpBody>, HdfsError> {
    let src = asked.path.as_str();
    let caller = webhdfs::caller(core, &open_request(asked), peer).await?;
    let call = Call::without_rpc(&caller);
    let before = present(core, &call, src, web::is_conditional(request.headers()))?;
    if !before.allows(request) {
        return Ok(text(StatusCode::PRECONDITION_FAILED, "The file is not as the request wants it.\n"));
    }
    let (operation, mut deleted) = (Delete { src, recursive: asked.recursive }, false);
    let below = walks::Below::delete(src);
    let result = core.write_below(&call, What("Cannot delete ", src), &operation, below, |_, done| deleted = *done);
    let outcome = webhdfs::settled(result);
    super::audit_line(core, &caller, "delete", src, audit::allowed(&outcome));
    core.durable(outcome?).await;
    match deleted {
        true => Ok(answer(StatusCode::NO_CONTENT, None, HttpBody::empty())),
        false => Err(HdfsError::file_not_found(format!("File does not exist: {src}"))),
    }
}
