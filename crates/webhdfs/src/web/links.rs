//! Links that expire: whoever has one may do what it says, as its user, until it ends. Signed with HMAC-SHA256.

use super::{FileRequest, PREFIX};
use crate::url::{encode_component, encode_path};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write as _;
use surus_types::HdfsError;

/// `expires` and `signature` of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// Seconds since 1970.
    pub expires_s: i64,
    pub signature: String,
}

/// What is signed: method, decoded path, time of expiry and user, a line each without an end to the last. HEAD counts as GET.
fn mac(key: &[u8], method: &str, path: &str, expires_s: i64, user: &str) -> Option<Hmac<Sha256>> {
    let method = if method == "HEAD" { "GET" } else { method };
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(format!("{method}\n{path}\n{expires_s}\n{user}").as_bytes());
    Some(mac)
}

/// The path and query of a signed link.
pub fn sign(key: &[u8], method: &str, path: &str, expires_s: i64, user: &str) -> String {
    let mut link =
        format!("{PREFIX}{}?user.name={}&expires={expires_s}&signature=", encode_path(path), encode_component(user));
    if let Some(mac) = mac(key, method, path, expires_s, user) {
        for byte in mac.finalize().into_bytes() {
            let _ = write!(link, "{byte:02x}");
        }
    }
    link
}

/// Checks the link of a request, if it is one. `key` is absent where no links are made.
///
/// # Errors
/// `AccessControlException`: it has expired, was not signed with the key, or asks for more than was signed.
pub fn verify(key: Option<&[u8]>, method: &str, request: &FileRequest, now_s: i64) -> Result<(), HdfsError> {
    let Some(link) = &request.link else { return Ok(()) };
    let refused = |text: &str| Err(HdfsError::access_control(text));
    let Some(key) = key else { return refused("No links are signed here: surus.link.secret.file is not set.") };
    if link.expires_s < now_s {
        return refused("The link has expired.");
    }
    let user = request.user.as_deref().unwrap_or_default();
    let given = bytes(&link.signature);
    let is_right = mac(key, method, &request.path, link.expires_s, user)
        .zip(given)
        .is_some_and(|(mac, given)| mac.verify_slice(&given).is_ok());
    if !is_right || user.is_empty() || request.do_as.is_some() {
        return refused("The link's signature is not right.");
    }
    Ok(())
}

/// Of two hexadecimal digits each.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let (pairs, rest) = digits.as_deref()?.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::parse;

    const KEY: &[u8] = b"0123456789abcdef";

    fn check(method: &str, url: &str, now_s: i64) -> Result<(), String> {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        verify(Some(KEY), method, &parse(path, query).unwrap(), now_s).map_err(|e| e.message)
    }

    #[test]
    fn links_are_what_openssl_makes_and_hold_nothing_else() {
        // printf 'GET\n/a b\n1000\nal' | openssl dgst -sha256 -hmac 0123456789abcdef
        let link = sign(KEY, "GET", "/a b", 1000, "al");
        let want = "/fs/a%20b?user.name=al&expires=1000&signature=84a1757c745b21d096058ce63712e61f364643fe7f847c6534a8dce820be2fc1";
        assert_eq!(link, want);
        assert_eq!(check("GET", &link, 1000), Ok(()));
        assert_eq!(check("HEAD", &link, 999), Ok(()));
        assert_eq!(check("GET", "/fs/a%20b?user.name=al", 5000), Ok(()), "no link at all");
        let wrong = Err("The link's signature is not right.".to_owned());
        assert_eq!(check("GET", &link, 1001), Err("The link has expired.".to_owned()));
        assert_eq!(check("PUT", &link, 1), wrong);
        for (from, to) in [
            ("a%20b", "a%20c"),
            ("=al", "=bo"),
            ("user.name=al&", ""),
            ("=1000", "=1001"),
            ("&expires", "&doas=bo&expires"),
            ("&signature=", "&signature=0"),
            ("&signature=", "&signature=00&x="),
        ] {
            assert_eq!(check("GET", &link.replace(from, to), 1), wrong, "{to}");
        }
        let request = parse("/fs/a", "user.name=al&expires=5&signature=00").unwrap();
        assert!(verify(None, "GET", &request, 1).unwrap_err().message.starts_with("No links are signed here"));
        assert!(parse("/fs/a", "user.name=al&expires=soon&signature=00").is_err());
        assert!(parse("/fs/a", "user.name=al&signature=00").is_err());
    }
}
