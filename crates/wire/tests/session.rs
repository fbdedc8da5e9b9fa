//! The server session, case by case: what goes in, what comes out. Every answer was tried on a real 3.5.0 server.

use prost::Message;
use surus_proto::hadoop::common::RpcResponseHeaderProto;
use surus_types::{ExceptionClass, HdfsError};
use surus_wire::rpc::client::{self, Outcome, RequestIds, Response};
use surus_wire::rpc::header::ResponseIds;
use surus_wire::rpc::header::put_error;
use surus_wire::rpc::session::{Event, Negotiation, ServerSession};

const CLIENT_ID: [u8; 16] = *b"0123456789abcdef";
const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

/// Runs a session over `input` and prints its events and answers, one a line.
fn run(negotiation: Negotiation, input: &[u8]) -> String {
    run_limited(negotiation, 1 << 20, input)
}

fn run_limited(negotiation: Negotiation, limit: u32, mut input: &[u8]) -> String {
    let mut session = ServerSession::new(limit, negotiation);
    let (mut out, mut text) = (Vec::new(), String::new());
    loop {
        let (consumed, event) = session.next(input, &mut out);
        let line = match event {
            Event::NeedMore(need) => {
                text.push_str(&format!("needs {need}\n"));
                break;
            }
            Event::Progress => String::new(),
            Event::Context(c) => format!("context {} {:?} {}\n", c.effective_user, c.real_user, c.protocol),
            Event::Call(call) => {
                format!(
                    "call {} {} v{} {:?}\n",
                    call.header.call_id, call.method.method, call.method.version, call.body
                )
            }
            Event::Close => "close\n".to_owned(),
        };
        text.push_str(&answers(&out));
        out.clear();
        text.push_str(&line);
        input = &input[consumed..];
        if line == "close\n" {
            break;
        }
    }
    text
}

fn answers(mut out: &[u8]) -> String {
    let mut text = String::new();
    while !out.is_empty() {
        let framed = out.split_first_chunk::<4>().and_then(|(prefix, tail)| {
            let len = u32::from_be_bytes(*prefix) as usize;
            Some((tail.get(..len)?, tail.get(len..)?))
        });
        let Some((frame, rest)) = framed else {
            text.push_str(&format!("bytes {}\n", String::from_utf8_lossy(out).escape_debug()));
            break;
        };
        let response = Response::decode(frame).expect("an answer");
        let header = RpcResponseHeaderProto::decode_length_delimited(frame).expect("a header");
        let detail = header.error_detail.unwrap_or(0);
        text.push_str(&match response.outcome {
            Outcome::Success(message) => format!("answer {} {message:?}\n", response.call_id),
            Outcome::Error { class, message } => format!("error {} {detail} {class}: {message:?}\n", response.call_id),
            Outcome::Fatal { class, message } => format!("fatal {} {detail} {class}: {message:?}\n", response.call_id),
        });
        out = rest;
    }
    text
}

fn preamble(sasl: bool) -> Vec<u8> {
    let mut out = Vec::new();
    client::put_preamble(&mut out, sasl);
    out
}

fn opened() -> Vec<u8> {
    let mut out = preamble(false);
    client::put_context(&mut out, &CLIENT_ID, "alice", None, PROTOCOL);
    out
}

/// A frame of raw header fields and a body.
fn frame(header: &[u8], body: &[u8]) -> Vec<u8> {
    let mut out = ((1 + header.len() + body.len()) as u32).to_be_bytes().to_vec();
    out.push(header.len() as u8);
    out.extend_from_slice(header);
    out.extend_from_slice(body);
    out
}

fn header(kind: Option<u8>, op: Option<u8>, call_id: u8) -> Vec<u8> {
    let mut out = Vec::new();
    kind.inspect(|kind| out.extend_from_slice(&[0x08, *kind]));
    op.inspect(|op| out.extend_from_slice(&[0x10, *op]));
    out.extend_from_slice(&[0x18, call_id, 0x22, 0]);
    out
}

fn sasl(body: &[u8]) -> Vec<u8> {
    // Call id -33 is 65 in zigzag.
    let mut delimited = vec![body.len() as u8];
    delimited.extend_from_slice(body);
    frame(&header(Some(2), Some(0), 65), &delimited)
}

const NEGOTIATE: &[u8] = &[0x10, 1];
const INITIATE_SIMPLE: &[u8] = b"\x10\x02\x22\x0a\x0a\x06SIMPLE\x12\x00";

#[test]
fn ordinary_connection() {
    let mut input = opened();
    client::put_ping(&mut input, &CLIENT_ID);
    let ids = RequestIds { call_id: 7, client_id: CLIENT_ID, retry_count: 0 };
    client::put_call(&mut input, &ids, "CLI", PROTOCOL, "getFileInfo", &"/".to_owned());
    let text = run(Negotiation::SwitchToSimple, &input);
    assert_eq!(text, format!("context alice None {PROTOCOL}\ncall 7 getFileInfo v1 [3, 10, 1, 47]\nneeds 4\n"));
}

#[test]
fn proxy_user() {
    let mut input = preamble(false);
    client::put_context(&mut input, &CLIENT_ID, "alice", Some("oozie"), "P");
    assert_eq!(run(Negotiation::SwitchToSimple, &input), "context alice Some(\"oozie\") P\nneeds 4\n");
}

#[test]
fn wrong_first_bytes() {
    let cases: &[(&[u8], &str)] = &[
        (
            b"hrpc\x0a\0\0",
            "fatal -1 14 org.apache.hadoop.ipc.RPC$VersionMismatch: \"Server IPC version 9 cannot communicate with client version 10\"\nclose\n",
        ),
        (
            b"xrpc\x09\0\0",
            "fatal -1 14 org.apache.hadoop.ipc.RPC$VersionMismatch: \"Server IPC version 9 cannot communicate with client version 9\"\nclose\n",
        ),
        (
            b"hrpc\x07\0\0",
            "bytes ��������\\0\\0\\0)org.apache.hadoop.ipc.RPC$VersionMismatch\\0\\0\\0=Server IPC version 9 cannot communicate with client version 7\nclose\n",
        ),
        (b"hrpc\x09\0\x05", "fatal -1 15 org.apache.hadoop.ipc.IpcException: \"Unknown auth protocol:5\"\nclose\n"),
    ];
    for (input, expected) in cases {
        assert_eq!(run(Negotiation::SwitchToSimple, input), *expected);
    }
    let http = run(Negotiation::SwitchToSimple, b"GET / HTTP/1.1\r\n\r\n");
    assert!(
        http.starts_with("bytes HTTP/1.1 404 Not Found\\r\\nContent-type: text/plain\\r\\n\\r\\nIt looks"),
        "{http}"
    );
}

#[test]
fn fatal_answers() {
    let rpc_server = "org.apache.hadoop.ipc.RpcServerException";
    let cases = [
        (header(Some(1), Some(0), 0), "fatal 0 12", "Unknown rpc kind in rpc headerRPC_WRITABLE"),
        (header(None, Some(0), 0), "fatal 0 12", " IPC Server: No rpc kind in rpcRequestHeader"),
        (header(Some(2), None, 0), "fatal 0 12", " IPC Server: No rpc op in rpcRequestHeader"),
        (header(Some(2), Some(0), 5), "fatal -3 12", "Connection context already processed"),
        (header(Some(2), Some(0), 17), "fatal -9 12", "Unknown out of band call #-9"),
    ];
    for (header, start, message) in cases {
        let mut input = opened();
        input.extend(frame(&header, &[0]));
        let expected = format!("context alice None {PROTOCOL}\n{start} {rpc_server}: {message:?}\nclose\n");
        assert_eq!(run(Negotiation::SwitchToSimple, &input), expected);
    }
    let mut input = preamble(false);
    input.extend(frame(&header(Some(2), Some(0), 0), &[0]));
    let expected = format!("fatal 0 12 {rpc_server}: \"Connection context not established\"\nclose\n");
    assert_eq!(run(Negotiation::SwitchToSimple, &input), expected);
}

#[test]
fn sasl_of_a_server_with_tokens() {
    let tokens = || Negotiation::TokenAndSimple { nonce: "n".to_owned() };
    let mut input = preamble(true);
    input.extend(sasl(NEGOTIATE));
    input.extend(sasl(INITIATE_SIMPLE));
    client::put_context(&mut input, &CLIENT_ID, "alice", None, "P");
    let text = run(tokens(), &input);
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(first.starts_with("answer -33 [16, 1, 34, "), "{text}");
    assert_eq!(rest, "context alice None P\nneeds 4\n");

    let mut input = preamble(true);
    input.extend(sasl(NEGOTIATE));
    input.extend(sasl(NEGOTIATE));
    let text = run(tokens(), &input);
    let end = "fatal -33 15 org.apache.hadoop.security.AccessControlException: \"Client already attempted negotiation\"\nclose\n";
    assert!(text.ends_with(end), "{text}");

    let mut input = preamble(true);
    client::put_context(&mut input, &CLIENT_ID, "alice", None, "P");
    let text = run(tokens(), &input);
    assert!(text.contains("Connection header sent during SASL negotiation"), "{text}");
}

#[test]
fn sasl_of_a_server_without_tokens() {
    let mut input = preamble(true);
    input.extend(sasl(NEGOTIATE));
    client::put_context(&mut input, &CLIENT_ID, "alice", None, "P");
    assert_eq!(run(Negotiation::SwitchToSimple, &input), "answer -33 [16, 0]\ncontext alice None P\nneeds 4\n");
}

#[test]
fn frames_beyond_the_limit_close_without_an_answer() {
    for length in [1u32 << 20, u32::MAX, 0x8000_0000] {
        let mut input = opened();
        input.extend(length.to_be_bytes());
        let text = run_limited(Negotiation::SwitchToSimple, (1 << 20) - 1, &input);
        assert_eq!(text, format!("context alice None {PROTOCOL}\nclose\n"));
    }
}

#[test]
fn an_empty_user_is_not_the_superuser() {
    let mut input = preamble(false);
    client::put_context(&mut input, &CLIENT_ID, "", None, "P");
    assert_eq!(run(Negotiation::SwitchToSimple, &input), "close\n");
}

#[test]
fn error_answers_end_in_a_stack_line() {
    let mut out = Vec::new();
    let ids = ResponseIds { call_id: 3, client_id: &CLIENT_ID, retry_count: 0, state_id: None };
    put_error(&mut out, &ids, &HdfsError::new(ExceptionClass::NoSuchMethod, "Unknown method x"));
    assert_eq!(
        answers(&out),
        "error 3 2 org.apache.hadoop.ipc.RpcNoSuchMethodException: \"Unknown method x\\n\\tat surus.ipc.Server(Surus)\\n\"\n"
    );
}
