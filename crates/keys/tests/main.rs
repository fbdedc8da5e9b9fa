//! Keys that `hadoop key create` (3.5.0) made, and files' keys that its KeyProviderCryptoExtension encrypted by them.

mod kms;

use std::fs;
use std::path::PathBuf;
use surus_keys::{EncryptedKey, JavaKeyStoreProvider, KeyProvider, KeyStore, KeyStoreError, Metadata, StreamCipher};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn provider() -> JavaKeyStoreProvider {
    JavaKeyStoreProvider::open(&data("keys.jceks"), "none").unwrap()
}

#[test]
fn what_is_known_of_a_key() {
    let keys = provider();
    let cipher = || "AES/CTR/NoPadding".to_owned();
    assert_eq!(keys.metadata("mykey"), Ok(Some(Metadata { cipher: cipher(), bit_length: 128, versions: 2 })));
    assert_eq!(keys.metadata("key256"), Ok(Some(Metadata { cipher: cipher(), bit_length: 256, versions: 1 })));
    assert_eq!(keys.metadata("nokey"), Ok(None));
    // Java's key stores know no case.
    assert_eq!(keys.current_version("myKey").as_deref(), Ok("myKey@1"));
    // A version is no key.
    assert_eq!(keys.metadata("mykey@0"), Ok(None));
    assert_eq!(keys.current_version("mykey").as_deref(), Ok("mykey@1"));
    assert_eq!(keys.current_version("nokey").unwrap_err().message, "No KeyVersion exists for key 'nokey' ");
}

#[test]
fn files_keys_of_hadoop_are_opened() {
    let keys = provider();
    let text = fs::read_to_string(data("edeks.txt")).unwrap();
    let mut seen = 0;
    for line in text.lines().filter(|line| line.starts_with("edek")) {
        let columns: Vec<&str> = line.split('\t').collect();
        let key = EncryptedKey {
            key_name: columns[1].split('@').next().unwrap().to_owned(),
            key_version_name: columns[1].to_owned(),
            iv: unhex(columns[2]),
            material: unhex(columns[3]),
        };
        assert_eq!(keys.decrypt_encrypted_key(&key).unwrap(), unhex(columns[4]), "{line}");
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[test]
fn a_new_key_is_opened_again_and_turned_over() {
    let keys = provider();
    let made = keys.generate_encrypted_key("mykey").unwrap();
    assert_eq!((made.key_version_name.as_str(), made.iv.len(), made.material.len()), ("mykey@1", 16, 16));
    assert_ne!(made, keys.generate_encrypted_key("mykey").unwrap());
    let plain = keys.decrypt_encrypted_key(&made).unwrap();
    assert_ne!(plain, made.material);
    assert_eq!(keys.reencrypt_encrypted_key(&made).as_ref(), Ok(&made));
    // The same key as the older version would have it.
    let older = {
        let mut wrapped = plain.clone();
        let iv: Vec<u8> = made.iv.iter().map(|byte| !byte).collect();
        StreamCipher::new(&unhex("7f15ff4f657929fd75085982260f5235"), &iv).unwrap().apply(&mut wrapped);
        EncryptedKey { key_version_name: "mykey@0".to_owned(), material: wrapped, ..made.clone() }
    };
    assert_eq!(keys.decrypt_encrypted_key(&older).as_ref(), Ok(&plain));
    assert_eq!(keys.reencrypt_encrypted_key(&older), Ok(made));
}

#[test]
fn damage_and_a_wrong_password_are_told_apart_from_keys() {
    let bytes = fs::read(data("keys.jceks")).unwrap();
    let aliases = KeyStore::parse(&bytes, "none").unwrap();
    assert_eq!(aliases.aliases().collect::<Vec<_>>(), ["key256", "key256@0", "mykey", "mykey@0", "mykey@1"]);
    assert_eq!(KeyStore::parse(&bytes, "other").err(), Some(KeyStoreError::WrongPassword));
    let mut changed = bytes.clone();
    changed[100] ^= 1;
    assert_eq!(KeyStore::parse(&changed, "none").err(), Some(KeyStoreError::WrongPassword));
    for len in 0..bytes.len() {
        assert!(KeyStore::parse(&bytes[..len], "none").is_err(), "{len}");
    }
    let text = JavaKeyStoreProvider::open(&data("keys.jceks"), "x").err().unwrap().message;
    assert!(text.ends_with("keys.jceks: Keystore was tampered with, or password was incorrect"), "{text}");
}

#[test]
fn a_file_made_later_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.jceks");
    let keys = JavaKeyStoreProvider::open(&path, "none").unwrap();
    assert_eq!(keys.metadata("mykey"), Ok(None));
    fs::copy(data("keys.jceks"), &path).unwrap();
    assert!(keys.metadata("mykey").unwrap().is_some());
    // Written anew, as Hadoop does that: for a while it is not there.
    fs::rename(&path, dir.path().join("keys.jceks_OLD")).unwrap();
    assert!(keys.metadata("mykey").unwrap().is_some());
    assert!(keys.metadata("key256").unwrap().is_some());
}

/// `PATH` was renamed, and `PATH_NEW` not yet, or not wholly written.
#[test]
fn a_writer_that_stopped_half_way() {
    let dir = tempfile::tempdir().unwrap();
    let file = |end: &str| dir.path().join(format!("keys.jceks{end}"));
    let has = || JavaKeyStoreProvider::open(&file(""), "none").and_then(|keys| keys.metadata("mykey"));
    assert_eq!(has(), Ok(None));
    fs::copy(data("keys.jceks"), file("_OLD")).unwrap();
    assert!(has().unwrap().is_some());
    fs::write(file("_NEW"), b"cut off").unwrap();
    assert!(has().unwrap().is_some());
    fs::remove_file(file("_OLD")).unwrap();
    assert!(has().unwrap_err().message.ends_with("_NEW: the key store is cut off"));
    fs::copy(data("keys.jceks"), file("_NEW")).unwrap();
    assert!(has().unwrap().is_some());
    fs::copy(data("keys.jceks"), file("")).unwrap();
    assert!(has().unwrap_err().message.ends_with("should not exist together)!!"));
}

#[test]
fn keys_are_not_printed() {
    let bytes = fs::read(data("keys.jceks")).unwrap();
    let entry = KeyStore::parse(&bytes, "none").unwrap().entry("mykey@0").unwrap();
    assert_eq!(format!("{entry:?}"), "Some(Key(16 bytes))");
}

/// The first block of NIST SP 800-38A, F.5.1, and any offset from there.
#[test]
fn counter_mode_from_any_offset() {
    let (key, iv) = (unhex("2b7e151628aed2a6abf7158809cf4f3c"), unhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"));
    let plain = unhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
    let secret = unhex("874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff");
    for offset in [0, 1, 15, 16, 31] {
        let mut cipher = StreamCipher::new(&key, &iv).unwrap();
        cipher.seek(offset as u64);
        let mut data = plain[offset..].to_vec();
        cipher.apply(&mut data);
        assert_eq!(data, secret[offset..]);
    }
    assert!(StreamCipher::new(&key[1..], &iv).is_err());
    assert!(StreamCipher::new(&key, &iv[1..]).is_err());
}
