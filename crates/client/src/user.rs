//! Who the caller is on a cluster without Kerberos: `HADOOP_USER_NAME` or the login, and `HADOOP_PROXY_USER`.
//! Source: `UserGroupInformation.java`, Hadoop 3.5.0.

use surus_net::rpc::RpcUser;

/// The user of this process as the servers will see it.
pub fn current_user() -> RpcUser {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let login = variable("HADOOP_USER_NAME").unwrap_or_else(login_name);
    match variable("HADOOP_PROXY_USER") {
        Some(proxy) if proxy != login => RpcUser { effective: proxy, real: Some(login) },
        _ => RpcUser { effective: login, real: None },
    }
}

/// The login name of the process's user id, else `USER`, else the number.
pub fn login_name() -> String {
    let uid = rustix::process::getuid().as_raw();
    let table = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    match name_of_id(&table, uid) {
        Some(name) => name.to_string(),
        None => std::env::var("USER").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| uid.to_string()),
    }
}

/// Looks up a number in a text of the form of `/etc/passwd` or `/etc/group`.
pub fn name_of_id(table: &str, id: u32) -> Option<&str> {
    table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let number = fields.nth(1)?;
        (number.parse() == Ok(id)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_name() {
        let table = "root:x:0:0:root:/root:/bin/bash\nbroken\nhdfs:x:1001:1001::/:/bin/sh\n";
        assert_eq!(name_of_id(table, 1001), Some("hdfs"));
        assert_eq!(name_of_id(table, 0), Some("root"));
        assert_eq!(name_of_id(table, 7), None);
    }
}
