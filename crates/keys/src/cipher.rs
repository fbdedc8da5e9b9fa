//! AES in counter mode, as encrypted files use it, and the wrapping of their keys.
//! Source: `KeyProviderCryptoExtension.java`, `CryptoStreamUtils.java`, Hadoop 3.5.0.

use aes::{Aes128, Aes192, Aes256};
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher as _, StreamCipherSeek};
use surus_types::HdfsError;

/// The block size of AES.
pub const IV_BYTES: usize = 16;

enum Aes {
    Bits128(Ctr128BE<Aes128>),
    Bits192(Ctr128BE<Aes192>),
    Bits256(Ctr128BE<Aes256>),
}

/// Encrypts or decrypts a file's bytes, from any offset on: both are the same.
pub struct StreamCipher(Aes);

impl StreamCipher {
    /// # Errors
    /// `IOException`: a key or a vector of a length that AES does not have.
    pub fn new(key: &[u8], iv: &[u8]) -> Result<Self, HdfsError> {
        let bad = |what: &str, bytes: usize| HdfsError::io(format!("{bytes} bytes are no {what} of AES"));
        if iv.len() != IV_BYTES {
            return Err(bad("initialization vector", iv.len()));
        }
        let wrong = |_| bad("key", key.len());
        Ok(StreamCipher(match key.len() {
            16 => Aes::Bits128(Ctr128BE::new_from_slices(key, iv).map_err(wrong)?),
            24 => Aes::Bits192(Ctr128BE::new_from_slices(key, iv).map_err(wrong)?),
            32 => Aes::Bits256(Ctr128BE::new_from_slices(key, iv).map_err(wrong)?),
            other => return Err(bad("key", other)),
        }))
    }

    /// Goes to an offset in the file, in bytes.
    pub fn seek(&mut self, offset: u64) {
        match &mut self.0 {
            Aes::Bits128(cipher) => cipher.seek(offset),
            Aes::Bits192(cipher) => cipher.seek(offset),
            Aes::Bits256(cipher) => cipher.seek(offset),
        }
    }

    /// Encrypts or decrypts the next bytes where they lie.
    pub fn apply(&mut self, data: &mut [u8]) {
        match &mut self.0 {
            Aes::Bits128(cipher) => cipher.apply_keystream(data),
            Aes::Bits192(cipher) => cipher.apply_keystream(data),
            Aes::Bits256(cipher) => cipher.apply_keystream(data),
        }
    }
}

/// The vector under which a file's key is encrypted: that of the file's data with every bit turned.
pub fn derived_iv(iv: &[u8]) -> Vec<u8> {
    iv.iter().map(|byte| byte ^ 0xff).collect()
}

/// Wraps a file's key by a zone's, or unwraps it.
///
/// # Errors
/// As [`StreamCipher::new`].
pub fn wrap(zone_key: &[u8], iv: &[u8], material: &[u8]) -> Result<Vec<u8>, HdfsError> {
    let mut wrapped = material.to_vec();
    StreamCipher::new(zone_key, &derived_iv(iv))?.apply(&mut wrapped);
    Ok(wrapped)
}
