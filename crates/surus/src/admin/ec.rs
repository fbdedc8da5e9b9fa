//! `surus ec`. Source: `ECAdmin.java`, Hadoop 3.5.0. `-addPolicies` reads XML and is not here yet.

use super::{FAILED, Tool, USAGE, answer, client_of, pop, pop_switch, pretty};
use surus_client::{ClientError, DfsClient, EcPolicy, EcPolicyChange};
use surus_conf::Configuration;
use surus_types::{EcPolicyState, ErasureCodingPolicy, ExceptionClass};

pub const TOOL: Tool = Tool {
    name: "ec",
    commands: &[
        ("-listPolicies", "", "Get the list of all erasure coding policies."),
        ("-getPolicy", "-path <path>", "Get the erasure coding policy of a file/directory."),
        ("-removePolicy", "-policy <policy>", "Remove an user defined erasure coding policy."),
        (
            "-setPolicy",
            "-path <path> [-policy <policy>] [-replicate]",
            "Set the erasure coding policy for a file/directory.",
        ),
        ("-unsetPolicy", "-path <path>", "Unset the erasure coding policy for a directory."),
        ("-listCodecs", "", "Get the list of supported erasure coding codecs and coders."),
        ("-enablePolicy", "-policy <policy>", "Enable the erasure coding policy."),
        ("-disablePolicy", "-policy <policy>", "Disable the erasure coding policy."),
        (
            "-verifyClusterSetup",
            "[-policy <policy>...<policy>]",
            "Verify if the cluster setup can support all enabled erasure coding policies.",
        ),
    ],
};

/// Runs one command; returns the exit code.
pub fn run(conf: &Configuration, arguments: &[String]) -> i32 {
    let (command, rest) = match TOOL.command(arguments) {
        Ok(found) => found,
        Err(code) => return code,
    };
    match command {
        "-getPolicy" | "-setPolicy" | "-unsetPolicy" => on_path(conf, command, rest),
        "-enablePolicy" => change(conf, command, rest, EcPolicyChange::Enable),
        "-disablePolicy" => change(conf, command, rest, EcPolicyChange::Disable),
        "-removePolicy" => change(conf, command, rest, EcPolicyChange::Remove),
        "-verifyClusterSetup" => verify(conf, command, rest),
        _ => {
            if let Some(code) = too_many(command, &rest) {
                return code;
            }
            answer(DfsClient::from_conf(conf, None).and_then(|client| match command {
                "-listPolicies" => list_policies(&client),
                _ => list_codecs(&client),
            }))
        }
    }
}

fn too_many(command: &str, rest: &[String]) -> Option<i32> {
    if rest.is_empty() {
        return None;
    }
    eprintln!("{command}: Too many arguments");
    Some(USAGE)
}

fn missing(command: &str, what: &str) -> i32 {
    eprintln!("{what}\nUsage: {}", TOOL.long(command));
    USAGE
}

fn list_policies(client: &DfsClient) -> Result<(), ClientError> {
    let policies = client.get_ec_policies()?;
    println!("Erasure Coding Policies:");
    policies.iter().for_each(|policy| println!("{}", describe(policy)));
    Ok(())
}

/// As Java prints a policy. A built-in one may come as its id alone.
fn describe(policy: &EcPolicy) -> String {
    let known = ErasureCodingPolicy::all_built_in().into_iter().find(|p| u32::from(p.id) == policy.id);
    let schema = policy.schema.clone().unwrap_or_default();
    let p = known.unwrap_or_else(|| ErasureCodingPolicy {
        id: policy.id as u8,
        name: policy.name.clone().unwrap_or_default(),
        codec: schema.codec_name,
        data_units: schema.data_units,
        parity_units: schema.parity_units,
        cell_size: policy.cell_size(),
        options: schema.options.into_iter().map(|o| (o.key, o.value)).collect(),
    });
    let options: String = p.options.iter().map(|(key, value)| format!(", {key}={value}")).collect();
    let state = EcPolicyState::from_number(policy.state() as i32).map_or("?", EcPolicyState::name);
    format!(
        "ErasureCodingPolicy=[Name={}, Schema=[ECSchema=[Codec={}, numDataUnits={}, numParityUnits={}{options}]], \
         CellSize={}, Id={}], State={state}",
        p.name, p.codec, p.data_units, p.parity_units, p.cell_size, p.id
    )
}

fn list_codecs(client: &DfsClient) -> Result<(), ClientError> {
    let codecs = client.get_ec_codecs()?;
    if codecs.is_empty() {
        println!("No erasure coding codecs are supported on the cluster.");
        return Ok(());
    }
    println!("Erasure Coding Codecs: Codec [Coder List]");
    for (codec, coders) in codecs {
        println!("\t{} [{}]", codec.to_uppercase(), coders.to_uppercase());
    }
    Ok(())
}

fn on_path(conf: &Configuration, command: &str, mut rest: Vec<String>) -> i32 {
    let Some(path) = pop(&mut rest, "-path") else {
        return missing(
            command,
            match command {
                "-getPolicy" => "Please specify the path with -path",
                "-setPolicy" => "Please specify the path for setting the EC policy.",
                _ => "Please specify a path.",
            },
        );
    };
    let (mut policy, mut replicate) = (None, false);
    if command == "-setPolicy" {
        policy = pop(&mut rest, "-policy");
        replicate = pop_switch(&mut rest, "-replicate");
    }
    if let Some(code) = too_many(command, &rest) {
        return code;
    }
    if replicate && policy.is_some() {
        eprintln!("-replicate and -policy cannot been used at the same time");
        return FAILED;
    }
    let (client, on_it) = match client_of(conf, &path) {
        Ok(found) => found,
        Err(text) => {
            eprintln!("{text}");
            return FAILED;
        }
    };
    match command {
        "-getPolicy" => answer(client.get_ec_policy(&on_it).map(|found| match found {
            Some(name) => println!("{name}"),
            None => println!("The erasure coding policy of {path} is unspecified"),
        })),
        "-setPolicy" => set(&client, &path, &on_it, if replicate { Some("replication".into()) } else { policy }),
        _ => unset(&client, &path, &on_it),
    }
}

fn has_children(client: &DfsClient, path: &str) -> bool {
    client.list_status(path).is_ok_and(|children| !children.is_empty())
}

fn set(client: &DfsClient, path: &str, on_it: &str, policy: Option<String>) -> i32 {
    if let Err(error) = client.set_ec_policy(on_it, policy.as_deref()) {
        return answer(Err(error));
    }
    let name = policy.unwrap_or_else(|| "default".into());
    println!("Set {name} erasure coding policy on {path}");
    if has_children(client, on_it) {
        println!(
            "Warning: setting erasure coding policy on a non-empty directory will not automatically convert existing files \
             to {name} erasure coding policy"
        );
    }
    0
}

fn unset(client: &DfsClient, path: &str, on_it: &str) -> i32 {
    match client.unset_ec_policy(on_it) {
        Ok(()) => {
            println!("Unset erasure coding policy from {path}");
            if has_children(client, on_it) {
                println!(
                    "Warning: unsetting erasure coding policy on a non-empty directory will not automatically convert \
                     existing files to replicated data"
                );
            }
            0
        }
        Err(error) => {
            eprintln!("{}", pretty(&error));
            if error.is(ExceptionClass::NoEcPolicySet) {
                eprintln!(
                    "Use '-setPolicy -path <PATH> -replicate' to enforce default replication policy irrespective of EC \
                     policy defined on parent."
                );
            }
            FAILED
        }
    }
}

fn change(conf: &Configuration, command: &str, mut rest: Vec<String>, change: EcPolicyChange) -> i32 {
    let Some(name) = pop(&mut rest, "-policy") else {
        return missing(command, "Please specify the policy name.");
    };
    if let Some(code) = too_many(command, &rest) {
        return code;
    }
    let done = DfsClient::from_conf(conf, None).and_then(|client| {
        client.change_ec_policy(&name, change)?;
        Ok(client)
    });
    let client = match done {
        Ok(client) => client,
        Err(error) => return answer(Err(error)),
    };
    let what = match change {
        EcPolicyChange::Enable => "enabled",
        EcPolicyChange::Disable => "disabled",
        EcPolicyChange::Remove => "removed",
    };
    println!("Erasure coding policy {name} is {what}");
    if change == EcPolicyChange::Enable
        && let Ok((false, reason)) = client.verify_ec_topology(std::slice::from_ref(&name))
    {
        eprintln!("Warning: The cluster setup does not support EC policy {name}. Reason: {reason}");
    }
    0
}

fn verify(conf: &Configuration, command: &str, mut rest: Vec<String>) -> i32 {
    let named = !rest.is_empty();
    if named && rest.remove(0) != "-policy" {
        return missing(command, "Please specify the policies with -policy.");
    }
    if named && rest.is_empty() {
        return missing(command, "Please specify some policies.");
    }
    match DfsClient::from_conf(conf, None).and_then(|client| client.verify_ec_topology(&rest)) {
        Ok((supported, text)) => {
            println!("{text}");
            if supported { 0 } else { FAILED }
        }
        Err(error) => answer(Err(error)),
    }
}
