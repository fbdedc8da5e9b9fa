//! What a client wants to see in the audit log beside its call: `callerContext=CONTEXT[:SIGNATURE]` at the end of the line.
//! Source: `FSNamesystem.java` (`FSNamesystemAuditLogger`, `appendClientPortToCallerContextIfAbsent`), Hadoop 3.5.0.

use std::fmt::Write as _;
use surus_conf::{ConfError, Configuration, keys};

/// The keys `hadoop.caller.context.*`, where they are on.
#[derive(Clone, Debug)]
pub struct ContextRules {
    /// A longer context is cut, in characters as they are written.
    max_chars: usize,
    /// A longer signature is left out, in bytes.
    signature_bytes_max: usize,
    separator: String,
    /// `dfs.namenode.audit.log.with.remote.port`: the client's port is added.
    with_port: bool,
}

impl ContextRules {
    /// `None`: `hadoop.caller.context.enabled` is false.
    ///
    /// # Errors
    /// A value that is not allowed.
    pub fn new(conf: &Configuration) -> Result<Option<Self>, ConfError> {
        if !conf.get(keys::HADOOP_CALLER_CONTEXT_ENABLED)? {
            return Ok(None);
        }
        let size = |n: i32| usize::try_from(n).unwrap_or(0);
        Ok(Some(ContextRules {
            max_chars: size(conf.get(keys::HADOOP_CALLER_CONTEXT_MAX_SIZE)?),
            signature_bytes_max: size(conf.get(keys::HADOOP_CALLER_CONTEXT_SIGNATURE_MAX_SIZE)?),
            separator: conf.get(keys::HADOOP_CALLER_CONTEXT_SEPARATOR)?,
            with_port: conf.get(keys::DFS_NAMENODE_AUDIT_LOG_WITH_REMOTE_PORT)?,
        }))
    }

    /// The end of the line of a call that came from `port`, 0 where it did not come by RPC. Empty: nothing is added.
    pub fn tail(&self, context: &[u8], signature: &[u8], port: u16) -> Box<str> {
        let mut text = String::from_utf8_lossy(context).into_owned();
        if self.with_port {
            if !text.contains("clientPort") {
                self.add(&mut text, "clientPort", port);
            }
            // A router or gateway says so for whom it asks.
            if text.contains("realUser") {
                self.add(&mut text, "proxyUserPort", port);
            }
        }
        if text.is_empty() {
            return Box::default();
        }
        let mut tail = String::from("\tcallerContext=");
        // Escaped text is ASCII.
        tail.extend(escaped(&text).chars().take(self.max_chars));
        if (1..=self.signature_bytes_max).contains(&signature.len()) {
            tail.push(':');
            tail.push_str(&escaped(&String::from_utf8_lossy(signature)));
        }
        tail.into()
    }

    fn add(&self, text: &mut String, name: &str, port: u16) {
        let separator = if text.is_empty() { "" } else { self.separator.as_str() };
        let _ = write!(text, "{separator}{name}:{port}");
    }
}

/// Texts from outside cannot end a line or begin a field. As `StringEscapeUtils.escapeJava` of commons-text does it.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='\u{7f}' => out.push(char),
            _ => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04X}");
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(settings: &[(&str, &str)]) -> Option<ContextRules> {
        let mut conf = Configuration::new();
        for (key, value) in settings {
            conf.set(key, *value);
        }
        ContextRules::new(&conf).unwrap()
    }

    #[test]
    fn the_end_of_a_line() {
        assert!(rules(&[]).is_none());
        let plain = rules(&[("hadoop.caller.context.enabled", "true")]).unwrap();
        assert_eq!(&*plain.tail(b"", b"signed", 7), "");
        assert_eq!(&*plain.tail(b"job_1", b"", 7), "\tcallerContext=job_1");
        assert_eq!(
            &*plain.tail("j\n\"\u{e4}\u{1f600}".as_bytes(), b"s\t", 7),
            concat!("\tcallerContext=j\\n\\\"\\u00E4", "\\uD83D\\uDE00:s\\t")
        );
        assert_eq!(plain.tail(&[b'a'; 200], &[b's'; 41], 7).len(), "\tcallerContext=".len() + 128);
        let rules = rules(&[
            ("hadoop.caller.context.enabled", "true"),
            ("hadoop.caller.context.max.size", "40"),
            ("hadoop.caller.context.separator", ";"),
            ("dfs.namenode.audit.log.with.remote.port", "true"),
        ])
        .unwrap();
        assert_eq!(&*rules.tail(b"", b"", 0), "\tcallerContext=clientPort:0");
        assert_eq!(&*rules.tail(b"a", b"s", 80), "\tcallerContext=a;clientPort:80:s");
        let by_proxy = rules.tail(b"clientPort:5;realUser:r", b"", 80);
        assert_eq!(&*by_proxy, "\tcallerContext=clientPort:5;realUser:r;proxyUserPort:80");
    }
}
