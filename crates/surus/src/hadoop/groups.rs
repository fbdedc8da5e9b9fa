//! `hdfs groups`: the groups of users, as the NameNode sees them. Source: `GetGroupsBase.java`, Hadoop 3.5.0.

use surus_client::{ClientConfig, ClientError, NameNodes, Repeat, current_user};
use surus_conf::Configuration;
use surus_proto::hadoop::common as proto;

const PROTOCOL: &str = "org.apache.hadoop.tools.GetUserMappingsProtocol";

/// Runs `groups`; returns the exit code. Without arguments: the groups of the caller.
pub fn run(conf: &Configuration, arguments: &[String]) -> i32 {
    let users = if arguments.is_empty() { vec![current_user().effective] } else { arguments.to_vec() };
    match print(conf, &users) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("groups: {}", error.message());
            -1
        }
    }
}

fn print(conf: &Configuration, users: &[String]) -> Result<(), ClientError> {
    let namenodes = NameNodes::new(&ClientConfig::from_conf(conf, None)?, PROTOCOL);
    for user in users {
        let request = proto::GetGroupsForUserRequestProto { user: user.clone() };
        let answer: proto::GetGroupsForUserResponseProto =
            namenodes.call("getGroupsForUser", Repeat::Idempotent, &request)?;
        let mut line = format!("{user} :");
        for group in &answer.groups {
            line.push(' ');
            line.push_str(group);
        }
        line.push('\n');
        crate::output::print(&line);
    }
    Ok(())
}
