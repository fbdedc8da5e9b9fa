//! `-setQuota`, `-clrQuota`, `-setSpaceQuota`, `-clrSpaceQuota`. Source: `DFSAdmin.java`, `DFSClient.setQuota`, Hadoop 3.5.0.

use super::{Done, FAILED, Failure};
use crate::dfs::{Shell, ShellError};
use surus_client::{QUOTA_DONT_SET, QUOTA_RESET};
use surus_conf::Configuration;
use surus_types::StorageType;

/// What is done to each directory.
struct Change {
    names: i64,
    space: i64,
    storage_type: Option<StorageType>,
}

/// Runs one of the four; `name` is without its dash.
pub fn run(conf: &Configuration, name: &str, arguments: &[String]) -> Done {
    let (change, paths) = parse(name, arguments).map_err(Failure::Illegal)?;
    change.check().map_err(Failure::Illegal)?;
    let mut shell = Shell::new(conf, name);
    let mut code = 0;
    for path in &paths {
        let done = apply(&mut shell, path, &change);
        if let Err(error) = done {
            code = FAILED;
            match error {
                ShellError::Illegal(text) => return Err(Failure::Illegal(text)),
                error => shell.warn(error.message().split('\n').next().unwrap_or("")),
            }
        }
    }
    Ok(code)
}

fn apply(shell: &mut Shell<'_>, path: &str, change: &Change) -> Result<(), ShellError> {
    for item in shell.expand_quietly(path)? {
        let Some(client) = item.fs.client() else {
            return Err(ShellError::Illegal(format!("FileSystem {} is not an HDFS file system", item.fs.uri())));
        };
        client.set_quota(&item.path, change.names, change.space, change.storage_type)?;
    }
    Ok(())
}

fn parse(name: &str, arguments: &[String]) -> Result<(Change, Vec<String>), String> {
    let mut rest = arguments.to_vec();
    let storage_type = match rest.iter().position(|word| word == "-storageType" && name.ends_with("SpaceQuota")) {
        Some(at) if at + 1 < rest.len() => {
            let word = rest.remove(at + 1).to_uppercase();
            rest.remove(at);
            let known = StorageType::from_name(&word);
            Some(known.ok_or_else(|| format!("No enum constant org.apache.hadoop.fs.StorageType.{word}"))?)
        }
        Some(_) => return Err("option -storageType requires 1 argument.".to_string()),
        None => None,
    };
    let least = if name.starts_with("set") { 2 } else { 1 };
    if rest.len() < least {
        return Err(format!("Not enough arguments: expected {least} but got {}", rest.len()));
    }
    let mut change = Change { names: QUOTA_DONT_SET, space: QUOTA_DONT_SET, storage_type };
    match name {
        "setQuota" => {
            let text = rest.remove(0);
            change.names = text.parse().map_err(|_| format!("For input string: \"{text}\""))?;
        }
        "clrQuota" => change.names = QUOTA_RESET,
        "setSpaceQuota" => {
            let text = rest.remove(0);
            let text = text.trim();
            change.space = bytes(text).ok_or_else(|| format!("\"{text}\" is not a valid value for a quota."))?;
        }
        _ => change.space = QUOTA_RESET,
    }
    Ok((change, rest))
}

impl Change {
    /// What Java's client refuses before it asks the NameNode.
    fn check(&self) -> Result<(), String> {
        let Change { names, space, storage_type } = *self;
        if let Some(storage_type) = storage_type {
            if space <= 0 && space != QUOTA_RESET {
                return Err(format!("Invalid values for quota :{space}"));
            }
            if storage_type.is_transient() {
                return Err(format!("Don't support Quota for storage type : {}", storage_type.name()));
            }
            return Ok(());
        }
        if names <= 0 && names != QUOTA_RESET || space < 0 && space != QUOTA_RESET {
            return Err(format!("Invalid values for quota : {names} and {space}"));
        }
        Ok(())
    }
}

/// `10`, `10m`, `1t`: binary units. Source: `StringUtils.TraditionalBinaryPrefix.string2long`, Hadoop 3.5.0.
fn bytes(text: &str) -> Option<i64> {
    const UNITS: &str = "kmgtpe";
    let last = text.chars().last()?.to_ascii_lowercase();
    let (digits, shift) = match UNITS.find(last) {
        Some(at) => (&text[..text.len() - 1], 10 * (at as u32 + 1)),
        None => (text, 0),
    };
    let number: i64 = digits.parse().ok()?;
    number.checked_mul(1i64 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_string).collect() };
        let (change, rest) = parse("setSpaceQuota", &words("1m -storageType ssd /a /b")).unwrap();
        assert_eq!((change.space, change.storage_type, rest.len()), (1 << 20, Some(StorageType::Ssd), 2));
        let (change, _) = parse("setQuota", &words("0 /a")).unwrap();
        assert_eq!(change.check().unwrap_err(), "Invalid values for quota : 0 and 9223372036854775807");
        assert!(parse("setSpaceQuota", &words("1x /a")).is_err());
        assert!(parse("clrQuota", &[]).is_err());
        let (change, _) = parse("clrSpaceQuota", &words("-storageType RAM_DISK /a")).unwrap();
        assert!(change.check().is_err());
    }
}
