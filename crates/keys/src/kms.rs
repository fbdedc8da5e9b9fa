//! Keys of a Hadoop KMS, asked over HTTP (`kms://http@HOST[;HOST]:PORT/kms`): it never lets a zone's key out, but makes,
//! opens and turns over the files' keys itself. Source: `KMSClientProvider.java`, `KMSRESTConstants.java`, Hadoop 3.5.0.

use crate::{EncryptedKey, KeyProvider, Metadata};
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Read;
use std::time::Duration;
use surus_net::http::{self, HttpAnswer};
use surus_types::{HdfsError, XAttrCodec};

/// Source: `hadoop.security.kms.client.timeout`.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Files' keys asked for at once; those not needed yet are kept.
const BATCH: usize = 50;
/// Bytes of an answer.
const ANSWER_MAX: u64 = 4 << 20;
/// What a path or a query value may not hold as it is.
const ESCAPED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'&').add(b'/').add(b'?').add(b'+').add(b'=');

pub struct KmsProvider {
    /// Any of them will do.
    addresses: Vec<String>,
    /// `/kms/v1`.
    prefix: String,
    user: String,
    /// Files' keys made in advance, by the zone's key.
    ready: Mutex<HashMap<String, Vec<EncryptedKey>>>,
}

impl KmsProvider {
    /// `rest`: the URI behind `kms://`.
    ///
    /// # Errors
    /// It names no host, or asks for TLS, which this client does not speak.
    pub fn new(rest: &str, user: &str) -> Result<Self, HdfsError> {
        let bad = || HdfsError::io(format!("kms://{rest} is not kms://http@HOST:PORT/kms"));
        let (scheme, place) = rest.split_once('@').ok_or_else(bad)?;
        if scheme != "http" {
            return Err(HdfsError::io(format!("kms://{rest}: only http is spoken, not {scheme}")));
        }
        let (authority, path) = place.split_once('/').ok_or_else(bad)?;
        let (hosts, port) = authority.rsplit_once(':').unwrap_or((authority, "9600"));
        let port: u16 = port.parse().map_err(|_| bad())?;
        let addresses = hosts.split(';').filter(|host| !host.is_empty()).map(|host| format!("{host}:{port}")).collect();
        let prefix = format!("/{}/v1", path.trim_end_matches('/'));
        Ok(KmsProvider { addresses, prefix, user: escaped(user), ready: Mutex::default() })
    }

    /// Asks one KMS after the other until one answers.
    fn ask(&self, path: &str, query: &str, body: Option<&Value>) -> Result<Value, HdfsError> {
        let target = format!("{}/{path}?{query}user.name={}", self.prefix, self.user);
        let mut last = HdfsError::io("the URI of the KMS names no host");
        for address in &self.addresses {
            let answer = match body {
                Some(body) => http::post_json(address, &target, body.to_string().as_bytes(), TIMEOUT),
                None => http::get(address, &target, TIMEOUT),
            };
            match answer {
                Ok(answer) => return read(answer),
                Err(error) => last = HdfsError::io(format!("KMS at {address}: {error}")),
            }
        }
        Err(last)
    }

    fn ask_about(&self, operation: &str, key: &EncryptedKey) -> Result<Value, HdfsError> {
        let body = json!({"name": key.key_name, "iv": encoded(&key.iv), "material": encoded(&key.material)});
        let path = format!("keyversion/{}/_eek", escaped(&key.key_version_name));
        self.ask(&path, &format!("eek_op={operation}&"), Some(&body))
    }
}

impl KeyProvider for KmsProvider {
    fn metadata(&self, name: &str) -> Result<Option<Metadata>, HdfsError> {
        let json = self.ask(&format!("key/{}/_metadata", escaped(name)), "", None)?;
        if json.as_object().is_none_or(serde_json::Map::is_empty) {
            return Ok(None);
        }
        let number = |field: &str| json[field].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        Ok(Some(Metadata {
            cipher: text(&json, "cipher")?,
            bit_length: number("length"),
            versions: number("versions"),
        }))
    }

    fn current_version(&self, name: &str) -> Result<String, HdfsError> {
        let json = self.ask(&format!("key/{}/_currentversion", escaped(name)), "", None)?;
        text(&json, "versionName")
    }

    fn generate_encrypted_key(&self, name: &str) -> Result<EncryptedKey, HdfsError> {
        if let Some(key) = self.ready.lock().get_mut(name).and_then(Vec::pop) {
            return Ok(key);
        }
        let path = format!("key/{}/_eek", escaped(name));
        let answer = self.ask(&path, &format!("eek_op=generate&num_keys={BATCH}&"), None)?;
        let list = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut made = list.iter().map(|json| encrypted_key(name, json)).collect::<Result<Vec<_>, _>>()?;
        let key = made.pop().ok_or_else(|| HdfsError::io(format!("the KMS made no key for {name}")))?;
        self.ready.lock().entry(name.to_owned()).or_default().append(&mut made);
        Ok(key)
    }

    fn decrypt_encrypted_key(&self, key: &EncryptedKey) -> Result<Vec<u8>, HdfsError> {
        bytes(&self.ask_about("decrypt", key)?, "material")
    }

    fn reencrypt_encrypted_key(&self, key: &EncryptedKey) -> Result<EncryptedKey, HdfsError> {
        encrypted_key(&key.key_name, &self.ask_about("reencrypt", key)?)
    }
}

fn encrypted_key(name: &str, json: &Value) -> Result<EncryptedKey, HdfsError> {
    Ok(EncryptedKey {
        key_name: name.to_owned(),
        key_version_name: text(json, "versionName")?,
        iv: bytes(json, "iv")?,
        material: bytes(&json["encryptedKeyVersion"], "material")?,
    })
}

fn read(answer: HttpAnswer) -> Result<Value, HdfsError> {
    let HttpAnswer { status, reason, body, .. } = answer;
    let mut text = String::new();
    body.take(ANSWER_MAX).read_to_string(&mut text).map_err(|e| HdfsError::io(format!("KMS: {e}")))?;
    let json = serde_json::from_str::<Value>(&text);
    if (200..300).contains(&status) {
        // No such key: an empty answer.
        return if text.is_empty() { Ok(Value::Null) } else { json.map_err(|e| HdfsError::io(format!("KMS: {e}"))) };
    }
    let told = json.ok().and_then(|json| Some(json["RemoteException"]["message"].as_str()?.to_owned()));
    Err(HdfsError::io(told.unwrap_or_else(|| format!("KMS: HTTP status {status} {reason}"))))
}

fn text(json: &Value, field: &str) -> Result<String, HdfsError> {
    let missing = || HdfsError::io(format!("KMS: the answer holds no {field}"));
    json[field].as_str().map(str::to_owned).ok_or_else(missing)
}

fn bytes(json: &Value, field: &str) -> Result<Vec<u8>, HdfsError> {
    XAttrCodec::decode(&format!("0s{}", text(json, field)?))
}

/// Base64 in the alphabet of URLs, without padding, as the KMS writes it.
fn encoded(bytes: &[u8]) -> String {
    let text = XAttrCodec::Base64.encode(bytes);
    text[2..].trim_end_matches('=').replace('+', "-").replace('/', "_")
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}
