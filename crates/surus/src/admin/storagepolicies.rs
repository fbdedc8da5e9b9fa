//! `surus storagepolicies`. Source: `StoragePolicyAdmin.java`, Hadoop 3.5.0.

use super::{FAILED, Tool, USAGE, answer, client_of, pop};
use surus_client::{ClientError, DfsClient, StoragePolicy};
use surus_conf::Configuration;
use surus_types::{ExceptionClass, StorageType};

pub const TOOL: Tool = Tool {
    name: "storagepolicies",
    commands: &[
        ("-listPolicies", "", "List all the existing block storage policies."),
        ("-setStoragePolicy", "-path <path> -policy <policy>", "Set the storage policy to a file/directory."),
        ("-getStoragePolicy", "-path <path>", "Get the storage policy of a file/directory."),
        ("-satisfyStoragePolicy", "-path <path>", "Schedule blocks to move based on file/directory policy."),
        ("-unsetStoragePolicy", "-path <path>", "Unset the storage policy set for a file or a directory."),
    ],
};

/// Runs one command; returns the exit code.
pub fn run(conf: &Configuration, arguments: &[String]) -> i32 {
    let (command, mut rest) = match TOOL.command(arguments) {
        Ok(found) => found,
        Err(code) => return code,
    };
    if command == "-listPolicies" {
        if !rest.is_empty() {
            eprintln!("Can't understand argument: {}", rest[0]);
            return USAGE;
        }
        return answer(DfsClient::from_conf(conf, None).and_then(|client| list(&client)));
    }
    let Some(path) = pop(&mut rest, "-path") else {
        let what = match command {
            "-getStoragePolicy" => "Please specify the path with -path.",
            "-setStoragePolicy" => "Please specify the path for setting the storage policy.",
            "-satisfyStoragePolicy" => "Please specify the path for satisfying the storage policy.",
            _ => "Please specify the path from which to unset the storage policy.",
        };
        eprintln!("{what}\nUsage: {}", TOOL.long(command));
        return USAGE;
    };
    let policy = pop(&mut rest, "-policy");
    if command == "-setStoragePolicy" && policy.is_none() {
        eprintln!("Please specify the policy name.\nUsage: {}", TOOL.long(command));
        return USAGE;
    }
    let (client, on_it) = match client_of(conf, &path) {
        Ok(found) => found,
        Err(text) => {
            eprintln!("{text}");
            return FAILED;
        }
    };
    answer(match command {
        "-getStoragePolicy" => return get(&client, &path, &on_it),
        "-setStoragePolicy" => client.set_storage_policy(&on_it, policy.as_deref()).map(|()| {
            println!("Set storage policy {} on {path}", policy.unwrap_or_default());
        }),
        "-satisfyStoragePolicy" => client.satisfy_storage_policy(&on_it).map(|()| {
            println!("Scheduled blocks to move based on the current storage policy on {path}");
        }),
        _ => client.set_storage_policy(&on_it, None).map(|()| println!("Unset storage policy from {path}")),
    })
}

fn list(client: &DfsClient) -> Result<(), ClientError> {
    let policies = client.get_storage_policies()?;
    println!("Block Storage Policies:");
    policies.iter().for_each(|policy| println!("\t{}", describe(policy)));
    Ok(())
}

fn get(client: &DfsClient, path: &str, on_it: &str) -> i32 {
    let found = client.get_file_info(on_it);
    let status = match found {
        Ok(Some(status)) => status,
        Ok(None) => {
            eprintln!("File/Directory does not exist: {path}");
            return FAILED;
        }
        Err(error) if error.is(ExceptionClass::FileNotFound) => {
            eprintln!("File/Directory does not exist: {path}");
            return FAILED;
        }
        Err(error) => return answer(Err(error)),
    };
    if status.storage_policy == 0 {
        println!("The storage policy of {path} is unspecified");
        return 0;
    }
    match client.get_storage_policies() {
        Ok(policies) => match policies.iter().find(|p| p.policy_id == u32::from(status.storage_policy)) {
            Some(policy) => {
                println!("The storage policy of {path}:\n{}", describe(policy));
                0
            }
            None => {
                eprintln!("Cannot identify the storage policy for {path}");
                FAILED
            }
        },
        Err(error) => answer(Err(error)),
    }
}

/// As Java prints a policy.
fn describe(policy: &StoragePolicy) -> String {
    let names = |types: &[i32]| {
        let name = |t: &i32| StorageType::from_proto(*t).map_or("?", StorageType::name);
        types.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let fallbacks = |types: &Option<surus_proto::hadoop::hdfs::StorageTypesProto>| {
        types.as_ref().map_or_else(String::new, |types| names(&types.storage_types))
    };
    format!(
        "BlockStoragePolicy{{{}:{}, storageTypes=[{}], creationFallbacks=[{}], replicationFallbacks=[{}]}}",
        policy.name,
        policy.policy_id,
        names(&policy.creation_policy.storage_types),
        fallbacks(&policy.creation_fallback_policy),
        fallbacks(&policy.replication_fallback_policy)
    )
}
