//! The KMS's calls, against a server that answers as `KMS.java` of Hadoop 3.5.0 writes its answers.

use crate::unhex;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use surus_keys::{KeyProvider, KmsProvider};

/// Answers one request after the other; returns the request lines, and the bodies.
fn serve(answers: Vec<(u16, String)>) -> (String, JoinHandle<Vec<String>>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let requests = std::thread::spawn(move || {
        let mut seen = Vec::new();
        for (status, body) in answers {
            let (mut stream, _) = server.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut len) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    len = value.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut content = vec![0; len];
            reader.read_exact(&mut content).unwrap();
            let first = first.trim_end().trim_end_matches(" HTTP/1.0");
            seen.push(format!("{first} {}", String::from_utf8(content).unwrap()).trim_end().to_owned());
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
        seen
    });
    (address, requests)
}

#[test]
fn calls_and_answers() {
    let eek = |material: &str, version: &str| {
        format!(
            r#"{{"versionName":"{version}","iv":"AQIDBAUGBwgJCgsMDQ4PEA","encryptedKeyVersion":{{"versionName":"EEK","material":"{material}"}}}}"#
        )
    };
    let (address, requests) = serve(vec![
        (200, r#"{"name":"mykey","cipher":"AES/CTR/NoPadding","length":128,"description":null,"versions":3}"#.into()),
        (200, "{}".into()),
        (200, r#"{"name":"mykey","versionName":"mykey@2","material":"AA"}"#.into()),
        (200, format!("[{},{}]", eek("_-8", "mykey@2"), eek("AAE", "mykey@2"))),
        (200, r#"{"versionName":"EK","material":"3q2-7w"}"#.into()),
        (200, eek("AAE", "mykey@3")),
        (403, r#"{"RemoteException":{"message":"User:me not allowed","exception":"AuthorizationException"}}"#.into()),
    ]);
    let kms = KmsProvider::new(&format!("http@{address}/kms"), "me").unwrap();
    let metadata = kms.metadata("mykey").unwrap().unwrap();
    assert_eq!((metadata.cipher.as_str(), metadata.bit_length, metadata.versions), ("AES/CTR/NoPadding", 128, 3));
    assert_eq!(kms.metadata("no key"), Ok(None));
    assert_eq!(kms.current_version("mykey").as_deref(), Ok("mykey@2"));
    // Two came with one request.
    let (second, first) = (kms.generate_encrypted_key("mykey").unwrap(), kms.generate_encrypted_key("mykey").unwrap());
    assert_eq!((&*first.material, &*second.material), (&[0xff, 0xef][..], &[0, 1][..]));
    assert_eq!(first.iv, unhex("0102030405060708090a0b0c0d0e0f10"));
    assert_eq!(kms.decrypt_encrypted_key(&first), Ok(unhex("deadbeef")));
    assert_eq!(kms.reencrypt_encrypted_key(&first).unwrap().key_version_name, "mykey@3");
    assert_eq!(kms.decrypt_encrypted_key(&first).unwrap_err().message, "User:me not allowed");
    let body = r#"{"iv":"AQIDBAUGBwgJCgsMDQ4PEA","material":"_-8","name":"mykey"}"#;
    let ask = |op: &str| format!("POST /kms/v1/keyversion/mykey@2/_eek?eek_op={op}&user.name=me {body}");
    assert_eq!(
        requests.join().unwrap(),
        [
            "GET /kms/v1/key/mykey/_metadata?user.name=me",
            "GET /kms/v1/key/no%20key/_metadata?user.name=me",
            "GET /kms/v1/key/mykey/_currentversion?user.name=me",
            "GET /kms/v1/key/mykey/_eek?eek_op=generate&num_keys=50&user.name=me",
            &ask("decrypt"),
            &ask("reencrypt"),
            &ask("decrypt"),
        ]
    );
}

#[test]
fn addresses() {
    let text = |uri: &str| KmsProvider::new(uri, "me").err().map(|e| e.message);
    assert_eq!(text("http@a;b:9600/kms"), None);
    assert_eq!(text("https@a:9600/kms").unwrap(), "kms://https@a:9600/kms: only http is spoken, not https");
    assert_eq!(text("a:9600/kms").unwrap(), "kms://a:9600/kms is not kms://http@HOST:PORT/kms");
    // Nobody answers.
    let nobody = KmsProvider::new("http@127.0.0.1:1/kms", "me").unwrap();
    assert!(nobody.metadata("k").unwrap_err().message.starts_with("KMS at 127.0.0.1:1: "));
}
