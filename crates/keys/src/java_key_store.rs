//! Keys in a file that `hadoop key create` wrote (`jceks://file/PATH`), read only.
//! Source: `JavaKeyStoreProvider.java`, Hadoop 3.5.0.

use crate::key_store::{Entry, KeyStore};
use crate::{EncryptedKey, KeyProvider, Metadata, cipher};
use parking_lot::Mutex;
use rand::RngCore;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs, io};
use surus_types::HdfsError;

/// Source: `JavaKeyStoreProvider.KEYSTORE_PASSWORD_DEFAULT`.
const PASSWORD_DEFAULT: &str = "none";
const PASSWORD_VARIABLE: &str = "HADOOP_KEYSTORE_PASSWORD";

/// The password of key stores: from the environment, else from `file` if it is not empty, else Hadoop's default.
///
/// # Errors
/// The file cannot be read.
pub fn password(file: &str) -> Result<String, HdfsError> {
    if let Ok(password) = env::var(PASSWORD_VARIABLE) {
        return Ok(password);
    }
    if file.is_empty() {
        return Ok(PASSWORD_DEFAULT.to_owned());
    }
    let text = fs::read_to_string(file.strip_prefix("file://").unwrap_or(file))
        .map_err(|e| HdfsError::io(format!("Password file {file} could not be read: {e}")))?;
    Ok(text.trim().to_owned())
}

/// When and how long: a file of another stamp is another file.
type Stamp = Option<(SystemTime, u64)>;

struct Loaded {
    stamp: Stamp,
    store: KeyStore,
    unsealed: HashMap<String, Entry>,
}

/// Reads the file again when it has changed, so that keys made meanwhile are seen (Hadoop sees them after a restart). While it is
/// not there, as between two steps of Hadoop's writing it anew, what was read before stays.
pub struct JavaKeyStoreProvider {
    path: PathBuf,
    password: String,
    loaded: Mutex<Loaded>,
}

impl JavaKeyStoreProvider {
    /// A file that does not exist holds no keys yet, unless its writer stopped half way: then they are in `PATH_NEW` or `PATH_OLD`.
    ///
    /// # Errors
    /// `IOException`: the file is no key store, or its password another, or `PATH_NEW` exists too.
    pub fn open(path: &Path, password: &str) -> Result<Self, HdfsError> {
        let loaded = locate(path, password)?;
        Ok(JavaKeyStoreProvider { path: path.to_owned(), password: password.to_owned(), loaded: Mutex::new(loaded) })
    }

    fn entry(&self, alias: &str) -> Result<Option<Entry>, HdfsError> {
        let mut loaded = self.loaded.lock();
        let stamp = stamp(&self.path);
        if stamp.is_some()
            && stamp != loaded.stamp
            && let Some(new) = load(&self.path, &self.password)?
        {
            *loaded = new;
        }
        if let Some(entry) = loaded.unsealed.get(alias) {
            return Ok(Some(entry.clone()));
        }
        let entry = loaded.store.entry(alias).map_err(|e| HdfsError::io(format!("{}: {e}", self.path.display())))?;
        if let Some(entry) = &entry {
            loaded.unsealed.insert(alias.to_owned(), entry.clone());
        }
        Ok(entry)
    }

    fn key(&self, version: &str) -> Result<Vec<u8>, HdfsError> {
        match self.entry(version)? {
            Some(Entry::Key(key)) => Ok(key),
            _ => Err(HdfsError::io(format!("KeyVersion name '{version}' does not exist"))),
        }
    }
}

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// A store is written anew in three steps: `PATH` becomes `PATH_OLD`, `PATH_NEW` is written, `PATH_NEW` becomes `PATH`. Nothing is
/// put right here, as its writer does that. Source: `JavaKeyStoreProvider.locateKeystore`, Hadoop 3.5.0.
fn locate(path: &Path, password: &str) -> Result<Loaded, HdfsError> {
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let (new, old) = (beside("_NEW"), beside("_OLD"));
    if let Some(loaded) = load(path, password)? {
        if new.exists() {
            return Err(HdfsError::io(format!(
                "Keystore not loaded due to some inconsistency ('{}' and '{}' should not exist together)!!",
                path.display(),
                new.display()
            )));
        }
        return Ok(loaded);
    }
    let found = match load(&new, password) {
        Ok(Some(found)) => Some(found),
        Ok(None) => load(&old, password)?,
        // Cut off, probably.
        Err(error) => Some(load(&old, password)?.ok_or(error)?),
    };
    let store = found.map_or_else(KeyStore::empty, |found| found.store);
    Ok(Loaded { stamp: None, store, unsealed: HashMap::new() })
}

/// `None`: there is no such file.
fn load(path: &Path, password: &str) -> Result<Option<Loaded>, HdfsError> {
    let bad = |e: &dyn std::fmt::Display| HdfsError::io(format!("{}: {e}", path.display()));
    let stamp = stamp(path);
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(bad(&e)),
    };
    let store = KeyStore::parse(&bytes, password).map_err(|e| bad(&e))?;
    Ok(Some(Loaded { stamp, store, unsealed: HashMap::new() }))
}

impl KeyProvider for JavaKeyStoreProvider {
    fn metadata(&self, name: &str) -> Result<Option<Metadata>, HdfsError> {
        let Some(Entry::Metadata(text)) = self.entry(name)? else { return Ok(None) };
        let bad = || HdfsError::io(format!("{}: the metadata of key {name} is damaged", self.path.display()));
        let json: serde_json::Value = serde_json::from_str(&text).map_err(|_| bad())?;
        let number = |field: &str| json[field].as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(bad);
        Ok(Some(Metadata {
            cipher: json["cipher"].as_str().ok_or_else(bad)?.to_owned(),
            bit_length: number("bitLength")?,
            versions: number("versions")?,
        }))
    }

    fn current_version(&self, name: &str) -> Result<String, HdfsError> {
        let metadata = self.metadata(name)?;
        let missing = || HdfsError::io(format!("No KeyVersion exists for key '{name}' "));
        let last = metadata.ok_or_else(missing)?.versions.checked_sub(1).ok_or_else(missing)?;
        Ok(format!("{name}@{last}"))
    }

    fn generate_encrypted_key(&self, name: &str) -> Result<EncryptedKey, HdfsError> {
        let version = self.current_version(name)?;
        let zone_key = self.key(&version)?;
        let (mut key, mut iv) = (vec![0; zone_key.len()], vec![0; cipher::IV_BYTES]);
        rand::rng().fill_bytes(&mut key);
        rand::rng().fill_bytes(&mut iv);
        let material = cipher::wrap(&zone_key, &iv, &key)?;
        Ok(EncryptedKey { key_name: name.to_owned(), key_version_name: version, iv, material })
    }

    fn decrypt_encrypted_key(&self, key: &EncryptedKey) -> Result<Vec<u8>, HdfsError> {
        cipher::wrap(&self.key(&key.key_version_name)?, &key.iv, &key.material)
    }

    fn reencrypt_encrypted_key(&self, key: &EncryptedKey) -> Result<EncryptedKey, HdfsError> {
        let version = self.current_version(&key.key_name)?;
        if version == key.key_version_name {
            return Ok(key.clone());
        }
        let plain = self.decrypt_encrypted_key(key)?;
        let material = cipher::wrap(&self.key(&version)?, &key.iv, &plain)?;
        Ok(EncryptedKey { key_version_name: version, material, ..key.clone() })
    }
}
