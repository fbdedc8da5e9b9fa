//! Recorded RPC connections: our server understands what real clients sent, and our encoders make the bytes that a
//! real server answered. `fsshell-*`, `ipc-dn`: Hadoop 3.5.0; `dnreg`: 3.3.6; the others: clients in other languages.

use surus_wire::rpc::client::{Outcome, Response};
use surus_wire::rpc::header::{ResponseIds, put_success_encoded};
use surus_wire::rpc::session::{Event, Negotiation, ServerSession};
use surus_wire::rpc::{DATA_LENGTH_MAX, call_ids};

macro_rules! recorded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("data/", $name, ".c2s")), include_bytes!(concat!("data/", $name, ".s2c")))),*]
    };
}

type Recording = (&'static str, &'static [u8], &'static [u8]);

const RECORDINGS: &[Recording] = recorded![
    "fsshell-2",
    "fsshell-4",
    "fsshell-5",
    "fsshell-6",
    "fsshell-12",
    "fsshell-13",
    "fsshell-24",
    "fsshell-25",
    "dnreg",
    "hdfs-native",
    "gohdfs",
    "snakebite",
    "libhdfs3",
    "ipc-dn",
];

/// One line for each event of a connection: who, and each method with the ids that matter.
fn events(mut input: &[u8]) -> Vec<String> {
    let mut session = ServerSession::new(DATA_LENGTH_MAX, Negotiation::SwitchToSimple);
    let (mut out, mut lines) = (Vec::new(), Vec::new());
    loop {
        let (consumed, event) = session.next(input, &mut out);
        match event {
            Event::NeedMore(_) => break,
            Event::Progress => {}
            Event::Close => {
                lines.push("close".to_owned());
                break;
            }
            Event::Context(context) => lines.push(format!("{} {}", context.effective_user, context.protocol)),
            Event::Call(call) => lines.push(format!(
                "{} {} retry {} id {} bytes",
                call.header.call_id,
                call.method.method,
                call.header.retry_count,
                call.header.client_id.len()
            )),
        }
        input = &input[consumed..];
    }
    lines
}

#[test]
fn fs_shell_is_understood() {
    let lines = events(include_bytes!("data/fsshell-3.5.0-ls.bin"));
    assert_eq!(lines, ["root org.apache.hadoop.hdfs.protocol.ClientProtocol", "0 getFileInfo retry 0 id 16 bytes"]);
}

#[test]
fn every_recorded_client_is_understood() {
    for (name, c2s, _) in RECORDINGS {
        let lines = events(c2s);
        assert!(lines.len() > 1, "{name}: {lines:?}");
        assert!(!lines.contains(&"close".to_owned()), "{name}: {lines:?}");
    }
}

/// Cut anywhere, a connection gives the same events.
#[test]
fn bytes_may_come_one_at_a_time() {
    for (name, c2s, _) in RECORDINGS {
        let mut session = ServerSession::new(DATA_LENGTH_MAX, Negotiation::SwitchToSimple);
        let (mut out, mut start, mut calls) = (Vec::new(), 0, 0);
        for end in 0..=c2s.len() {
            loop {
                let (consumed, event) = session.next(&c2s[start..end], &mut out);
                start += consumed;
                match event {
                    Event::NeedMore(need) => {
                        assert!(need > end - start, "{name}");
                        break;
                    }
                    Event::Call(_) => calls += 1,
                    _ => {}
                }
            }
        }
        assert_eq!(calls, events(c2s).len() - 1, "{name}");
    }
}

/// Frame by frame, our header encoder makes the bytes of the real server.
#[test]
fn answers_are_encoded_as_hadoop_does() {
    for (name, _, s2c) in RECORDINGS {
        let mut rest = *s2c;
        let mut answers = 0;
        while let Some((prefix, tail)) = rest.split_first_chunk::<4>() {
            let (frame, tail) = tail.split_at(u32::from_be_bytes(*prefix) as usize);
            rest = tail;
            answers += 1;
            let response = Response::decode(frame).expect("an answer");
            let Outcome::Success(message) = response.outcome else { continue };
            // The ids are not in the decoded form: take them from the frame's tail of the header.
            let header = &frame[1..1 + usize::from(frame[0])];
            let at = header.windows(2).position(|w| w == [0x3a, 16]).expect("a client id of 16 bytes");
            let retry = header[at + 19];
            let ids = ResponseIds {
                call_id: response.call_id,
                client_id: &header[at + 2..at + 18],
                retry_count: i32::from(retry >> 1) ^ -i32::from(retry & 1),
                state_id: response.state_id,
            };
            let mut out = Vec::new();
            put_success_encoded(&mut out, &ids, |out| out.extend_from_slice(message));
            assert_eq!(&out[4..], frame, "{name}, answer {answers}");
        }
        assert!(answers > 0, "{name}");
    }
}

/// A real ERROR answer: class and message come out, and the stack trace begins where clients cut.
#[test]
fn errors_are_taken_apart() {
    let errors: Vec<_> = RECORDINGS
        .iter()
        .flat_map(|(_, _, s2c)| {
            let mut rest = *s2c;
            std::iter::from_fn(move || {
                let (prefix, tail) = rest.split_first_chunk::<4>()?;
                let (frame, tail) = tail.split_at(u32::from_be_bytes(*prefix) as usize);
                rest = tail;
                Some(Response::decode(frame).expect("an answer"))
            })
        })
        .filter_map(|response| match response.outcome {
            Outcome::Error { class, message } => Some((class, message)),
            _ => None,
        })
        .collect();
    for (class, message) in &errors {
        assert!(class.contains('.') && message.contains("\n\tat "), "{class}: {message}");
    }
}

#[test]
fn out_of_band_ids_are_those_of_hadoop() {
    assert_eq!((call_ids::CONNECTION_CONTEXT, call_ids::PING, call_ids::SASL), (-3, -4, -33));
}
