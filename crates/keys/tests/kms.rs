//! The KMS's calls, against a server that answers as `KMS.java` of Hadoop 3.5.0 writes its answers.

use crate::unhex;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use surus_keys::{EncryptedKey, KeyProvider, KmsProvider};
use surus_types::ExceptionClass;

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

const IV: &str = "AQIDBAUGBwgJCgsMDQ4PEA";

/// A file's key as the KMS tells it.
fn eek(iv: &str, material: &str, version: &str) -> String {
    format!(
        r#"{{"versionName":"{version}","iv":"{iv}","encryptedKeyVersion":{{"versionName":"EEK","material":"{material}"}}}}"#
    )
}

#[test]
fn calls_and_answers() {
    let (first_16, second_16) = ("_wAAAAAAAAAAAAAAAAAA7w", "AAAAAAAAAAAAAAAAAAAAAQ");
    let (address, requests) = serve(vec![
        (200, r#"{"name":"mykey","cipher":"AES/CTR/NoPadding","length":128,"description":null,"versions":3}"#.into()),
        (200, "{}".into()),
        (200, format!("[{},{}]", eek(IV, first_16, "mykey@2"), eek(IV, second_16, "mykey@2"))),
        (200, r#"{"versionName":"EK","material":"3q2-796tvu_erb7v3q2-7w"}"#.into()),
        (200, eek(IV, second_16, "mykey@3")),
        (403, r#"{"RemoteException":{"message":"User:me not allowed","exception":"AuthorizationException"}}"#.into()),
    ]);
    let kms = KmsProvider::new(&format!("http@{address}/kms"), "me").unwrap();
    let metadata = kms.metadata("mykey").unwrap().unwrap();
    assert_eq!((metadata.cipher.as_str(), metadata.bit_length, metadata.versions), ("AES/CTR/NoPadding", 128, 3));
    assert_eq!(kms.metadata("no key"), Ok(None));
    // Two came with one request.
    let (first, second) = (kms.generate_encrypted_key("mykey").unwrap(), kms.generate_encrypted_key("mykey").unwrap());
    assert_eq!(first.material, unhex("ff0000000000000000000000000000ef"));
    assert_eq!(second.material, unhex("00000000000000000000000000000001"));
    assert_eq!(first.iv, unhex("0102030405060708090a0b0c0d0e0f10"));
    assert_eq!(kms.decrypt_encrypted_key(&first), Ok(unhex("deadbeefdeadbeefdeadbeefdeadbeef")));
    assert_eq!(kms.reencrypt_encrypted_key(&first).unwrap().key_version_name, "mykey@3");
    assert_eq!(kms.decrypt_encrypted_key(&first).unwrap_err().message, "User:me not allowed");
    let body = format!(r#"{{"iv":"{IV}","material":"{first_16}","name":"mykey"}}"#);
    let ask = |op: &str| format!("POST /kms/v1/keyversion/mykey@2/_eek?eek_op={op}&user.name=me {body}");
    assert_eq!(
        requests.join().unwrap(),
        [
            "GET /kms/v1/key/mykey/_metadata?user.name=me",
            "GET /kms/v1/key/no%20key/_metadata?user.name=me",
            "GET /kms/v1/key/mykey/_eek?eek_op=generate&num_keys=50&user.name=me",
            &ask("decrypt"),
            &ask("reencrypt"),
            &ask("decrypt"),
        ]
    );
}

/// The version is that of a new key: no right to read the key's material is needed, and what was made before is not used.
#[test]
fn the_current_version_is_that_of_a_new_key() {
    let batch = |version: &str| {
        let one = eek(IV, "AAAAAAAAAAAAAAAAAAAAAQ", version);
        (200, format!("[{one},{one}]"))
    };
    let (address, requests) = serve(vec![batch("mykey@2"), batch("mykey@3")]);
    let kms = KmsProvider::new(&format!("http@{address}/kms"), "me").unwrap();
    assert_eq!(kms.generate_encrypted_key("mykey").unwrap().key_version_name, "mykey@2");
    assert_eq!(kms.current_version("mykey").as_deref(), Ok("mykey@3"));
    assert_eq!(kms.generate_encrypted_key("mykey").unwrap().key_version_name, "mykey@3");
    let generate = "GET /kms/v1/key/mykey/_eek?eek_op=generate&num_keys=50&user.name=me";
    assert_eq!(requests.join().unwrap(), [generate, generate]);
}

/// What may become the only copy of a file's key is looked at before.
#[test]
fn answers_that_no_key_can_be_made_of() {
    const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAQ";
    let generated = [
        (eek("AQID", KEY, "k@0"), "KMS: the answer holds an initialization vector of 3 bytes"),
        (eek(IV, "AQID", "k@0"), "KMS: the answer holds a key of 3 bytes"),
        (eek(IV, "", "k@0"), "KMS: the answer holds a key of 0 bytes"),
        (eek(IV, "AAAAAAAAAAAA!AAAAAAAAAQ", "k@0"), "KMS: material of the answer is not base64"),
        (eek(IV, KEY, ""), "KMS: the answer holds no versionName"),
    ];
    let answers = generated.iter().map(|(json, _)| (200, format!("[{json}]")));
    let long = "A".repeat(32);
    let answers = answers.chain([
        (200, eek("EBAQEBAQEBAQEBAQEBAQEA", KEY, "k@1")),
        (200, eek(IV, &long, "k@1")),
        (200, format!(r#"{{"versionName":"EK","material":"{long}"}}"#)),
    ]);
    let (address, requests) = serve(answers.collect());
    let kms = KmsProvider::new(&format!("http@{address}/kms"), "me").unwrap();
    for (_, text) in &generated {
        assert_eq!(kms.generate_encrypted_key("k").unwrap_err().message, *text);
    }
    let old = EncryptedKey {
        key_name: "k".to_owned(),
        key_version_name: "k@0".to_owned(),
        iv: unhex("0102030405060708090a0b0c0d0e0f10"),
        material: vec![0; 16],
    };
    let other_iv = "KMS: the answer changes the initialization vector";
    assert_eq!(kms.reencrypt_encrypted_key(&old).unwrap_err().message, other_iv);
    let other_length = "KMS: the answer holds a key of 24 bytes for one of 16";
    assert_eq!(kms.reencrypt_encrypted_key(&old).unwrap_err().message, other_length);
    assert_eq!(kms.decrypt_encrypted_key(&old).unwrap_err().message, other_length);
    requests.join().unwrap();
}

/// The next may do better; that none is there is told apart from what one says.
#[test]
fn a_server_that_cannot_reach_the_kms() {
    let (address, requests) = serve(vec![(503, "busy".into()), (500, "broken".into())]);
    let kms = KmsProvider::new(&format!("http@{address}/kms"), "me").unwrap();
    let refused = || kms.metadata("k").unwrap_err().class;
    assert_eq!([refused(), refused()], [ExceptionClass::Connect, ExceptionClass::Io]);
    requests.join().unwrap();
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
