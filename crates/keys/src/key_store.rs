//! Java's key stores of type JCEKS, read: an integrity check over the whole, and each key sealed by the password.
//! Source: the file format of `com.sun.crypto.provider.JceKeyStore`, OpenJDK 17.

use crate::java_objects::{Input, Object, read_object};
use des::TdesEde3;
use des::cipher::block_padding::Pkcs7;
use des::cipher::{BlockModeDecrypt, KeyIvInit};
use md5::{Digest, Md5};
use sha1::Sha1;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

const MAGIC: u32 = 0xcece_cece;
const DIGEST_BYTES: usize = 20;
const SALT_BYTES: usize = 8;
/// More would only serve to keep the reader busy. Source: `jdk.jceks.iterationCount`.
const ITERATIONS_MAX: u32 = 5_000_000;
const SEAL: &str = "PBEWithMD5AndTripleDES";

/// Why a key store cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeyStoreError {
    Truncated,
    Malformed(&'static str),
    /// It was changed, or the password is another: the format does not tell which.
    WrongPassword,
    /// Something but a secret key.
    UnsupportedEntry(u32),
}

impl fmt::Display for KeyStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the key store is cut off"),
            Self::Malformed(what) => write!(f, "the key store is damaged: {what} is not what it should be"),
            Self::WrongPassword => f.write_str("Keystore was tampered with, or password was incorrect"),
            Self::UnsupportedEntry(tag) => {
                write!(f, "the key store holds an entry of kind {tag}, not only secret keys")
            }
        }
    }
}

/// A key still sealed.
struct Sealed {
    salt: [u8; SALT_BYTES],
    iterations: u32,
    content: Vec<u8>,
}

/// What an alias stands for.
#[derive(Clone, PartialEq, Eq)]
pub enum Entry {
    /// The material of a key's version.
    Key(Vec<u8>),
    /// What Hadoop writes of a key: JSON.
    Metadata(String),
}

/// Without the material: it has no business in logs.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "Key({} bytes)", key.len()),
            Self::Metadata(text) => f.debug_tuple("Metadata").field(text).finish(),
        }
    }
}

/// The entries of a key store, by alias. Each is unsealed when it is asked for: that takes long on purpose.
pub struct KeyStore {
    password: Vec<u8>,
    entries: BTreeMap<String, Sealed>,
}

impl KeyStore {
    /// A store without keys, which a file that does not exist is.
    pub fn empty() -> Self {
        KeyStore { password: Vec::new(), entries: BTreeMap::new() }
    }

    /// # Errors
    /// The password is wrong, or the bytes are no key store of secret keys.
    pub fn parse(bytes: &[u8], password: &str) -> Result<Self, KeyStoreError> {
        let (content, digest) =
            bytes.split_at_checked(bytes.len().saturating_sub(DIGEST_BYTES)).ok_or(KeyStoreError::Truncated)?;
        let mut input = Input(content);
        let (magic, version) = (input.u32()?, input.u32()?);
        if magic != MAGIC || !matches!(version, 1 | 2) {
            return Err(KeyStoreError::Malformed("its head (only JCEKS is known)"));
        }
        let mut hash = Sha1::new();
        for unit in password.encode_utf16() {
            hash.update(unit.to_be_bytes());
        }
        hash.update(b"Mighty Aphrodite");
        hash.update(content);
        if hash.finalize()[..] != *digest {
            return Err(KeyStoreError::WrongPassword);
        }
        let mut entries = BTreeMap::new();
        for _ in 0..input.u32()? {
            let tag = input.u32()?;
            if tag != 3 {
                return Err(KeyStoreError::UnsupportedEntry(tag));
            }
            let alias = input.utf()?;
            input.take(8)?;
            entries.insert(alias.to_lowercase(), sealed(&*read_object(&mut input)?)?);
        }
        Ok(KeyStore { password: password.bytes().map(|byte| byte & 0x7f).collect(), entries })
    }

    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Unseals an entry; `None`: there is none. Names are the same in any case.
    ///
    /// # Errors
    /// It holds something else than a key or Hadoop's words about one.
    pub fn entry(&self, alias: &str) -> Result<Option<Entry>, KeyStoreError> {
        self.entries.get(&alias.to_lowercase()).map(|sealed| unseal(sealed, &self.password)).transpose()
    }
}

fn sealed(object: &Object) -> Result<Sealed, KeyStoreError> {
    let bad = KeyStoreError::Malformed("a sealed key");
    if object.text("sealAlg").is_none_or(|name| name != SEAL) {
        return Err(KeyStoreError::Malformed("the algorithm that seals a key"));
    }
    let (Some(parameters), Some(content)) = (object.bytes("encodedParams"), object.bytes("encryptedContent")) else {
        return Err(bad);
    };
    // SEQUENCE { OCTET STRING salt, INTEGER iterations }, all of them short.
    let [0x30, _, 0x04, 8, rest @ ..] = parameters else { return Err(bad) };
    let (salt, number) = rest.split_first_chunk::<SALT_BYTES>().ok_or(bad.clone())?;
    let [0x02, len, number @ ..] = number else { return Err(bad) };
    if number.len() != usize::from(*len) || number.len() > 4 {
        return Err(bad);
    }
    let iterations = number.iter().fold(0u32, |value, byte| value << 8 | u32::from(*byte));
    if iterations > ITERATIONS_MAX {
        return Err(KeyStoreError::Malformed("the iteration count"));
    }
    Ok(Sealed { salt: *salt, iterations, content: content.to_vec() })
}

/// Key and vector of the triple DES: each half of the salt is hashed over and over with the password.
fn derived(sealed: &Sealed, password: &[u8]) -> [u8; 32] {
    let mut salt = sealed.salt;
    if salt[..4] == salt[4..] {
        // Meant to turn the first half round, but Java's store of the second byte goes to one place always.
        for i in 0..2 {
            let byte = salt[i];
            salt[i] = salt[3 - i];
            salt[2] = byte;
        }
    }
    let mut out = [0; 32];
    for (half, out) in salt.chunks(4).zip(out.chunks_mut(16)) {
        let mut hashed = half.to_vec();
        for _ in 0..sealed.iterations {
            let digest = Md5::new().chain_update(&hashed).chain_update(password).finalize();
            hashed.clear();
            hashed.extend_from_slice(&digest);
        }
        out.iter_mut().zip(hashed).for_each(|(to, from)| *to = from);
    }
    out
}

fn unseal(sealed: &Sealed, password: &[u8]) -> Result<Entry, KeyStoreError> {
    let derived = derived(sealed, password);
    let cipher = cbc::Decryptor::<TdesEde3>::new_from_slices(&derived[..24], &derived[24..])
        .map_err(|_| KeyStoreError::Malformed("the length of a key"))?;
    let plain = cipher.decrypt_padded_vec::<Pkcs7>(&sealed.content).map_err(|_| KeyStoreError::WrongPassword)?;
    let object: Rc<Object> = read_object(&mut Input(&plain))?;
    if let Some(key) = object.bytes("key") {
        return Ok(Entry::Key(key.to_vec()));
    }
    if !object.class.ends_with("$KeyMetadata") {
        return Err(KeyStoreError::Malformed("the class of a key"));
    }
    let mut data = Input(&object.data);
    let len = data.u32()? as usize;
    let text = String::from_utf8(data.take(len)?.to_vec());
    text.map(Entry::Metadata).map_err(|_| KeyStoreError::Malformed("a key's metadata"))
}
