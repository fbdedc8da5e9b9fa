//! Keys of encryption zones: where they come from, and how a file's own key is made, wrapped and unwrapped. A file's key never
//! lies anywhere in the clear: the NameNode keeps it encrypted by its zone's key, and only who may use that key opens it.
//! Source: `KeyProvider.java`, `KeyProviderCryptoExtension.java`, Hadoop 3.5.0.

mod base64;
mod cipher;
mod java_key_store;
mod java_objects;
mod key_store;
mod kms;

pub use cipher::{IV_BYTES, StreamCipher};
pub use java_key_store::JavaKeyStoreProvider;
pub use key_store::{KeyStore, KeyStoreError};
pub use kms::KmsProvider;

use std::sync::Arc;
use surus_conf::{Configuration, keys};
use surus_types::HdfsError;

/// What is known of a key without its material.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Metadata {
    /// `AES/CTR/NoPadding`, ...
    pub cipher: String,
    pub bit_length: u32,
    /// How many versions there are: the last is current.
    pub versions: u32,
}

/// A file's key, encrypted by a version of its zone's key (Hadoop: EDEK).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncryptedKey {
    pub key_name: String,
    /// `mykey@0`: the version it is encrypted by.
    pub key_version_name: String,
    /// Of the file's data; the key itself is encrypted under [`derived_iv`](cipher::derived_iv) of it.
    pub iv: Vec<u8>,
    pub material: Vec<u8>,
}

/// Where keys come from. Calls may take as long as a server does: no lock is held over them.
pub trait KeyProvider: Send + Sync {
    /// `None`: there is no such key.
    ///
    /// # Errors
    /// `IOException`: the keys cannot be read.
    fn metadata(&self, name: &str) -> Result<Option<Metadata>, HdfsError>;

    /// The name of a key's current version.
    ///
    /// # Errors
    /// `IOException`: there is no such key, or the keys cannot be read.
    fn current_version(&self, name: &str) -> Result<String, HdfsError>;

    /// A new key for a file, encrypted by the current version of `name`.
    ///
    /// # Errors
    /// As [`KeyProvider::current_version`].
    fn generate_encrypted_key(&self, name: &str) -> Result<EncryptedKey, HdfsError>;

    /// The file's key in the clear.
    ///
    /// # Errors
    /// `IOException`: the version is unknown, the caller may not use it, or the keys cannot be read.
    fn decrypt_encrypted_key(&self, key: &EncryptedKey) -> Result<Vec<u8>, HdfsError>;

    /// The same file's key, encrypted by the current version.
    ///
    /// # Errors
    /// As [`KeyProvider::decrypt_encrypted_key`].
    fn reencrypt_encrypted_key(&self, key: &EncryptedKey) -> Result<EncryptedKey, HdfsError>;
}

/// The provider that `hadoop.security.key.provider.path` names; `None`: it names none. `user` is who asks a KMS.
///
/// # Errors
/// The URI is of no kind known here, or its key store cannot be opened.
pub fn from_configuration(conf: &Configuration, user: &str) -> Result<Option<Arc<dyn KeyProvider>>, HdfsError> {
    let path = conf.get(keys::HADOOP_SECURITY_KEY_PROVIDER_PATH).map_err(|e| HdfsError::io(e.to_string()))?;
    if path.is_empty() {
        return Ok(None);
    }
    let file = conf
        .get(keys::HADOOP_SECURITY_KEYSTORE_JAVA_KEYSTORE_PROVIDER_PASSWORD_FILE)
        .map_err(|e| HdfsError::io(e.to_string()))?;
    open(&path, &file, user).map(Some)
}

/// The provider at a URI: `jceks://file/PATH` or `kms://http@HOST[;HOST]:PORT/kms`. `password_file`: of a key store, if it is not
/// empty.
///
/// # Errors
/// As [`from_configuration`].
pub fn open(uri: &str, password_file: &str, user: &str) -> Result<Arc<dyn KeyProvider>, HdfsError> {
    if let Some(path) = uri.strip_prefix("jceks://file/") {
        let password = java_key_store::password(password_file)?;
        return Ok(Arc::new(JavaKeyStoreProvider::open(format!("/{path}").as_ref(), &password)?));
    }
    if let Some(rest) = uri.strip_prefix("kms://") {
        return Ok(Arc::new(KmsProvider::new(rest, user)?));
    }
    Err(HdfsError::io(format!(
        "Could not instantiate KeyProvider for uri: {uri} (jceks://file/... and kms://http@... are known)"
    )))
}
