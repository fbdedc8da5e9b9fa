//! The RPC server and the blocking client against each other.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use surus_net::rpc::{
    ConnectionInfo, HeldReply, NullService, ReadyReply, Reply, RpcCall, RpcClient, RpcClientOptions, RpcError,
    RpcLimits, RpcServer, RpcService, RpcUser, send_together,
};
use surus_proto::hadoop::hdfs::{GetFileInfoRequestProto, GetPreferredBlockSizeResponseProto};
use surus_types::{ExceptionClass, HdfsError};
use surus_wire::rpc::errors;

pub const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

/// A runtime that ends without waiting for the tasks of open connections.
pub struct Runtime(Option<tokio::runtime::Runtime>);

impl Runtime {
    pub fn new() -> Self {
        Runtime(Some(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()))
    }

    pub fn handle(&self) -> &tokio::runtime::Handle {
        self.0.as_ref().unwrap().handle()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.0.take().unwrap().shutdown_background();
    }
}

/// Answers with the length of the path, after what the path asks for.
#[derive(Default)]
pub struct Lengths {
    held: Mutex<Vec<(u64, HeldReply)>>,
    ready: Mutex<Vec<ReadyReply>>,
    batches: AtomicUsize,
    pub calls: AtomicUsize,
}

impl Lengths {
    /// Answers what is held.
    pub fn answer_held(&self) {
        for (value, reply) in self.held.lock().drain(..) {
            reply.ok(&length(value));
        }
    }
}

fn length(bytes: u64) -> GetPreferredBlockSizeResponseProto {
    GetPreferredBlockSizeResponseProto { bsize: bytes }
}

impl RpcService for Lengths {
    fn call(&self, call: RpcCall<'_>, reply: Reply<'_>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if call.protocol != PROTOCOL {
            return reply.error(&errors::no_such_protocol(call.protocol));
        }
        let request = match call.decode::<GetFileInfoRequestProto>() {
            Ok(request) => request,
            Err(error) => return reply.error(&error),
        };
        let answer = length(request.src.len() as u64);
        match call.method {
            "now" => reply.ok(&answer),
            "user" => reply.ok(&length(call.connection.user.len() as u64)),
            "large" => reply.ok_encoded(|out| out.resize(out.len() + request.src.len() * 1000, 0)),
            "hold" => self.held.lock().push((answer.bsize, reply.hold())),
            "ready" => self.ready.lock().push(reply.hold().ready_ok(&answer)),
            "panic" => panic!("as the test asked"),
            "forget" => drop(reply.hold()),
            method => reply.error(&errors::no_such_method(method, call.protocol)),
        }
    }

    fn batch_done(&self) {
        self.batches.fetch_add(1, Ordering::Relaxed);
    }
}

pub fn serve(service: Arc<dyn RpcService>, limits: RpcLimits) -> (Runtime, RpcServer) {
    let runtime = Runtime::new();
    let server = RpcServer::bind("127.0.0.1:0", service, limits, runtime.handle()).unwrap();
    (runtime, server)
}

fn options() -> RpcClientOptions {
    RpcClientOptions { call_timeout: Some(Duration::from_secs(20)), ..RpcClientOptions::default() }
}

pub fn client(server: &RpcServer, user: impl Into<RpcUser>) -> RpcClient {
    RpcClient::connect(&server.local_addr().to_string(), user, PROTOCOL, options()).unwrap()
}

fn ask(client: &RpcClient, method: &str, src: &str) -> Result<u64, RpcError> {
    let request = GetFileInfoRequestProto { src: src.to_owned() };
    client.call::<_, GetPreferredBlockSizeResponseProto>(method, &request).map(|answer| answer.bsize)
}

fn remote(result: Result<u64, RpcError>) -> String {
    match result {
        Err(RpcError::Remote { class, message }) => format!("{class}: {message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_and_errors() {
    let (_runtime, server) = serve(Arc::new(Lengths::default()), RpcLimits::default());
    let client = client(&server, "alice");
    assert_eq!(ask(&client, "now", "/abc").unwrap(), 4);
    assert_eq!(ask(&client, "user", "/abc").unwrap(), 5);
    assert_eq!(
        remote(ask(&client, "nothing", "/")),
        format!(
            "org.apache.hadoop.ipc.RpcNoSuchMethodException: Unknown method nothing called on {PROTOCOL} protocol."
        )
    );
    assert_eq!(
        remote(client.call::<(), GetPreferredBlockSizeResponseProto>("now", &()).map(|a| a.bsize)),
        "org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException: Message missing required fields: src"
    );
    // A call that panics or is forgotten is answered too, and the connection goes on.
    assert!(remote(ask(&client, "panic", "/")).starts_with("java.lang.RuntimeException"));
    assert!(remote(ask(&client, "forget", "/")).starts_with("java.lang.RuntimeException"));
    assert_eq!(ask(&client, "now", "/abc").unwrap(), 4);
    assert_eq!(server.connections(), 1);
}

#[test]
fn many_threads_share_one_connection() {
    let (_runtime, server) = serve(Arc::new(Lengths::default()), RpcLimits::default());
    let client = client(&server, "alice");
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let client = &client;
            scope.spawn(move || {
                for i in 0..200 {
                    let src = "x".repeat(thread * 7 + i);
                    assert_eq!(ask(client, "now", &src).unwrap(), src.len() as u64);
                }
            });
        }
    });
    assert_eq!(server.connections(), 1);
}

#[test]
fn held_replies_come_later_and_in_any_order() {
    let service = Arc::new(Lengths::default());
    let (_runtime, server) = serve(service.clone(), RpcLimits::default());
    let clients = [client(&server, "alice"), client(&server, "bob")];
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for i in 0..20usize {
            let client = &clients[i % 2];
            let method = if i < 10 { "hold" } else { "ready" };
            threads.push(scope.spawn(move || assert_eq!(ask(client, method, &"x".repeat(i)).unwrap(), i as u64)));
        }
        while service.calls.load(Ordering::Relaxed) < 20 {
            std::thread::yield_now();
        }
        // Calls are counted as they begin; the last one may still be on its way into the list.
        std::thread::sleep(Duration::from_millis(20));
        // Other calls pass them by.
        assert_eq!(ask(&clients[0], "now", "/").unwrap(), 1);
        send_together(std::mem::take(&mut *service.ready.lock()));
        service.answer_held();
    });
}

#[test]
fn one_read_of_many_calls_is_one_batch() {
    let service = Arc::new(Lengths::default());
    let (_runtime, server) = serve(service.clone(), RpcLimits::default());
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    let mut bytes = Vec::new();
    surus_wire::rpc::client::put_preamble(&mut bytes, false);
    surus_wire::rpc::client::put_context(&mut bytes, &[7; 16], "alice", None, PROTOCOL);
    for call_id in 0..20 {
        let ids = surus_wire::rpc::client::RequestIds { call_id, client_id: [7; 16], retry_count: 0 };
        let request = GetFileInfoRequestProto { src: "/x".to_owned() };
        surus_wire::rpc::client::put_call(&mut bytes, &ids, "", PROTOCOL, "now", &request);
    }
    stream.write_all(&bytes).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut answers = vec![0; 20 * 34];
    stream.read_exact(&mut answers).unwrap();
    for (call_id, answer) in answers.chunks(34).enumerate() {
        let response = surus_wire::rpc::client::Response::decode(&answer[4..]).unwrap();
        assert_eq!(response.call_id, call_id as i32);
    }
    assert_eq!(service.calls.load(Ordering::Relaxed), 20);
    assert!(service.batches.load(Ordering::Relaxed) <= 2);
    let counters = server.counters();
    assert_eq!(counters.received_bytes.load(Ordering::Relaxed), bytes.len() as u64);
    // Counted right after the write that the answers came with.
    while counters.sent_bytes.load(Ordering::Relaxed) < 20 * 34 {
        std::thread::yield_now();
    }
}

#[test]
fn answers_larger_than_the_buffers() {
    let (_runtime, server) = serve(Arc::new(Lengths::default()), RpcLimits::default());
    let client = client(&server, "alice");
    let request = GetFileInfoRequestProto { src: "x".repeat(20_000) };
    // 20 MB of zeros are no message: what counts is that they arrive, and that the connection goes on.
    let error = client.call::<_, GetPreferredBlockSizeResponseProto>("large", &request).unwrap_err();
    assert!(matches!(error, RpcError::Malformed { .. }), "{error}");
    assert_eq!(ask(&client, "now", &"y".repeat(3_000_000)).unwrap(), 3_000_000);
}

#[test]
fn proxy_users_are_refused_unless_the_service_says_otherwise() {
    struct Trusting;
    impl RpcService for Trusting {
        fn authorize(&self, connection: &ConnectionInfo) -> Result<(), HdfsError> {
            match connection.real_user.as_deref() {
                Some("oozie") => Ok(()),
                _ => Err(HdfsError::new(ExceptionClass::Authorization, "only oozie")),
            }
        }
        fn call(&self, call: RpcCall<'_>, reply: Reply<'_>) {
            let names = call.connection.user.len() + call.connection.real_user.as_ref().map_or(0, |real| real.len());
            reply.ok(&length(names as u64));
        }
    }
    let proxy = |real: &str| RpcUser { effective: "alice".to_owned(), real: Some(real.to_owned()) };
    let (_runtime, server) = serve(Arc::new(NullService), RpcLimits::default());
    assert_eq!(
        remote(ask(&client(&server, proxy("bob")), "now", "/")),
        "org.apache.hadoop.security.authorize.AuthorizationException: User: bob is not allowed to impersonate alice"
    );
    let (_runtime, server) = serve(Arc::new(Trusting), RpcLimits::default());
    assert_eq!(ask(&client(&server, proxy("oozie")), "now", "/").unwrap(), 10);
    assert!(remote(ask(&client(&server, proxy("bob")), "now", "/")).ends_with("only oozie"));
}

#[test]
fn a_broken_connection_fails_its_calls_and_the_next_call_connects_anew() {
    let service = Arc::new(Lengths::default());
    let (_runtime, server) = serve(service.clone(), RpcLimits::default());
    let addr = server.local_addr();
    let client = client(&server, "alice");
    assert_eq!(ask(&client, "now", "/").unwrap(), 1);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ask(&client, "hold", "/"));
        while service.held.lock().is_empty() {
            std::thread::yield_now();
        }
        server.stop();
        assert!(matches!(waiting.join().unwrap(), Err(RpcError::Io { .. })));
    });
    assert!(service.held.lock()[0].1.is_disconnected());
    drop(server);
    let runtime = Runtime::new();
    let _server = loop {
        // The old listener may need a moment to close.
        match RpcServer::bind(addr, Arc::new(Lengths::default()), RpcLimits::default(), runtime.handle()) {
            Ok(server) => break server,
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    assert_eq!(ask(&client, "now", "/").unwrap(), 1);
}

#[test]
fn no_server_no_answer_in_time() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    let options = RpcClientOptions {
        call_timeout: Some(Duration::from_millis(300)),
        ping_interval: Duration::from_millis(50),
        ..options()
    };
    let client = RpcClient::connect(&addr, "alice", PROTOCOL, options.clone()).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    assert!(matches!(ask(&client, "now", "/"), Err(RpcError::Timeout { .. })));
    // The call, and the pings sent while waiting.
    let mut bytes = vec![0; 4096];
    let count = peer.read(&mut bytes).unwrap();
    assert!(bytes[..count].windows(4).filter(|w| w == &[0x10, 0, 0x18, 7]).count() > 1, "{:?}", &bytes[..count]);
    drop(listener);
    let error = RpcClient::connect(&addr, "alice", PROTOCOL, options).err().unwrap();
    assert!(matches!(error, RpcError::Connect { .. }), "{error}");
}

#[test]
fn a_server_that_wants_kerberos_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        let _ = peer.read(&mut bytes).unwrap();
        let mut out = Vec::new();
        let ids = surus_wire::rpc::header::ResponseIds::bare(-33);
        let class = ExceptionClass::AccessControl.java_name();
        let text = "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]";
        surus_wire::rpc::header::put_fatal(&mut out, &ids, surus_wire::rpc::ErrorCode::FatalUnauthorized, class, text);
        peer.write_all(&out).unwrap();
    });
    let client = RpcClient::connect(&addr, "alice", PROTOCOL, options()).unwrap();
    match ask(&client, "now", "/") {
        Err(RpcError::Authentication { available, .. }) => assert_eq!(available, "[TOKEN, KERBEROS]"),
        other => panic!("{other:?}"),
    }
    server.join().unwrap();
}
