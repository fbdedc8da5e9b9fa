//! The HTTP server of the NameNode: WebHDFS, `/jmx`, status pages.

mod audited;
mod beans;
mod file_system;
mod files;
mod fsck;
mod image_transfer;
mod jmx;
mod jmx_journals;
mod one_hop;
mod pages;
mod redirect;
mod trash_roots;
mod webhdfs;

pub use beans::write_json_string;
pub use pages::java_date;

use crate::core::Core;
use crate::startup::StartupProgress;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;
use surus_net::http::{HttpBody, HttpFuture, HttpService, Incoming, Method, Request, Response, StatusCode, header};
use surus_types::{ExceptionClass, HdfsError};

/// The service of the NameNode's HTTP server. It opens before the name directories are loaded, and says how far that is.
pub struct HttpDoor {
    pub startup: Arc<StartupProgress>,
    /// There once all is loaded.
    pub core: OnceLock<Arc<Core>>,
}

impl HttpService for HttpDoor {
    fn call(self: Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> HttpFuture {
        Box::pin(async move {
            match self.core.get() {
                Some(core) => serve(core, request, peer).await,
                None => starting(&self.startup, request.uri().path()),
            }
        })
    }
}

/// While the NameNode loads.
fn starting(startup: &StartupProgress, path: &str) -> Response<HttpBody> {
    if surus_webhdfs::path_below_prefix(path).is_some() {
        let error = HdfsError::new(ExceptionClass::Retriable, "Namenode is in startup mode");
        return webhdfs::respond_error(&error);
    }
    match path {
        "/startupProgress" => page("application/json;charset=utf-8", startup.json(None)),
        "/" | "/index.html" | "/dfshealth.html" => page("text/html; charset=utf-8", pages::starting_page(startup)),
        _ => answer(StatusCode::SERVICE_UNAVAILABLE, Some("text/plain;charset=utf-8"), startup.doing().into()),
    }
}

async fn serve(core: &Arc<Core>, request: Request<Incoming>, peer: SocketAddr) -> Response<HttpBody> {
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or(""));
    if surus_webhdfs::path_below_prefix(path).is_some() {
        return webhdfs::serve(core, request, peer).await;
    }
    if surus_webhdfs::web::path_below_prefix(path).is_some() {
        return files::serve(core, request, peer).await;
    }
    match path {
        "/" => {
            let host = request.headers().get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or("");
            let location = if host.is_empty() { "/index.html".to_owned() } else { format!("http://{host}/index.html") };
            let mut response = answer(StatusCode::FOUND, Some("text/plain;charset=utf-8"), HttpBody::empty());
            set(&mut response, header::LOCATION.as_str(), &location);
            response
        }
        "/index.html" | "/dfshealth.html" => page("text/html; charset=utf-8", pages::status_page(core)),
        "/jmx" => {
            let text = beans::render(
                &jmx::beans(core),
                parameter(query, "qry").as_deref(),
                parameter(query, "get").as_deref(),
            );
            let mut response = page("application/json; charset=utf8", text);
            set(&mut response, "Access-Control-Allow-Methods", "GET");
            set(&mut response, "Access-Control-Allow-Origin", "*");
            response
        }
        "/conf" => {
            let accept = request.headers().get(header::ACCEPT).and_then(|a| a.to_str().ok()).unwrap_or("");
            let json = accept.contains("application/json");
            match pages::conf(core, parameter(query, "name").as_deref(), json) {
                Some(text) => page(if json { "application/json" } else { "text/xml;charset=utf-8" }, text),
                None => answer(StatusCode::NOT_FOUND, None, HttpBody::empty()),
            }
        }
        "/isActive" => page("text/plain;charset=utf-8", "I am Active!".to_owned()),
        "/imagetransfer" if request.method() == Method::PUT => image_transfer::receive(core, request).await,
        "/imagetransfer" => image_transfer::serve(core, query).await,
        "/fsck" => fsck::serve(core, query, peer).await,
        "/topology" => {
            let accept = request.headers().get(header::ACCEPT).and_then(|a| a.to_str().ok()).unwrap_or("");
            match accept.contains("application/json") {
                true => page("application/json;charset=utf-8", pages::topology(core, true)),
                false => page("text/plain;charset=utf-8", pages::topology(core, false)),
            }
        }
        "/startupProgress" => page("application/json;charset=utf-8", core.startup.json(Some(core))),
        _ => answer(StatusCode::NOT_FOUND, Some("text/html;charset=iso-8859-1"), pages::not_found(path).into()),
    }
}

fn page(content_type: &str, text: String) -> Response<HttpBody> {
    answer(StatusCode::OK, Some(content_type), text.into())
}

/// An answer with the headers that the NameNode puts on every one.
fn answer(status: StatusCode, content_type: Option<&str>, body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in surus_webhdfs::NAMENODE_HEADERS {
        set(&mut response, name, value);
    }
    set(&mut response, "Expires", &pages::http_date(SystemTime::now()));
    if let Some(content_type) = content_type {
        set(&mut response, "Content-Type", content_type);
    }
    response
}

/// Sets a header; a value that cannot stand in one is left out.
fn set(response: &mut Response<HttpBody>, name: &str, value: &str) {
    let name = header::HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, header::HeaderValue::from_str(value)) {
        response.headers_mut().insert(name, value);
    }
}

/// The names of a query's parameters.
fn parameters(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').map(|p| p.split_once('=').map_or(p, |(name, _)| name))
}

/// A decoded parameter of a query.
fn parameter(query: &str, name: &str) -> Option<String> {
    let raw = query.split('&').filter_map(|p| p.split_once('=')).find(|(key, _)| *key == name)?.1;
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |b: u8| char::from(b).to_digit(16);
        rest = match (first, tail) {
            (b'%', [a, b, tail @ ..]) if hex(*a).is_some() && hex(*b).is_some() => {
                bytes.push((hex(*a).unwrap_or(0) * 16 + hex(*b).unwrap_or(0)) as u8);
                tail
            }
            (b'+', tail) => {
                bytes.push(b' ');
                tail
            }
            (other, tail) => {
                bytes.push(*other);
                tail
            }
        };
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::parameter;

    #[test]
    fn parameters() {
        let get = |q: &str| parameter(q, "qry").unwrap_or_default();
        assert_eq!(get("qry=Hadoop:service=NameNode,name=X"), "Hadoop:service=NameNode,name=X");
        assert_eq!(get("a=1&qry=Hadoop%3Aname%3D*+x&b"), "Hadoop:name=* x");
        assert_eq!(get("qry=%"), "%");
        assert_eq!(parameter("q=1", "qry"), None);
    }
}
