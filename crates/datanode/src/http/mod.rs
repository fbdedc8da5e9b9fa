//! The HTTP port: WebHDFS's data side, a status page, `/jmx`.

mod answer;
mod beside;
mod clients;
mod local;
mod status;
mod webhdfs;

use crate::node::Node;
use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use std::net::SocketAddr;
use std::sync::Arc;
use surus_net::http::{HttpFuture, HttpService};
use surus_webhdfs::{Method, Side, path_below_prefix};
use tokio::runtime::Handle;

use answer::Answer;

pub(crate) fn service(node: &Arc<Node>, runtime: &Handle) -> Arc<Http> {
    Arc::new(Http { node: node.clone(), runtime: runtime.clone(), clients: clients::Clients::default() })
}

/// The service of the HTTP port, and what a NameNode in the same process reads and writes through.
pub(crate) struct Http {
    node: Arc<Node>,
    runtime: Handle,
    clients: clients::Clients,
}

impl HttpService for Http {
    fn call(self: Arc<Self>, request: Request<Incoming>, _peer: SocketAddr) -> HttpFuture {
        Box::pin(async move { self.answer(request).await.into_response() })
    }
}

impl Http {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let path = request.uri().path();
        if path_below_prefix(path).is_none() {
            return match path {
                "/" | "/index.html" | "/datanode.html" => Answer::html(status::page(&self.node)),
                "/jmx" => Answer::json(status::jmx(&self.node, request.uri().query().unwrap_or(""))),
                other => Answer::not_found(other),
            };
        }
        let query = request.uri().query().unwrap_or("");
        let name = request.method().as_str();
        if name == "OPTIONS" {
            return Answer::preflight();
        }
        let Some(method) = Method::from_http(name) else {
            return Answer::status(StatusCode::METHOD_NOT_ALLOWED);
        };
        let parsed = surus_webhdfs::parse(Side::DataNode, method, path, query);
        match parsed {
            Ok(parsed) => webhdfs::serve(self, parsed, request).await,
            Err(e) => Answer::error(&e),
        }
    }
}
