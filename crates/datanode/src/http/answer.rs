//! Answers, with the headers that Hadoop's DataNode sends. Source: `WebHdfsHandler.java`, Hadoop 3.5.0.

use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use hyper::{Response, StatusCode};
use surus_client::ClientError;
use surus_net::http::HttpBody;
use surus_types::{ExceptionClass, HdfsError};
use surus_webhdfs::{DATANODE_JSON, OCTET_STREAM, json};

const ALLOW_ORIGIN: HeaderName = HeaderName::from_static("access-control-allow-origin");
const ALLOW_METHODS: HeaderName = HeaderName::from_static("access-control-allow-methods");
const ALLOW_HEADERS: HeaderName = HeaderName::from_static("access-control-allow-headers");
const MAX_AGE: HeaderName = HeaderName::from_static("access-control-max-age");

/// An answer before it is one of hyper's.
pub(super) struct Answer {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: HttpBody,
}

impl Answer {
    pub fn status(status: StatusCode) -> Self {
        Answer { status, headers: Vec::new(), body: HttpBody::empty() }
    }

    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    fn text(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.push((name, HeaderValue::from_static(value)));
        self
    }

    pub fn html(body: String) -> Self {
        Answer { body: body.into(), ..Self::status(StatusCode::OK) }.text(CONTENT_TYPE, "text/html; charset=utf-8")
    }

    pub fn json(body: Vec<u8>) -> Self {
        Answer { body: body.into(), ..Self::status(StatusCode::OK) }.text(CONTENT_TYPE, DATANODE_JSON)
    }

    pub fn not_found(path: &str) -> Self {
        let path = path.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let body = format!(
            "<html>\n<head>\n<title>Error 404 Not Found</title>\n</head>\n<body><h2>HTTP ERROR 404 Not Found</h2>\n\
             <p>{path}</p>\n</body>\n</html>\n"
        );
        Answer { body: body.into(), ..Self::status(StatusCode::NOT_FOUND) }
            .text(CONTENT_TYPE, "text/html;charset=iso-8859-1")
    }

    /// What a browser asks before it uploads.
    pub fn preflight() -> Self {
        Self::status(StatusCode::OK)
            .text(ALLOW_ORIGIN, "*")
            .text(ALLOW_HEADERS, "Accept")
            .text(ALLOW_METHODS, "PUT")
            .text(MAX_AGE, "1728000")
    }

    /// File data of `length` bytes.
    pub fn data(body: HttpBody, length: u64) -> Self {
        Answer { body, ..Self::status(StatusCode::OK) }
            .text(ALLOW_METHODS, "GET")
            .text(ALLOW_ORIGIN, "*")
            .text(CONTENT_TYPE, OCTET_STREAM)
            .with(CONTENT_LENGTH, HeaderValue::from(length))
    }

    /// A file was written.
    pub fn created(location: &str) -> Self {
        let mut answer = Self::status(StatusCode::CREATED);
        if let Ok(location) = HeaderValue::from_str(location) {
            answer = answer.with(LOCATION, location);
        }
        answer.text(CONTENT_LENGTH, "0").text(ALLOW_ORIGIN, "*")
    }

    /// A file was appended to.
    pub fn appended() -> Self {
        Self::status(StatusCode::OK).text(CONTENT_LENGTH, "0")
    }

    pub fn error(e: &HdfsError) -> Self {
        let mut body = Vec::with_capacity(256);
        json::remote_exception(&mut body, e);
        Self::exception(e.class.http_status(), body)
    }

    /// The error of a call to the NameNode, unwrapped as Java does.
    pub fn client_error(e: &ClientError) -> Self {
        let mut body = Vec::with_capacity(256);
        match (ExceptionClass::from_java_name(e.java_class()), e) {
            (Some(class), ClientError::Remote { message, .. }) => {
                json::remote_exception_parts(&mut body, class, message);
                Self::exception(class.http_status(), body)
            }
            (_, ClientError::Remote { message, .. }) => {
                json::remote_exception_named(&mut body, "org.apache.hadoop.ipc.RemoteException", message);
                Self::exception(StatusCode::FORBIDDEN.as_u16(), body)
            }
            (_, other) => Self::error(&HdfsError::io(other.message())),
        }
    }

    fn exception(status: u16, body: Vec<u8>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Answer { body: body.into(), ..Self::status(status) }.text(CONTENT_TYPE, DATANODE_JSON)
    }

    pub fn into_response(self) -> Response<HttpBody> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        response.headers_mut().extend(self.headers);
        response
    }
}
