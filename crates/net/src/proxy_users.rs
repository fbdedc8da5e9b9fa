//! Who may act as whom: the `hadoop.proxyuser.USER.{users,groups,hosts}` keys, and HttpFS's of the same form.
//! Source: `DefaultImpersonationProvider.java`, Hadoop 3.5.0.

use crate::hosts::Hosts;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use surus_types::{ExceptionClass, HdfsError};

/// What the keys of Hadoop's daemons begin with.
pub const HADOOP: &str = "hadoop.proxyuser.";
/// What HttpFS's begin with.
pub const HTTPFS: &str = "httpfs.proxyuser.";

/// The rules of one real user.
#[derive(Clone, Debug, Default)]
struct Rule {
    users: Names,
    groups: Names,
    hosts: Hosts,
}

/// A list of names, or `*` for any.
#[derive(Clone, Debug, Default)]
struct Names {
    any: bool,
    names: Vec<String>,
}

impl Names {
    fn parse(text: &str) -> Self {
        let names = split(text);
        Names { any: names.iter().any(|n| n == "*"), names }
    }

    fn has(&self, name: &str) -> bool {
        self.any || self.names.iter().any(|n| n == name)
    }
}

fn split(text: &str) -> Vec<String> {
    text.split(',').map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()).collect()
}

/// All rules of a configuration.
#[derive(Clone, Debug, Default)]
pub struct ProxyUsers {
    rules: HashMap<String, Rule>,
}

impl ProxyUsers {
    /// From all keys and values of a configuration; those that do not begin with `prefix` are passed over.
    pub fn new<'a>(prefix: &str, keys: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut rules: HashMap<String, Rule> = HashMap::new();
        for (key, value) in keys {
            // User names may hold dots.
            let Some((user, kind)) = key.strip_prefix(prefix).and_then(|rest| rest.rsplit_once('.')) else { continue };
            let rule = rules.entry(user.to_owned()).or_default();
            match kind {
                "users" => rule.users = Names::parse(value),
                "groups" => rule.groups = Names::parse(value),
                "hosts" => rule.hosts = Hosts::parse(value),
                _ => {}
            }
        }
        ProxyUsers { rules }
    }

    /// Checks that `real` may act as `effective`, who is in `groups`, from `address`.
    ///
    /// # Errors
    /// AuthorizationException with Hadoop's text.
    pub fn authorize(
        &self,
        real: &str,
        effective: &str,
        groups: &[Arc<str>],
        address: IpAddr,
    ) -> Result<(), HdfsError> {
        let refused = |text| Err(HdfsError::new(ExceptionClass::Authorization, text));
        let rule = self.rules.get(real);
        let known = rule.filter(|r| r.users.has(effective) || r.groups.any || groups.iter().any(|g| r.groups.has(g)));
        match known {
            None => refused(format!("User: {real} is not allowed to impersonate {effective}")),
            Some(rule) if !rule.hosts.has(address) => {
                refused(format!("Unauthorized connection for super-user: {real} from IP {address}"))
            }
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let keys = [
            ("hadoop.proxyuser.root.hosts", "*"),
            ("hadoop.proxyuser.root.groups", "*"),
            ("hadoop.proxyuser.o.ozie.hosts", "10.1.0.0/16, 127.0.0.1"),
            ("hadoop.proxyuser.o.ozie.groups", "staff"),
            ("hadoop.proxyuser.o.ozie.users", "bob"),
            ("fs.defaultFS", "hdfs://h:1"),
        ];
        let proxies = ProxyUsers::new(HADOOP, keys);
        let ask = |real: &str, effective: &str, groups: &[&str], from: &str| {
            let groups: Vec<Arc<str>> = groups.iter().map(|g| Arc::from(*g)).collect();
            proxies.authorize(real, effective, &groups, from.parse().unwrap()).map_err(|e| e.message)
        };
        assert_eq!(ask("root", "alice", &[], "10.9.9.9"), Ok(()));
        assert_eq!(ask("o.ozie", "bob", &[], "127.0.0.1"), Ok(()));
        assert_eq!(ask("o.ozie", "carol", &["staff"], "10.1.2.3"), Ok(()));
        let refused = "User: o.ozie is not allowed to impersonate carol";
        assert_eq!(ask("o.ozie", "carol", &["other"], "10.1.2.3"), Err(refused.to_owned()));
        let refused = "Unauthorized connection for super-user: o.ozie from IP 10.2.0.1";
        assert_eq!(ask("o.ozie", "bob", &[], "10.2.0.1"), Err(refused.to_owned()));
        let refused = "User: eve is not allowed to impersonate root";
        assert_eq!(ask("eve", "root", &[], "127.0.0.1"), Err(refused.to_owned()));
    }
}
