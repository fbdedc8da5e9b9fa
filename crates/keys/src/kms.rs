//! Keys of a Hadoop KMS, asked over HTTP (`kms://http@HOST[;HOST]:PORT/kms`): it never lets a zone's key out, but makes,
//! opens and turns over the files' keys itself. Source: `KMSClientProvider.java`, `KMSRESTConstants.java`, Hadoop 3.5.0.

use crate::{EncryptedKey, IV_BYTES, KeyProvider, Metadata, base64};
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::Read;
use std::time::{Duration, Instant};
use surus_net::http::{self, HttpAnswer};
use surus_types::{ExceptionClass, HdfsError};

/// Source: `hadoop.security.kms.client.timeout`.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Files' keys asked for at once; those not needed yet are kept.
const BATCH: usize = 50;
/// How long files' keys made in advance are good. Source: `hadoop.security.kms.client.encrypted.key.cache.expiry`.
const EXPIRY: Duration = Duration::from_secs(12 * 3600);
/// Answers of a server before a KMS that cannot reach it.
const NOT_THERE: [u16; 3] = [502, 503, 504];
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
    ready: Mutex<HashMap<String, Ready>>,
}

/// Files' keys made in advance, the oldest first.
#[derive(Default)]
struct Ready {
    keys: VecDeque<(Instant, EncryptedKey)>,
    /// How often they were thrown away: what was asked for before that is not kept.
    drained: u64,
}

impl Ready {
    fn take(&mut self, now: Instant) -> Option<EncryptedKey> {
        while let Some((made, key)) = self.keys.pop_front() {
            if now.saturating_duration_since(made) < EXPIRY {
                return Some(key);
            }
        }
        None
    }
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
        let unreachable = |address: &str, why: &dyn std::fmt::Display| {
            HdfsError::new(ExceptionClass::Connect, format!("KMS at {address}: {why}"))
        };
        for address in &self.addresses {
            let body = body.map(Value::to_string);
            let answer = http::exchange(address, &target, body.as_deref().map(str::as_bytes), TIMEOUT);
            match answer.and_then(|answer| Ok((answer.status, answer.reason.clone(), body_of(answer)?))) {
                Ok((status, reason, _)) if NOT_THERE.contains(&status) => {
                    last = unreachable(address, &format_args!("HTTP status {status} {reason}"));
                }
                Ok((status, reason, text)) => return read(status, &reason, &text),
                Err(error) => last = unreachable(address, &error),
            }
        }
        Err(last)
    }

    fn ask_about(&self, operation: &str, key: &EncryptedKey) -> Result<Value, HdfsError> {
        let (iv, material) = (base64::encode(&key.iv), base64::encode(&key.material));
        let body = json!({"name": key.key_name, "iv": iv, "material": material});
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

    /// That of a key made just now: to ask for the version itself one has to be allowed its material, which would come along.
    /// Keys made in advance are thrown away: those of an older version would otherwise be used after it was turned over.
    /// Source: `FSDirEncryptionZoneOp.getCurrentKeyVersion`, Hadoop 3.5.0.
    fn current_version(&self, name: &str) -> Result<String, HdfsError> {
        {
            let mut ready = self.ready.lock();
            let ready = ready.entry(name.to_owned()).or_default();
            ready.keys.clear();
            ready.drained += 1;
        }
        self.generate_encrypted_key(name).map(|key| key.key_version_name)
    }

    fn generate_encrypted_key(&self, name: &str) -> Result<EncryptedKey, HdfsError> {
        let drained = {
            let mut ready = self.ready.lock();
            let ready = ready.entry(name.to_owned()).or_default();
            if let Some(key) = ready.take(Instant::now()) {
                return Ok(key);
            }
            ready.drained
        };
        let asked = Instant::now();
        let path = format!("key/{}/_eek", escaped(name));
        let answer = self.ask(&path, &format!("eek_op=generate&num_keys={BATCH}&"), None)?;
        let list = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut made = list.iter().map(|json| encrypted_key(name, json)).collect::<Result<VecDeque<_>, _>>()?;
        let key = made.pop_front().ok_or_else(|| HdfsError::io(format!("the KMS made no key for {name}")))?;
        let mut ready = self.ready.lock();
        let ready = ready.entry(name.to_owned()).or_default();
        if ready.drained == drained {
            ready.keys.extend(made.into_iter().map(|key| (asked, key)));
        }
        Ok(key)
    }

    fn decrypt_encrypted_key(&self, key: &EncryptedKey) -> Result<Vec<u8>, HdfsError> {
        let material = bytes(&self.ask_about("decrypt", key)?, "material")?;
        same_length(key, &material)?;
        Ok(material)
    }

    fn reencrypt_encrypted_key(&self, key: &EncryptedKey) -> Result<EncryptedKey, HdfsError> {
        let new = encrypted_key(&key.key_name, &self.ask_about("reencrypt", key)?)?;
        if new.iv != key.iv {
            // The file's data is encrypted under it.
            return Err(HdfsError::io("KMS: the answer changes the initialization vector"));
        }
        same_length(key, &new.material)?;
        Ok(new)
    }
}

/// What takes the place of a file's key is as long as it: the key would be lost otherwise.
fn same_length(key: &EncryptedKey, material: &[u8]) -> Result<(), HdfsError> {
    if material.len() == key.material.len() {
        return Ok(());
    }
    let (is, was) = (material.len(), key.material.len());
    Err(HdfsError::io(format!("KMS: the answer holds a key of {is} bytes for one of {was}")))
}

/// Nothing but a key that can be used: it may become the only copy.
fn encrypted_key(name: &str, json: &Value) -> Result<EncryptedKey, HdfsError> {
    let key = EncryptedKey {
        key_name: name.to_owned(),
        key_version_name: text(json, "versionName")?,
        iv: bytes(json, "iv")?,
        material: bytes(&json["encryptedKeyVersion"], "material")?,
    };
    let bad = |what: &str| Err(HdfsError::io(format!("KMS: the answer holds {what}")));
    if key.key_version_name.is_empty() {
        return bad("no versionName");
    }
    if key.iv.len() != IV_BYTES {
        return bad(&format!("an initialization vector of {} bytes", key.iv.len()));
    }
    if !matches!(key.material.len(), 16 | 24 | 32) {
        return bad(&format!("a key of {} bytes", key.material.len()));
    }
    Ok(key)
}

fn body_of(answer: HttpAnswer) -> std::io::Result<String> {
    let mut text = String::new();
    answer.body.take(ANSWER_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn read(status: u16, reason: &str, text: &str) -> Result<Value, HdfsError> {
    let json = serde_json::from_str::<Value>(text);
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
    let bad = || HdfsError::io(format!("KMS: {field} of the answer is not base64"));
    base64::decode(&text(json, field)?).ok_or_else(bad)
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_made_in_advance_are_used_in_turn_and_grow_old() {
        let key = |version: &str| EncryptedKey {
            key_name: "k".to_owned(),
            key_version_name: version.to_owned(),
            iv: vec![0; IV_BYTES],
            material: vec![0; 16],
        };
        let start = Instant::now();
        let mut ready = Ready::default();
        for (seconds, version) in [(0, "k@0"), (0, "k@1"), (10, "k@2")] {
            ready.keys.push_back((start + Duration::from_secs(seconds), key(version)));
        }
        let mut take = |after: Duration| ready.take(start + after).map(|key| key.key_version_name);
        assert_eq!(take(Duration::ZERO).as_deref(), Some("k@0"));
        assert_eq!(take(EXPIRY).as_deref(), Some("k@2"));
        assert_eq!(take(EXPIRY), None);
    }
}
