//! `surus crypto`: encryption zones. Source: `CryptoAdmin.java`, `HdfsAdmin.java`, `DistributedFileSystem.java`, Hadoop 3.5.0.

use super::{FAILED, Tool, USAGE, answer, client_of, pop, pop_switch};
use crate::local_time::iso;
use surus_client::{ClientError, DfsClient, ReencryptionState, ReencryptionStatus};
use surus_conf::Configuration;
use surus_types::FsPermission;

pub const TOOL: Tool = Tool {
    name: "crypto",
    commands: &[
        ("-createZone", "-keyName <keyName> -path <path>", "Create a new encryption zone."),
        ("-listZones", "", "List all encryption zones. Requires superuser permissions."),
        ("-provisionTrash", "-path <path>", "Provision a trash directory for an encryption zone."),
        ("-getFileEncryptionInfo", "-path <path>", "Get encryption info of a file."),
        (
            "-reencryptZone",
            "<action> -path <zone>",
            "Issue a re-encryption command for an encryption zone. Requires superuser permissions.",
        ),
        (
            "-listReencryptionStatus",
            "",
            "List re-encryption statuses of encryption zones. Requires superuser permissions.",
        ),
    ],
};
const TRASH: &str = ".Trash";
const TRASH_MODE: FsPermission = FsPermission(0o1777);

/// Runs one command; returns the exit code.
pub fn run(conf: &Configuration, arguments: &[String]) -> i32 {
    let (command, mut rest) = match TOOL.command(arguments) {
        Ok(found) => found,
        Err(code) => return code,
    };
    match command {
        "-listZones" => listed(conf, &rest, list_zones),
        "-listReencryptionStatus" => listed(conf, &rest, list_statuses),
        "-reencryptZone" => reencrypt(conf, rest),
        _ => {
            let Some(path) = pop(&mut rest, "-path") else { return wrong("You must specify a path with -path.") };
            let key = pop(&mut rest, "-keyName").filter(|_| command == "-createZone");
            if command == "-createZone" && key.is_none() {
                return wrong("You must specify a key name with -keyName.");
            }
            on_path(conf, &rest, &path, |client, on_it| match (command, &key) {
                (_, Some(key)) => create_zone(client, &path, on_it, key),
                ("-provisionTrash", _) => {
                    provision_trash(client, on_it)?;
                    println!("Created a trash directory for {path}");
                    Ok(0)
                }
                _ => file_encryption_info(client, &path, on_it),
            })
        }
    }
}

fn wrong(text: &str) -> i32 {
    eprintln!("{text}");
    USAGE
}

fn too_many(rest: &[String]) -> Option<i32> {
    rest.first().map(|word| wrong(&format!("Can't understand argument: {word}")))
}

fn on_path(
    conf: &Configuration,
    rest: &[String],
    path: &str,
    run: impl FnOnce(&DfsClient, &str) -> Result<i32, ClientError>,
) -> i32 {
    if let Some(code) = too_many(rest) {
        return code;
    }
    match client_of(conf, path) {
        Ok((client, on_it)) => run(&client, &on_it).unwrap_or_else(|error| answer(Err(error))),
        Err(text) => {
            eprintln!("{text}");
            FAILED
        }
    }
}

fn listed(conf: &Configuration, rest: &[String], run: fn(&DfsClient) -> Result<(), ClientError>) -> i32 {
    too_many(rest).unwrap_or_else(|| answer(DfsClient::from_conf(conf, None).and_then(|client| run(&client))))
}

fn create_zone(client: &DfsClient, path: &str, on_it: &str, key: &str) -> Result<i32, ClientError> {
    client.create_encryption_zone(on_it, key)?;
    provision_trash(client, on_it)?;
    println!("Added encryption zone {path}");
    Ok(0)
}

/// Source: `DistributedFileSystem.provisionEZTrash`.
fn provision_trash(client: &DfsClient, path: &str) -> Result<(), ClientError> {
    let zone = client.get_ez_for_path(path)?;
    let zone = zone.ok_or_else(|| ClientError::io(format!("{path} is not an encryption zone.")))?;
    if zone.path != path {
        let text = format!("{path} is not the root of an encryption zone. Do you mean {}?", zone.path);
        return Err(ClientError::io(text));
    }
    let trash = format!("{}/{TRASH}", path.trim_end_matches('/'));
    if client.get_file_info(&trash)?.is_some() {
        let text = format!("Will not provision new trash directory for encryption zone {path}. Path already exists.");
        return Err(ClientError::io(text));
    }
    client.mkdirs(&trash, TRASH_MODE, true)?;
    client.set_permission(&trash, TRASH_MODE)
}

fn list_zones(client: &DfsClient) -> Result<(), ClientError> {
    let zones = client.list_encryption_zones()?;
    println!("{}", table(&zones.into_iter().map(|zone| vec![zone.path, zone.key_name]).collect::<Vec<_>>()));
    Ok(())
}

/// Source: `FileEncryptionInfo.toStringStable`.
fn file_encryption_info(client: &DfsClient, path: &str, on_it: &str) -> Result<i32, ClientError> {
    let Some(info) = client.get_file_encryption_info(on_it)? else {
        eprintln!("No FileEncryptionInfo found for path {path}");
        return Ok(FAILED);
    };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let cipher = if info.suite == 3 { "SM4/CTR/NoPadding" } else { "AES/CTR/NoPadding" };
    println!(
        "{{cipherSuite: {{name: {cipher}, algorithmBlockSize: 16}}, cryptoProtocolVersion: \
         CryptoProtocolVersion{{description='Encryption zones', version={}, unknownValue=null}}, edek: {}, iv: {}, \
         keyName: {}, ezKeyVersionName: {}}}",
        info.crypto_protocol_version,
        hex(&info.key),
        hex(&info.iv),
        info.key_name,
        info.ez_key_version_name
    );
    Ok(0)
}

fn reencrypt(conf: &Configuration, mut rest: Vec<String>) -> i32 {
    let zone = pop(&mut rest, "-path");
    let (start, cancel) = (pop_switch(&mut rest, "-start"), pop_switch(&mut rest, "-cancel"));
    if let Some(code) = too_many(&rest) {
        return code;
    }
    if start == cancel {
        return wrong("You must specify either [-start] or [-cancel].");
    }
    let Some(zone) = zone else { return wrong("You must specify a zone directory with [-path].") };
    on_path(conf, &rest, &zone, |client, on_it| {
        client.reencrypt_encryption_zone(on_it, cancel)?;
        let action = if cancel { "CANCEL" } else { "START" };
        println!("re-encrypt command successfully submitted for zone: {zone} action: {action}");
        Ok(0)
    })
}

fn list_statuses(client: &DfsClient) -> Result<(), ClientError> {
    let titles = [
        "Zone Name",
        "Status",
        "EZKey Version Name",
        "Submission Time",
        "Is Canceled?",
        "Completion Time",
        "Number of files re-encrypted",
        "Number of failures",
        "Last File Checkpointed",
    ];
    let statuses = client.list_reencryption_status()?;
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(statuses.iter().map(status_row));
    println!("{}", table(&rows));
    if statuses.iter().any(|status| status.num_failures > 0) {
        println!(
            "There are re-encryption failures. Files that are failed to re-encrypt are still using the old EDEKs. Please \
             check NameNode log to see which files failed, then either fix the failure and re-encrypt again, or manually copy \
             the failed files to use new EDEKs."
        );
    }
    Ok(())
}

fn status_row(status: &ReencryptionStatus) -> Vec<String> {
    let state = match status.state() {
        ReencryptionState::Submitted => "Submitted",
        ReencryptionState::Processing => "Processing",
        ReencryptionState::Completed => "Completed",
    };
    vec![
        status.path.clone(),
        state.to_owned(),
        status.ez_key_version_name.clone(),
        date(status.submission_time),
        status.canceled.to_string(),
        status.completion_time.map_or_else(|| "N/A".to_owned(), date),
        status.num_reencrypted.to_string(),
        status.num_failures.to_string(),
        status.last_file.clone().unwrap_or_default(),
    ]
}

/// `2026-11-30 20:50:34,600+0000`. Source: `CryptoAdmin.java`, `FastDateFormat`.
fn date(ms: i64) -> String {
    let iso = iso(ms);
    let (day, time, zone) = (&iso[..10], &iso[11..19], &iso[19..]);
    format!("{day} {time},{:03}{zone}", ms.rem_euclid(1000))
}

/// Columns as wide as their widest entry. Source: `TableListing.java`, Hadoop 3.5.0.
fn table(rows: &[Vec<String>]) -> String {
    let widest = |i: usize| rows.iter().map(|row| row[i].len()).max().unwrap_or(0);
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(i, text)| format!("{text:<width$} ", width = widest(i)));
        cells.collect::<Vec<_>>().join(" ") + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_table_as_java_lays_it_out() {
        let rows = [["/z", "mykey"], ["/long/path", "k"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(super::table(&rows), "/z          mykey \n/long/path  k     \n");
    }
}
