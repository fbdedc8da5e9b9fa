//! Keys that have a name in their name: one row for all keys that begin alike.

/// One row of the table that stands for many keys.
pub struct FamilyRow {
    /// The name with what differs in capitals: `dfs.ha.namenodes.NAMESERVICE`.
    pub pattern: &'static str,
    /// What the manual calls the type.
    pub kind: &'static str,
    /// What a key that is not set means, in the manual's words; empty: not set.
    pub default: &'static str,
    pub section: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

impl FamilyRow {
    const fn new(
        section: &'static str,
        pattern: &'static str,
        kind: &'static str,
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        FamilyRow { pattern, kind, default, section, doc }
    }

    /// Whether a key is one of these: a part in capitals stands for one or more parts.
    pub fn has(&self, name: &str) -> bool {
        let is_placeholder = |part: &str| part.bytes().all(|b| b.is_ascii_uppercase());
        let fixed = |parts: &[&str]| parts.join(".");
        let parts: Vec<&str> = self.pattern.split('.').collect();
        let first = parts.iter().position(|part| is_placeholder(part)).unwrap_or(parts.len());
        let last = parts.iter().rposition(|part| is_placeholder(part)).map_or(parts.len(), |at| at + 1);
        let (before, after) = (format!("{}.", fixed(&parts[..first])), fixed(&parts[last..]));
        let after = if after.is_empty() { after } else { format!(".{after}") };
        name.strip_prefix(&before)
            .and_then(|rest| rest.strip_suffix(after.as_str()))
            .is_some_and(|rest| !rest.is_empty())
    }
}

const COMMON: &str = "Common";
const ADDRESSES: &str = "Addresses and ports";
const RPC: &str = "RPC";
const AVAILABILITY: &str = "High availability";
const HTTPFS: &str = "HttpFS";

/// Every family that Surus reads. Source: `hdfs-default.xml`, `DefaultImpersonationProvider.java`, `hadoop-policy.xml`, Hadoop 3.5.0.
pub const FAMILIES: &[FamilyRow] = &[
    FamilyRow::new(
        COMMON,
        "hadoop.proxyuser.USER.hosts",
        "list",
        "",
        "Hosts, addresses or networks from which USER may act for others; `*`: all.",
    ),
    FamilyRow::new(
        COMMON,
        "hadoop.proxyuser.USER.groups",
        "list",
        "",
        "Groups for whose members USER may act; `*`: all.",
    ),
    FamilyRow::new(COMMON, "hadoop.proxyuser.USER.users", "list", "", "Users for whom USER may act; `*`: all."),
    FamilyRow::new(
        COMMON,
        "security.PROTOCOL.acl",
        "users, a blank, groups",
        "security.service.authorization.default.acl",
        "In hadoop-policy.xml: who may use a protocol, where hadoop.security.authorization is on; `.blocked` behind it: who may not.",
    ),
    FamilyRow::new(
        COMMON,
        "security.PROTOCOL.hosts",
        "list",
        "security.service.authorization.default.hosts",
        "In hadoop-policy.xml: from where a protocol may be used; `.blocked` behind it: from where not.",
    ),
    FamilyRow::new(
        ADDRESSES,
        "dfs.namenode.rpc-address.NAMESERVICE",
        "host:port",
        "",
        "Client RPC of the NameNode of a nameservice that has one.",
    ),
    FamilyRow::new(
        ADDRESSES,
        "dfs.namenode.rpc-address.NAMESERVICE.ID",
        "host:port",
        "",
        "Client RPC of one NameNode of a nameservice.",
    ),
    FamilyRow::new(
        ADDRESSES,
        "dfs.namenode.servicerpc-address.NAMESERVICE.ID",
        "host:port",
        "",
        "RPC of one NameNode for DataNodes; where it is not set they use the client's.",
    ),
    FamilyRow::new(
        RPC,
        "ipc.PORT.backoff.enable",
        "true or false",
        "",
        "Accepted and without effect: the server of this port keeps no queue that could be full.",
    ),
    FamilyRow::new(AVAILABILITY, "dfs.ha.namenodes.NAMESERVICE", "list", "", "Ids of the NameNodes of a nameservice."),
    FamilyRow::new(
        HTTPFS,
        "httpfs.proxyuser.USER.hosts",
        "list",
        "",
        "Hosts, addresses or networks from which USER may act for others (`doas`) at the gateway; `*`: all.",
    ),
    FamilyRow::new(
        HTTPFS,
        "httpfs.proxyuser.USER.groups",
        "list",
        "",
        "Groups for whose members USER may act at the gateway; `*`: all.",
    ),
    FamilyRow::new(
        HTTPFS,
        "httpfs.proxyuser.USER.users",
        "list",
        "",
        "Users for whom USER may act at the gateway; `*`: all.",
    ),
];

/// The families of a section of the manual.
pub(super) fn of_section(section: &str) -> impl Iterator<Item = &'static FamilyRow> {
    FAMILIES.iter().filter(move |row| row.section == section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_belongs_to_its_family() {
        let has = |name: &str| FAMILIES.iter().filter(|row| row.has(name)).map(|row| row.pattern).collect::<Vec<_>>();
        assert_eq!(has("dfs.ha.namenodes.ns1"), ["dfs.ha.namenodes.NAMESERVICE"]);
        assert_eq!(has("hadoop.proxyuser.o.ozie.hosts"), ["hadoop.proxyuser.USER.hosts"]);
        assert_eq!(has("security.client.protocol.acl"), ["security.PROTOCOL.acl"]);
        assert_eq!(has("ipc.8020.backoff.enable"), ["ipc.PORT.backoff.enable"]);
        for other in
            ["dfs.ha.namenodes", "dfs.ha.namenodes.", "hadoop.proxyuser.hosts", "hadoop.proxyuser.x.y", "ipc.8020"]
        {
            assert!(has(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn every_family_is_in_a_section_of_the_manual() {
        for row in FAMILIES {
            assert!(crate::keys::ALL.iter().any(|key| key.section == row.section), "{}", row.pattern);
            assert!(row.doc.ends_with('.'), "{}", row.pattern);
        }
    }
}
