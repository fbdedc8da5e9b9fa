//! A request's way through the gateway: who asks and for whom, what is asked, who answers it.
//! Source: `HttpFSServer.java`, `HttpFSAuthenticationFilter.java`, `CheckUploadContentTypeFilter.java`, Hadoop 3.4.2.

use crate::caller;
use crate::clients::Clients;
use crate::config::{AccessMode, HttpFsConfig};
use crate::data;
use crate::failure::Failure;
use crate::file_system::ClusterFs;
use crate::response::{empty, failed, forbidden, json, location, page, respond, set};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use surus_conf::Configuration;
use surus_net::groups::Groups;
use surus_net::http::header::{CONTENT_TYPE, HOST};
use surus_net::http::{HttpBody, HttpFuture, HttpService, Incoming, Request, Response, StatusCode};
use surus_net::proxy_users::{self, ProxyUsers};
use surus_types::{ExceptionClass, HdfsError};
use surus_webhdfs::{Answer, Method, OCTET_STREAM, Operation, Side};
use tokio::runtime::Handle;

pub struct Gateway {
    pub clients: Clients,
    pub runtime: Handle,
    access_mode: AccessMode,
    proxies: ProxyUsers,
    groups: Arc<Groups>,
    started: Instant,
    /// Where a request names no host.
    address: String,
}

/// A request that may be served: what is asked, by whom, and where it came.
pub struct Asked {
    pub request: surus_webhdfs::Request,
    pub user: String,
    /// `http://HOST:PORT` as the client sees it.
    base: String,
    /// Still encoded.
    path: String,
    query: String,
    peer: IpAddr,
}

impl Asked {
    /// Where the request is to come again: with its data where `upload` is its operation.
    fn again(&self, upload: Option<&str>) -> String {
        format!("{}{}", self.base, surus_webhdfs::httpfs_location(&self.path, &self.query, upload))
    }

    /// The URL of the file without a query.
    pub fn url(&self) -> String {
        format!("{}{}", self.base, self.path)
    }
}

impl HttpService for Gateway {
    fn call(self: Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> HttpFuture {
        Box::pin(self.serve(request, peer.ip().to_canonical()))
    }
}

impl Gateway {
    pub fn new(config: HttpFsConfig, conf: &Configuration, runtime: &Handle) -> Gateway {
        let spawner = runtime.clone();
        let spawn = Box::new(move |job: Box<dyn FnOnce() + Send>| drop(spawner.spawn_blocking(job)));
        Gateway {
            clients: Clients::new(config.client),
            runtime: runtime.clone(),
            access_mode: config.access_mode,
            proxies: ProxyUsers::new(proxy_users::HTTPFS, conf.iter()),
            groups: Groups::new(config.groups, &config.group_overrides, spawn),
            started: Instant::now(),
            address: config.address.to_string(),
        }
    }

    async fn serve(self: Arc<Self>, request: Request<Incoming>, peer: IpAddr) -> Response<HttpBody> {
        let query = request.uri().query().unwrap_or("");
        if surus_webhdfs::path_below_prefix(request.uri().path()).is_none() {
            return page(StatusCode::NOT_FOUND, "Not Found");
        }
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_millis() as i64);
        let Some(user) = caller::user_of(request.headers(), query, now_ms) else {
            let mut response = page(StatusCode::UNAUTHORIZED, "Authentication required");
            set(&mut response, "WWW-Authenticate", "PseudoAuth");
            set(&mut response, "Set-Cookie", "hadoop.auth=; Path=/; HttpOnly");
            return response;
        };
        let cookie = surus_webhdfs::new_auth_cookie(&user, now_ms);
        let mut response = self.serve_user(user, request, peer).await;
        set(&mut response, "Set-Cookie", &cookie);
        response
    }

    async fn serve_user(self: Arc<Self>, user: String, request: Request<Incoming>, peer: IpAddr) -> Response<HttpBody> {
        // With it Java's clients ask for the cookie.
        if request.method().as_str() == "OPTIONS" {
            return respond(StatusCode::OK, "", HttpBody::empty());
        }
        let Some(method) = Method::from_http(request.method().as_str()) else {
            return page(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
        };
        let (path, query) = (request.uri().path().to_owned(), request.uri().query().unwrap_or("").to_owned());
        let parsed = match surus_webhdfs::parse(Side::HttpFs, method, &path, &query) {
            Ok(parsed) => parsed,
            Err(error) => return failed(&error.into()),
        };
        let is_upload = matches!(parsed.operation, Operation::Create(_) | Operation::Append { .. });
        let type_of_body = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
        if is_upload && parsed.has_data && !type_of_body.eq_ignore_ascii_case(OCTET_STREAM) {
            let text = "Data upload requests must have content-type set to 'application/octet-stream'";
            return page(StatusCode::BAD_REQUEST, text);
        }
        if !self.access_mode.allows(method, &parsed.operation) {
            return respond(StatusCode::FORBIDDEN, "", HttpBody::empty());
        }
        let host = request.headers().get(HOST).and_then(|value| value.to_str().ok()).unwrap_or(&self.address);
        let base = format!("http://{host}");
        let asked = Asked { request: parsed, user, base, path, query, peer };
        if is_upload && asked.request.has_data && !asked.request.no_redirect {
            return data::upload(self, asked, request).await;
        }
        let work = move || self.answer(&asked).unwrap_or_else(|failure| failed(&failure));
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| ended_early())
    }

    /// The file system of whom the request is for.
    ///
    /// # Errors
    /// The user may not act for the other one that the request names: an answer.
    pub fn file_system(&self, asked: &Asked) -> Result<ClusterFs, Box<Response<HttpBody>>> {
        let user = asked.user.as_str();
        let caller = match asked.request.do_as.as_deref() {
            Some(other) if other != user => {
                let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
                let groups = self.groups.get_blocking(&other.into(), now_ms);
                self.proxies.authorize(user, other, &groups, asked.peer).map_err(|e| Box::new(forbidden(&e)))?;
                other
            }
            _ => user,
        };
        Ok(ClusterFs { client: self.clients.get(caller) })
    }

    /// Everything without a body. Runs on a thread that may block.
    fn answer(&self, asked: &Asked) -> Result<Response<HttpBody>, Failure> {
        let fs = match self.file_system(asked) {
            Ok(fs) => fs,
            Err(refused) => return Ok(*refused),
        };
        let request = &asked.request;
        let path = request.path.as_str();
        match &request.operation {
            Operation::Create(_) => Ok(send_again(asked, "CREATE")),
            Operation::Append { .. } => Ok(send_again(asked, "APPEND")),
            Operation::Open { .. } | Operation::GetFileChecksum if request.no_redirect => {
                Ok(location(StatusCode::OK, &asked.again(None)))
            }
            Operation::Open { offset, length } => data::open(self, &fs.client, path, *offset, *length),
            Operation::GetFileChecksum => data::checksum(&fs.client, path),
            Operation::ListStatus => data::list(self, fs, path, request.filter.as_deref()),
            other => Ok(match surus_webhdfs::answer(&fs, Side::HttpFs, path, other)? {
                Answer::Json(body) => json(body),
                Answer::Empty { .. } if matches!(other, Operation::CheckAccess { .. }) => {
                    respond(StatusCode::OK, "application/octet-stream; charset=utf-8", HttpBody::empty())
                }
                Answer::Empty { .. } => empty(StatusCode::OK),
            }),
        }
    }
}

/// The client is to come again with its data: to this very gateway.
fn send_again(asked: &Asked, operation: &'static str) -> Response<HttpBody> {
    let url = asked.again(Some(operation));
    if asked.request.no_redirect {
        return location(StatusCode::OK, &url);
    }
    let mut response = empty(StatusCode::TEMPORARY_REDIRECT);
    set(&mut response, "Location", &url);
    response
}

/// A request's thread panicked.
pub fn ended_early() -> Response<HttpBody> {
    let text = "the request's thread ended early; see the gateway's log";
    failed(&HdfsError::new(ExceptionClass::Runtime, text).into())
}
