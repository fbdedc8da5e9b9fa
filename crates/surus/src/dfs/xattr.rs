//! `-getfattr` and `-setfattr`. Source: `XAttrCommands.java`, `XAttrCodec.java`, `XAttrHelper.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use surus_client::{XAttr, XAttrNamespace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Text,
    Hex,
    Base64,
}

/// Takes an option with its value out of the words.
fn take(words: &mut Vec<String>, option: &str) -> Option<String> {
    let at = words.iter().position(|word| word == option)?;
    words.remove(at);
    (at < words.len()).then(|| words.remove(at))
}

fn take_flag(words: &mut Vec<String>, flag: &str) -> bool {
    let before = words.len();
    words.retain(|word| word != flag);
    words.len() < before
}

/// `user.name`: its namespace and the rest.
fn parse_name(text: &str, value: Option<Vec<u8>>) -> Result<XAttr> {
    let illegal = |text: String| ShellError::Illegal(text);
    let (prefix, name) = text.split_once('.').unwrap_or((text, ""));
    let namespace = match prefix.to_ascii_lowercase().as_str() {
        "user" => XAttrNamespace::User,
        "trusted" => XAttrNamespace::Trusted,
        "security" => XAttrNamespace::Security,
        "system" => XAttrNamespace::System,
        "raw" => XAttrNamespace::Raw,
        _ => {
            return Err(illegal(
                "An XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'".into(),
            ));
        }
    };
    if name.is_empty() {
        return Err(illegal("XAttr name cannot be empty.".into()));
    }
    Ok(XAttr { namespace: namespace as i32, name: name.to_string(), value })
}

fn full_name(attribute: &XAttr) -> String {
    let prefix = match attribute.namespace() {
        XAttrNamespace::User => "user",
        XAttrNamespace::Trusted => "trusted",
        XAttrNamespace::Security => "security",
        XAttrNamespace::System => "system",
        XAttrNamespace::Raw => "raw",
    };
    format!("{prefix}.{}", attribute.name)
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode(value: &[u8], encoding: Encoding) -> String {
    match encoding {
        Encoding::Text => format!("\"{}\"", String::from_utf8_lossy(value)),
        Encoding::Hex => format!("0x{}", value.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        Encoding::Base64 => {
            let mut out = "0s".to_string();
            for chunk in value.chunks(3) {
                let bits =
                    chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
                for i in 0..4 {
                    let sextet = (bits >> (18 - 6 * i)) as usize & 63;
                    out.push(if i <= chunk.len() { char::from(BASE64[sextet]) } else { '=' });
                }
            }
            out
        }
    }
}

/// A value as the command line has it: `"text"`, `0xHEX`, `0sBASE64`, or plain text.
fn decode(text: &str) -> Result<Vec<u8>> {
    let bad = || ShellError::Illegal(format!("Illegal value: {text}"));
    let lower = text.to_ascii_lowercase();
    if let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return Ok(inner.as_bytes().to_vec());
    }
    if let Some(digits) = lower.strip_prefix("0x").map(str::as_bytes) {
        if !digits.len().is_multiple_of(2) {
            return Err(ShellError::Message("Odd number of characters.".into()));
        }
        let digit = |c: u8| char::from(c).to_digit(16).ok_or_else(bad);
        return digits
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => Ok((digit(*high)? << 4 | digit(*low)?) as u8),
                _ => Err(bad()),
            })
            .collect();
    }
    if lower.starts_with("0s") {
        let mut out = Vec::new();
        let (mut bits, mut count) = (0u32, 0);
        for c in text[2..].bytes().filter(|c| *c != b'=') {
            let sextet = BASE64.iter().position(|b| *b == c).ok_or_else(bad)?;
            bits = bits << 6 | sextet as u32;
            count += 6;
            if count >= 8 {
                count -= 8;
                out.push((bits >> count) as u8);
            }
        }
        return Ok(out);
    }
    Ok(text.as_bytes().to_vec())
}

/// `String.hashCode`, spread as Java's HashMap does: it orders what `-d` prints.
fn java_hash(text: &str) -> u32 {
    let hash = text.encode_utf16().fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
    hash ^ (hash >> 16)
}

/// Buckets of a HashMap that grew to hold so many.
fn java_buckets(count: usize) -> u32 {
    let mut buckets = 16u32;
    while count as u32 > buckets / 4 * 3 {
        buckets *= 2;
    }
    buckets
}

struct Getfattr {
    recursive: bool,
    /// `None`: all.
    name: Option<String>,
    encoding: Encoding,
}

pub fn getfattr(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let mut words = arguments.to_vec();
    let illegal = |text: &str| ShellError::Illegal(text.to_string());
    let name = take(&mut words, "-n");
    let encoding = match take(&mut words, "-e").map(|word| word.to_ascii_lowercase()).as_deref() {
        None | Some("text") => Encoding::Text,
        Some("hex") => Encoding::Hex,
        Some("base64") => Encoding::Base64,
        Some(other) => return Err(illegal(&format!("Invalid/unsupported encoding option specified: {other}"))),
    };
    let (recursive, dump) = (take_flag(&mut words, "-R"), take_flag(&mut words, "-d"));
    if name.is_none() && !dump {
        return Err(illegal("Must specify '-n name' or '-d' option."));
    }
    match words.len() {
        0 => return Err(illegal("<path> is missing.")),
        1 => {}
        _ => return Err(illegal("Too many arguments.")),
    }
    process(&mut Getfattr { recursive, name: name.filter(|_| !dump), encoding }, shell, &words)
}

impl Command for Getfattr {
    fn is_recursive(&self) -> bool {
        self.recursive
    }

    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        shell.out.line(&format!("# file: {}", item.text));
        let Some(client) = item.fs.client() else { return Ok(()) };
        let names = self.name.iter().map(|name| parse_name(name, None)).collect::<Result<Vec<XAttr>>>()?;
        let mut found: Vec<(String, XAttr)> = client
            .get_xattrs(&item.path, &names)?
            .into_iter()
            .map(|attribute| (full_name(&attribute), attribute))
            .collect();
        let buckets = java_buckets(found.len());
        found.sort_by_key(|(name, _)| java_hash(name) & (buckets - 1));
        for (name, attribute) in found {
            match attribute.value.filter(|value| !value.is_empty()) {
                Some(value) => shell.out.line(&format!("{name}={}", encode(&value, self.encoding))),
                None => shell.out.line(&name),
            }
        }
        Ok(())
    }
}

struct Setfattr {
    attribute: XAttr,
    remove: bool,
}

pub fn setfattr(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let mut words = arguments.to_vec();
    let illegal = |text: &str| ShellError::Illegal(text.to_string());
    let name = take(&mut words, "-n");
    let value = take(&mut words, "-v");
    let removed = take(&mut words, "-x");
    let value = value.map(|text| decode(&text)).transpose()?;
    let (attribute, remove) = match (name, removed) {
        (Some(_), Some(_)) => return Err(illegal("Can not specify both '-n name' and '-x name' option.")),
        (None, None) => return Err(illegal("Must specify '-n name' or '-x name' option.")),
        (Some(name), None) => (parse_name(&name, value)?, false),
        (None, Some(name)) => (parse_name(&name, None)?, true),
    };
    match words.len() {
        0 => return Err(illegal("<path> is missing.")),
        1 => {}
        _ => return Err(illegal("Too many arguments.")),
    }
    process(&mut Setfattr { attribute, remove }, shell, &words)
}

impl Command for Setfattr {
    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let Some(client) = item.fs.client() else {
            return Err(ShellError::Message("the local file system has no extended attributes".into()));
        };
        match self.remove {
            true => Ok(client.remove_xattr(&item.path, self.attribute.clone())?),
            false => Ok(client.set_xattr(&item.path, self.attribute.clone())?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_there_and_back() {
        for value in [&b""[..], b"a", b"ab", b"abc", b"\x00\xff\x10z"] {
            assert_eq!(decode(&encode(value, Encoding::Hex)).unwrap(), value);
            assert_eq!(decode(&encode(value, Encoding::Base64)).unwrap(), value);
        }
        assert_eq!(encode(b"ab", Encoding::Base64), "0sYWI=");
        assert_eq!(decode("\"x y\"").unwrap(), b"x y");
        assert_eq!(decode("plain").unwrap(), b"plain");
        assert!(decode("0x1").is_err() && decode("0s*").is_err());
    }

    #[test]
    fn names_have_a_namespace() {
        assert_eq!(full_name(&parse_name("User.a.b", None).unwrap()), "user.a.b");
        assert!(parse_name("a", None).is_err() && parse_name("user.", None).is_err());
    }
}
