//! The types of values: how each is written, what it becomes, what is allowed. Source: `Configuration.java`, Hadoop 3.5.0.

use crate::keys::KeyRow;
use std::fmt;
pub use std::time::Duration;
use surus_types::{FsPermission, StorageType};

/// A type of value that a key may have.
pub trait Value {
    type Output;
    /// What the manual calls the type.
    const KIND: &'static str;
    /// Reads a trimmed, expanded value; `None` where it is not allowed.
    fn parse(row: &KeyRow, text: &str) -> Option<Self::Output>;
    /// What is allowed, as the end of "it must be ...".
    fn allowed(row: &KeyRow) -> String;
}

/// Any text.
pub struct Text;
impl Value for Text {
    type Output = String;
    const KIND: &'static str = "text";
    fn parse(_: &KeyRow, text: &str) -> Option<String> {
        Some(text.to_string())
    }
    fn allowed(_: &KeyRow) -> String {
        "text".to_string()
    }
}

/// `true` or `false`, in any case. Hadoop takes the default for anything else; here it is an error.
pub struct Bool;
impl Value for Bool {
    type Output = bool;
    const KIND: &'static str = "true or false";
    fn parse(_: &KeyRow, text: &str) -> Option<bool> {
        match text {
            t if t.eq_ignore_ascii_case("true") => Some(true),
            t if t.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        }
    }
    fn allowed(_: &KeyRow) -> String {
        "true or false".to_string()
    }
}

/// Decimal, or hexadecimal behind `0x`; a leading `-`.
fn parse_i64(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let value = match hex {
        Some(hex) if hex.starts_with(['+', '-']) => return None,
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse::<i128>().ok()?,
    };
    i64::try_from(if negative { -value } else { value }).ok()
}

fn whole_number(row: &KeyRow) -> String {
    match row.range {
        (i64::MIN, i64::MAX) => "a whole number".to_string(),
        (min, i64::MAX) => format!("a whole number from {min} up"),
        (min, max) => format!("a whole number from {min} to {max}"),
    }
}

/// Whole numbers of a Rust type.
pub struct Number<T>(std::marker::PhantomData<T>);
pub type Int = Number<i32>;
pub type Long = Number<i64>;
impl<T: TryFrom<i64>> Value for Number<T> {
    type Output = T;
    const KIND: &'static str = "number";
    fn parse(row: &KeyRow, text: &str) -> Option<T> {
        T::try_from(parse_i64(text).filter(|v| row.allows(*v))?).ok()
    }
    fn allowed(row: &KeyRow) -> String {
        whole_number(row)
    }
}

/// A number with a fraction; Java's `f` and `d` behind it are let through.
pub struct Float;
impl Value for Float {
    type Output = f64;
    const KIND: &'static str = "decimal number";
    fn parse(_: &KeyRow, text: &str) -> Option<f64> {
        let digits = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
        if digits.bytes().any(|b| b.is_ascii_alphabetic() && !matches!(b, b'e' | b'E')) {
            return None;
        }
        digits.parse::<f64>().ok().filter(|v| v.is_finite())
    }
    fn allowed(_: &KeyRow) -> String {
        "a number such as 0.5".to_string()
    }
}

/// Bytes, with binary suffixes: `64k`, `128m`.
pub struct Size;
impl Value for Size {
    type Output = u64;
    const KIND: &'static str = "bytes";
    fn parse(row: &KeyRow, text: &str) -> Option<u64> {
        let shift = text.bytes().last().and_then(|last| b"kmgtpe".iter().position(|s| *s == last.to_ascii_lowercase()));
        let bytes = match shift {
            Some(i) => parse_i64(text[..text.len() - 1].trim_end())?.checked_mul(1 << (10 * (i + 1)))?,
            None => parse_i64(text)?,
        };
        u64::try_from(bytes).ok().filter(|_| row.allows(bytes))
    }
    fn allowed(row: &KeyRow) -> String {
        let range = match row.range {
            (min, i64::MAX) if min <= 0 => String::new(),
            (min, i64::MAX) => format!(", at least {min}"),
            (min, max) => format!(" from {min} to {max}"),
        };
        format!("a number of bytes{range}, with k, m, g, t, p or e behind it for 1024, 1024^2, ...")
    }
}

/// A length of time. Without a suffix it counts in the key's own unit, `UNIT_NS` nanoseconds.
pub struct Time<const UNIT_NS: u64>;
pub type Milliseconds = Time<1_000_000>;
pub type Seconds = Time<1_000_000_000>;
pub type Minutes = Time<60_000_000_000>;
impl<const UNIT_NS: u64> Value for Time<UNIT_NS> {
    type Output = Duration;
    const KIND: &'static str = match UNIT_NS {
        1_000_000 => "milliseconds",
        1_000_000_000 => "seconds",
        _ => "minutes",
    };
    fn parse(row: &KeyRow, text: &str) -> Option<Duration> {
        const SUFFIXES: [(&str, u64); 7] = [
            ("ns", 1),
            ("us", 1_000),
            ("ms", 1_000_000),
            ("s", 1_000_000_000),
            ("m", 60_000_000_000),
            ("h", 3_600_000_000_000),
            ("d", 86_400_000_000_000),
        ];
        let lower = text.to_ascii_lowercase();
        let (digits, unit_ns) = SUFFIXES
            .iter()
            .find_map(|(suffix, ns)| Some((lower.strip_suffix(suffix)?, *ns)))
            .unwrap_or((&lower, UNIT_NS));
        let count = parse_i64(digits.trim_end())?;
        let ns = i128::from(count) * i128::from(unit_ns);
        let in_unit = i64::try_from(ns / i128::from(UNIT_NS)).ok()?;
        if !row.allows(in_unit) {
            return None;
        }
        Some(Duration::from_nanos(u64::try_from(ns).ok()?))
    }
    fn allowed(row: &KeyRow) -> String {
        let range = match row.range {
            (min, i64::MAX) if min <= 0 => String::new(),
            (min, i64::MAX) => format!(", at least {min}"),
            (min, max) => format!(" from {min} to {max}"),
        };
        format!("a number of {}{range}, or a time with ns, us, ms, s, m, h or d behind it", Self::KIND)
    }
}

/// Comma-separated texts, trimmed, empty ones left out.
pub struct List;
impl Value for List {
    type Output = Vec<String>;
    const KIND: &'static str = "list";
    fn parse(_: &KeyRow, text: &str) -> Option<Vec<String>> {
        Some(split(text))
    }
    fn allowed(_: &KeyRow) -> String {
        "a list with commas".to_string()
    }
}

fn split(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::to_string).collect()
}

/// One of the words in the key's row, in any case; the row's spelling is returned.
pub struct OneOf;
impl Value for OneOf {
    type Output = &'static str;
    const KIND: &'static str = "word";
    fn parse(row: &KeyRow, text: &str) -> Option<&'static str> {
        row.choices.iter().find(|c| c.eq_ignore_ascii_case(text)).copied()
    }
    fn allowed(row: &KeyRow) -> String {
        row.choices.join(" or ")
    }
}

/// Empty means that the key is not set.
pub struct Optional<T>(std::marker::PhantomData<T>);
impl<T: Value> Value for Optional<T> {
    type Output = Option<T::Output>;
    const KIND: &'static str = T::KIND;
    fn parse(row: &KeyRow, text: &str) -> Option<Option<T::Output>> {
        if text.is_empty() { Some(None) } else { T::parse(row, text).map(Some) }
    }
    fn allowed(row: &KeyRow) -> String {
        format!("{}, or empty", T::allowed(row))
    }
}

/// A host and a port. An IPv6 host is written in brackets and kept without.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Addr {
    pub host: String,
    pub port: u16,
}

impl Addr {
    /// `host:port`, or `host` alone where `default_port` says which port that means. A scheme (`hdfs://`) and a path are dropped.
    pub fn parse(text: &str, default_port: Option<u16>) -> Option<Addr> {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let text = text.split('/').next().unwrap_or("").trim();
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']')?;
                (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
            }
            None => match text.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = match port {
            Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => port.parse().ok()?,
            Some(_) => return None,
            None => default_port?,
        };
        (!host.is_empty()).then(|| Addr { host: host.to_string(), port })
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// `host:port`.
pub struct Address;
impl Value for Address {
    type Output = Addr;
    const KIND: &'static str = "host:port";
    fn parse(row: &KeyRow, text: &str) -> Option<Addr> {
        let default_port = row.default.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Addr::parse(text, default_port)
    }
    fn allowed(_: &KeyRow) -> String {
        "host:port, such as 127.0.0.1:9866".to_string()
    }
}

/// Permission bits in octal, as those of a directory: `700`.
pub struct Mode;
impl Value for Mode {
    type Output = u16;
    const KIND: &'static str = "octal mode";
    fn parse(_: &KeyRow, text: &str) -> Option<u16> {
        u16::from_str_radix(text, 8).ok().filter(|m| *m <= 0o1777)
    }
    fn allowed(_: &KeyRow) -> String {
        "an octal mode such as 700".to_string()
    }
}

/// A umask: octal (`022`), or symbolic as the bits that are kept (`u=rwx,g=rx,o=`).
pub struct Umask;
impl Value for Umask {
    type Output = FsPermission;
    const KIND: &'static str = "umask";
    fn parse(_: &KeyRow, text: &str) -> Option<FsPermission> {
        if text.bytes().all(|b| b.is_ascii_digit()) {
            return u16::from_str_radix(text, 8).ok().filter(|m| *m <= 0o1777).map(|m| FsPermission(m & 0o777));
        }
        let mut kept: u16 = 0;
        for clause in text.split(',') {
            let at = clause.find(['=', '+', '-'])?;
            let who = &clause[..at];
            let mut bits = 0;
            for c in clause[at + 1..].chars() {
                bits |= match c {
                    'r' => 4,
                    'w' => 2,
                    'x' => 1,
                    _ => return None,
                };
            }
            let all = who.is_empty() || who.contains('a');
            for (letter, shift) in [('u', 6), ('g', 3), ('o', 0)] {
                if !all && !who.contains(letter) {
                    continue;
                }
                match &clause[at..=at] {
                    "=" => kept = kept & !(7 << shift) | bits << shift,
                    "+" => kept |= bits << shift,
                    _ => kept &= !(bits << shift),
                }
            }
        }
        Some(FsPermission(!kept & 0o777))
    }
    fn allowed(_: &KeyRow) -> String {
        "an octal umask such as 022, or a symbolic one such as u=rwx,g=rx,o=rx".to_string()
    }
}

/// Local directories as `file:` URIs or plain paths; paths are returned.
pub struct Dirs;
impl Value for Dirs {
    type Output = Vec<String>;
    const KIND: &'static str = "directories";
    fn parse(_: &KeyRow, text: &str) -> Option<Vec<String>> {
        split(text).iter().map(|uri| local_path(uri)).collect()
    }
    fn allowed(_: &KeyRow) -> String {
        "a list of absolute paths or file: URIs".to_string()
    }
}

/// The path of `file:///x`, `file:/x` or `/x`; other schemes and relative paths are refused. `%20` and the like are decoded
/// in a URI, as Java's `URI` does.
fn local_path(uri: &str) -> Option<String> {
    let path = match uri.strip_prefix("file:") {
        Some(rest) => {
            let rest = rest.strip_prefix("//").map_or(rest, |r| r.strip_prefix("localhost").unwrap_or(r));
            decode_percent(rest)?
        }
        None => uri.to_string(),
    };
    let trimmed = path.trim_end_matches('/');
    path.starts_with('/').then(|| if trimmed.is_empty() { "/".to_string() } else { trimmed.to_string() })
}

fn decode_percent(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == b'%' {
            let hex = text.get(i + 1..i + 3)?;
            out.push(u8::from_str_radix(hex, 16).ok()?);
            i += 3;
        } else {
            out.push(bytes[i]);
            i += 1;
        }
    }
    String::from_utf8(out).ok()
}

/// A data directory with what it lies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageDir {
    pub storage_type: StorageType,
    pub path: String,
}

/// Data directories: `[SSD]file:///a,/b`. Without a prefix: DISK.
pub struct StorageDirs;
impl Value for StorageDirs {
    type Output = Vec<StorageDir>;
    const KIND: &'static str = "data directories";
    fn parse(_: &KeyRow, text: &str) -> Option<Vec<StorageDir>> {
        split(text).iter().map(|entry| storage_dir(entry)).collect()
    }
    fn allowed(_: &KeyRow) -> String {
        "a list of absolute paths or file: URIs, each with [DISK], [SSD], [ARCHIVE], [RAM_DISK], [NVDIMM] or nothing before it"
            .to_string()
    }
}

fn storage_dir(entry: &str) -> Option<StorageDir> {
    let (storage_type, uri) = match entry.strip_prefix('[') {
        Some(rest) => {
            let (name, uri) = rest.split_once(']')?;
            let kinds =
                [StorageType::Disk, StorageType::Ssd, StorageType::Archive, StorageType::RamDisk, StorageType::Nvdimm];
            (kinds.into_iter().find(|k| k.name().eq_ignore_ascii_case(name.trim()))?, uri.trim())
        }
        None => (StorageType::Disk, entry),
    };
    Some(StorageDir { storage_type, path: local_path(uri)? })
}
