//! Service-level authorization: who may open a connection for which protocol, by hadoop-policy.xml.
//! Source: `ServiceAuthorizationManager.java`, `AccessControlList.java`, `HDFSPolicyProvider.java`, Hadoop 3.5.0.

use crate::hosts::Hosts;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use surus_conf::Configuration;
use surus_types::{ExceptionClass, HdfsError};

const DEFAULT_ACL: &str = "security.service.authorization.default.acl";
const DEFAULT_HOSTS: &str = "security.service.authorization.default.hosts";
const BLOCKED: &str = ".blocked";

/// `user1,user2 group1,group2`, or `*` for everybody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct AccessControlList {
    all: bool,
    users: HashSet<String>,
    groups: HashSet<String>,
}

impl AccessControlList {
    fn parse(text: &str) -> Self {
        let names = |part: &str| part.split(',').map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()).collect();
        let (users, groups) = text.split_once(' ').unwrap_or((text, ""));
        // Alone in its part, that is: among other names it is one of them.
        let all = [users, groups].iter().any(|part| part.trim() == "*");
        AccessControlList { all, users: names(users), groups: names(groups) }
    }

    fn allows(&self, user: &str, groups: &[Arc<str>]) -> bool {
        self.all || self.users.contains(user) || groups.iter().any(|group| self.groups.contains(&**group))
    }
}

/// Who is let in to one protocol.
#[derive(Clone, Debug)]
struct Rule {
    allowed: AccessControlList,
    blocked: AccessControlList,
    hosts: Hosts,
    blocked_hosts: Hosts,
}

/// The rules of all protocols; empty while `hadoop.security.authorization` is false.
#[derive(Clone, Debug, Default)]
pub struct ServiceAcls {
    rules: HashMap<&'static str, Rule>,
}

impl ServiceAcls {
    /// The rules of a configuration. `keys`: the protocols that are served, each with the key of its ACL.
    pub fn new(conf: &Configuration, keys: &[(&'static str, &str)]) -> Self {
        let text = |key: &str| conf.text(key).ok().flatten();
        let default_acl = text(DEFAULT_ACL).unwrap_or_else(|| "*".to_owned());
        let default_blocked = text(&format!("{DEFAULT_ACL}{BLOCKED}")).unwrap_or_default();
        let default_hosts = text(DEFAULT_HOSTS).unwrap_or_else(|| "*".to_owned());
        let default_hosts_blocked = text(&format!("{DEFAULT_HOSTS}{BLOCKED}")).unwrap_or_default();
        let rule = |key: &str| {
            let hosts = format!("{}.hosts", key.trim_end_matches(".acl"));
            let or = |key: String, default: &String| text(&key).unwrap_or_else(|| default.clone());
            Rule {
                allowed: AccessControlList::parse(&or(key.to_owned(), &default_acl)),
                blocked: AccessControlList::parse(&or(format!("{key}{BLOCKED}"), &default_blocked)),
                hosts: Hosts::parse(&or(hosts.clone(), &default_hosts)),
                blocked_hosts: Hosts::parse(&or(format!("{hosts}{BLOCKED}"), &default_hosts_blocked)),
            }
        };
        ServiceAcls { rules: keys.iter().map(|(protocol, key)| (*protocol, rule(key))).collect() }
    }

    pub fn is_on(&self) -> bool {
        !self.rules.is_empty()
    }

    /// # Errors
    /// AuthorizationException: the user or the address may not use the protocol, or the protocol is not one of those
    /// served.
    pub fn authorize(
        &self,
        protocol: &str,
        user: &str,
        shown_user: &str,
        groups: &[Arc<str>],
        address: IpAddr,
    ) -> Result<(), HdfsError> {
        if !self.is_on() {
            return Ok(());
        }
        let refused = |text| Err(HdfsError::new(ExceptionClass::Authorization, text));
        let Some(rule) = self.rules.get(protocol) else {
            return refused(format!("Protocol interface {protocol} is not known."));
        };
        if !rule.allowed.allows(user, groups) || rule.blocked.allows(user, groups) {
            return refused(format!(
                "User {shown_user} is not authorized for protocol interface {protocol}: denied by configured ACL"
            ));
        }
        if !rule.hosts.has(address) || rule.blocked_hosts.has(address) {
            return refused(format!(
                "Host {address} is not authorized for protocol interface {protocol}: denied by configured ACL"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_a_star_alone() {
        for (text, all) in [("*", true), (" * ", true), ("* staff", true), ("alice *", true), ("alice * ", true)]
            .into_iter()
            .chain([("alice,*", false), ("*,alice staff", false), ("alice staff,*", false), ("a*", false), ("", false)])
        {
            assert_eq!(AccessControlList::parse(text).allows("eve", &[]), all, "{text:?}");
        }
    }

    const CLIENT: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
    const DATANODE: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";
    const NAMENODE: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";
    const GROUPS: &str = "org.apache.hadoop.tools.GetUserMappingsProtocol";

    #[test]
    fn who_is_let_in() {
        let mut conf = Configuration::new();
        conf.set("security.client.protocol.acl", "alice,bob staff");
        conf.set("security.client.protocol.acl.blocked", "bob");
        conf.set("security.namenode.protocol.acl", " ");
        conf.set("security.datanode.protocol.hosts", "10.0.0.0/8");
        let acls = ServiceAcls::new(
            &conf,
            &[
                (CLIENT, "security.client.protocol.acl"),
                (DATANODE, "security.datanode.protocol.acl"),
                (NAMENODE, "security.namenode.protocol.acl"),
                (GROUPS, "security.get.user.mappings.protocol.acl"),
            ],
        );
        let ask = |protocol: &str, user: &str, group: &str, from: &str| {
            let refused = acls.authorize(protocol, user, user, &[Arc::from(group)], from.parse().unwrap());
            refused.map_err(|e| e.message)
        };
        assert_eq!(ask(CLIENT, "alice", "x", "1.2.3.4"), Ok(()));
        assert_eq!(ask(CLIENT, "carol", "staff", "1.2.3.4"), Ok(()));
        let denied = "is not authorized for protocol interface org.apache.hadoop.hdfs.protocol.ClientProtocol: denied by \
                      configured ACL";
        assert_eq!(ask(CLIENT, "bob", "x", "1.2.3.4"), Err(format!("User bob {denied}")));
        assert_eq!(ask(CLIENT, "carol", "x", "1.2.3.4"), Err(format!("User carol {denied}")));
        assert!(ask(NAMENODE, "alice", "x", "1.2.3.4").is_err());
        assert_eq!(ask(DATANODE, "dn", "x", "10.1.1.1"), Ok(()));
        assert!(ask(DATANODE, "dn", "x", "11.1.1.1").unwrap_err().starts_with("Host 11.1.1.1 is not"));
        assert_eq!(ask(GROUPS, "anybody", "x", "1.1.1.1"), Ok(()));
        assert_eq!(ServiceAcls::default().authorize("x", "u", "u", &[], "1.1.1.1".parse().unwrap()), Ok(()));
    }
}
