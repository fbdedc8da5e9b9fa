//! Answers with the headers that Hadoop's gateway sends.

use crate::failure::Failure;
use surus_net::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use surus_net::http::{HttpBody, Response, StatusCode};
use surus_types::HdfsError;
use surus_webhdfs::{JSON, NAMENODE_HEADERS, json, json_httpfs};

/// An answer without a content type where `content_type` is empty.
pub fn respond(status: StatusCode, content_type: &'static str, body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in NAMENODE_HEADERS.iter().filter(|(name, _)| *name != "X-FRAME-OPTIONS") {
        set(&mut response, name, value);
    }
    if !content_type.is_empty() {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    response
}

/// Sets a header; a value that cannot stand in one is left out.
pub fn set(response: &mut Response<HttpBody>, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
        response.headers_mut().insert(name, value);
    }
}

/// An answer that says nothing.
pub fn empty(status: StatusCode) -> Response<HttpBody> {
    respond(status, "application/json;charset=utf-8", HttpBody::empty())
}

pub fn json(body: Vec<u8>) -> Response<HttpBody> {
    respond(StatusCode::OK, JSON, body.into())
}

/// `{"Location": URL}`.
pub fn location(status: StatusCode, url: &str) -> Response<HttpBody> {
    let mut body = Vec::new();
    json::location(&mut body, url);
    respond(status, JSON, body.into())
}

pub fn failed(failure: &Failure) -> Response<HttpBody> {
    let mut body = Vec::new();
    json_httpfs::remote_exception(&mut body, failure.java_class(), &failure.message());
    let status = StatusCode::from_u16(json_httpfs::http_status(failure.java_class()));
    respond(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), JSON, body.into())
}

/// The caller may not act for somebody else.
pub fn forbidden(error: &HdfsError) -> Response<HttpBody> {
    let mut body = Vec::new();
    json_httpfs::forbidden(&mut body, error.class.java_name(), &error.message);
    respond(StatusCode::FORBIDDEN, JSON, body.into())
}

/// A page as Jetty's errors have it.
pub fn page(status: StatusCode, text: &str) -> Response<HttpBody> {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let title = format!("Error {} {text}", status.as_u16());
    let body = format!(
        "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html;charset=utf-8\"/>\n<title>{title}</title>\n\
         </head>\n<body><h2>HTTP ERROR {} {text}</h2>\n</body>\n</html>\n",
        status.as_u16()
    );
    respond(status, "text/html;charset=iso-8859-1", body.into())
}
