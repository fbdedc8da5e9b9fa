//! The `Location` of a redirect to a DataNode. Source: `NamenodeWebHdfsMethods.java` (`redirectURI`), Hadoop 3.5.0.

use crate::parse::PREFIX;
use crate::request::{CreateFlags, Operation, Request};
use crate::url::{encode_path, encode_value};
use std::fmt::Write;

/// `http://HOST:PORT/webhdfs/v1/PATH?op=...`: operation, users, the NameNode's address, then the given parameters by name.
/// `host_port` is the DataNode's HTTP address; `user` is named only where the client did.
pub fn location(host_port: &str, request: &Request, namenode_address: &str) -> String {
    let mut out = format!("http://{host_port}{PREFIX}{}?op={}", encode_path(&request.path), name(&request.operation));
    for (key, value) in [("doas", &request.do_as), ("user.name", &request.user)] {
        if let Some(value) = value {
            let _ = write!(out, "&{key}={}", encode_value(value));
        }
    }
    let _ = write!(out, "&namenoderpcaddress={}", encode_value(namenode_address));
    push_parameters(&mut out, &request.operation);
    out
}

fn name(operation: &Operation) -> &'static str {
    match operation {
        Operation::Open { .. } => "OPEN",
        Operation::GetFileChecksum => "GETFILECHECKSUM",
        Operation::Create(_) => "CREATE",
        Operation::Append { .. } => "APPEND",
        _ => "NULL",
    }
}

fn push_parameters(out: &mut String, operation: &Operation) {
    let mut push = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(out, "&{key}={}", encode_value(&value));
        }
    };
    match operation {
        Operation::Open { offset, length } => {
            push("length", length.map(|v| v.to_string()));
            push("offset", Some(offset.to_string()));
        }
        Operation::Append { buffer_size } => push("buffersize", buffer_size.map(|v| v.to_string())),
        Operation::Create(create) => {
            push("blocksize", create.block_size.map(|v| v.to_string()));
            push("buffersize", create.buffer_size.map(|v| v.to_string()));
            push("createflag", Some(flag_names(create.flags)));
            push("createparent", Some(create.create_parent.to_string()));
            push("overwrite", Some(create.overwrite.to_string()));
            push("permission", create.permission.map(|p| format!("{:o}", p.0)));
            push("replication", create.replication.map(|v| v.to_string()));
            push("unmaskedpermission", create.unmasked.map(|p| format!("{:o}", p.0)));
        }
        _ => {}
    }
}

fn flag_names(flags: CreateFlags) -> String {
    let set = CreateFlags::NAMES.iter().filter(|(_, bit)| flags.contains(*bit));
    set.map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}
