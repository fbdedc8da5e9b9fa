//! Files in encryption zones: their bytes are encrypted and decrypted here, with keys that the key provider opens.
//! Source: `DFSClient.java`, `HdfsKMSUtil.java`, `CryptoInputStream.java`, Hadoop 3.5.0.

use crate::client::DfsClient;
use crate::encryption::FileEncryptionInfo;
use crate::error::{ClientError, Result};
use std::io::{self, Read};
use std::sync::Arc;
use surus_keys::{EncryptedKey, KeyProvider, StreamCipher};
use surus_proto::hadoop::hdfs as proto;

fn io_error(error: surus_types::HdfsError) -> ClientError {
    ClientError::io(error.message)
}

impl DfsClient {
    /// Where keys come from: as the NameNode says, else as the configuration does. `None`: neither does.
    ///
    /// # Errors
    /// The URI is of no kind known here, or its key store cannot be opened.
    fn key_provider(&self) -> Result<Option<Arc<dyn KeyProvider>>> {
        let mut kept = self.inner.keys.lock();
        if kept.is_none() {
            let config = self.config();
            let told = self.get_server_defaults()?.key_provider_uri;
            let uri = if told.is_empty() { &config.key_provider_uri } else { &told };
            if uri.is_empty() {
                return Ok(None);
            }
            let user = &config.user.effective;
            *kept = Some(surus_keys::open(uri, &config.key_password_file, user).map_err(io_error)?);
        }
        Ok(kept.clone())
    }

    /// What encrypts and decrypts a file's bytes; `None`: it is not encrypted.
    ///
    /// # Errors
    /// Its key cannot be had, or its cipher is another than AES.
    pub(crate) fn cipher(&self, path: &str, info: Option<&FileEncryptionInfo>) -> Result<Option<StreamCipher>> {
        let Some(info) = info else { return Ok(None) };
        if info.suite != proto::CipherSuiteProto::AesCtrNopadding as i32 {
            return Err(ClientError::io(format!(
                "{path} is encrypted by cipher suite {}: only AES is known",
                info.suite
            )));
        }
        let provider = self.key_provider()?.ok_or_else(|| {
            ClientError::io(format!(
                "{path} is encrypted by key {}, and hadoop.security.key.provider.path does not say where its keys are",
                info.key_name
            ))
        })?;
        let key = provider.decrypt_encrypted_key(&EncryptedKey {
            key_name: info.key_name.clone(),
            key_version_name: info.ez_key_version_name.clone(),
            iv: info.iv.clone(),
            material: info.key.clone(),
        });
        let key = key.map_err(|e| {
            ClientError::io(format!("{path}: key {} cannot be opened: {}", info.ez_key_version_name, e.message))
        })?;
        StreamCipher::new(&key, &info.iv).map(Some).map_err(io_error)
    }
}

/// A source whose bytes come encrypted, as those of a file behind `pos`.
pub(crate) struct Encrypting<'a> {
    pub source: &'a mut dyn Read,
    pub cipher: Option<&'a mut StreamCipher>,
    pub pos: u64,
}

impl Read for Encrypting<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.source.read(buf)?;
        if let Some(cipher) = &mut self.cipher {
            cipher.seek(self.pos);
            cipher.apply(&mut buf[..len]);
        }
        self.pos += len as u64;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encrypted_in_pieces_is_decrypted_as_a_whole() {
        let cipher = || StreamCipher::new(&[7; 16], &[9; 16]).unwrap();
        let plain: Vec<u8> = (0..1000u32).map(|i| i as u8).collect();
        let (mut source, mut secret, mut ours) = (&plain[..], Vec::new(), cipher());
        let mut room = [0; 37];
        loop {
            let pos = 5 + secret.len() as u64;
            let read = Encrypting { source: &mut source, cipher: Some(&mut ours), pos }.read(&mut room).unwrap();
            if read == 0 {
                break;
            }
            secret.extend_from_slice(&room[..read]);
        }
        assert_ne!(secret, plain);
        let mut theirs = cipher();
        theirs.seek(5);
        theirs.apply(&mut secret);
        assert_eq!(secret, plain);
    }
}
