//! `-getfacl` and `-setfacl`. Source: `AclCommands.java`, `AclEntry.java`, `AclUtil.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use surus_client::{AclChange, AclEntry, AclScope, AclType};
use surus_types::acl::parse_acl_spec;
use surus_types::{FsAction, FsPermission};

const GETFACL: CommandFormat = CommandFormat::new(1, 1, &["R"]);
const SETFACL: CommandFormat = CommandFormat::new(0, usize::MAX, &["b", "k", "R", "m", "x", "-set"]);

/// Four letters' worth of an entry: `default:user:alice:rwx`.
fn entry_text(entry: &AclEntry) -> String {
    let scope = if is_default(entry) { "default:" } else { "" };
    let kind = match entry.r#type() {
        AclType::User => "user",
        AclType::Group => "group",
        AclType::Mask => "mask",
        AclType::Other => "other",
    };
    format!("{scope}{kind}:{}:{}", entry.name.as_deref().unwrap_or(""), action_text(entry.permissions))
}

fn action_text(bits: i32) -> String {
    [(4, 'r'), (2, 'w'), (1, 'x')].iter().map(|(bit, letter)| if bits & bit != 0 { *letter } else { '-' }).collect()
}

fn is_default(entry: &AclEntry) -> bool {
    entry.scope() == AclScope::Default
}

struct Getfacl {
    recursive: bool,
}

pub fn getfacl(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = GETFACL.parse(arguments).map_err(|error| match error {
        ShellError::Illegal(text) if text.starts_with("Not enough") => ShellError::Illegal("<path> is missing".into()),
        ShellError::Illegal(text) if text.starts_with("Too many") => ShellError::Illegal("Too many arguments".into()),
        other => other,
    })?;
    process(&mut Getfacl { recursive: options.has("R") }, shell, &options.arguments)
}

impl Command for Getfacl {
    fn is_recursive(&self) -> bool {
        self.recursive
    }

    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let stat = item.status()?;
        let entries = match item.fs.client().filter(|_| stat.has_acl()) {
            Some(client) => client.get_acl_status(&item.path)?.entries,
            None => Vec::new(),
        };
        let mut lines = vec![
            format!("# file: {}", item.text),
            format!("# owner: {}", stat.owner),
            format!("# group: {}", stat.group),
        ];
        if stat.permission.is_sticky() {
            let letter = if stat.permission.other_action().implies(FsAction::EXECUTE) { 't' } else { 'T' };
            lines.push(format!("# flags: --{letter}"));
        }
        lines.extend(acl_lines(stat.permission, &entries));
        lines.push(String::new());
        for line in lines {
            shell.out.line(&line);
        }
        Ok(())
    }
}

/// The list that mode and extended entries make together. Source: `AclUtil.getAclFromPermAndEntries`, Hadoop 3.5.0.
pub fn whole(permission: FsPermission, entries: &[AclEntry]) -> Vec<AclEntry> {
    let (default, access): (Vec<&AclEntry>, Vec<&AclEntry>) = entries.iter().partition(|entry| is_default(entry));
    let base = |kind: AclType, action: FsAction| AclEntry {
        r#type: kind as i32,
        scope: AclScope::Access as i32,
        permissions: action.0.into(),
        name: None,
    };
    // With access entries the mode's group bits are the mask.
    let group = if access.is_empty() { AclType::Group } else { AclType::Mask };
    let mut list = vec![base(AclType::User, permission.user_action())];
    list.extend(access.into_iter().cloned());
    list.push(base(group, permission.group_action()));
    list.push(base(AclType::Other, permission.other_action()));
    list.extend(default.into_iter().cloned());
    list
}

fn acl_lines(permission: FsPermission, entries: &[AclEntry]) -> Vec<String> {
    let list = whole(permission, entries);
    let mask = |scope: AclScope| {
        let mask = list.iter().find(|entry| entry.scope() == scope && entry.r#type() == AclType::Mask);
        mask.map_or(7, |entry| entry.permissions)
    };
    list.iter().map(|entry| with_effect(entry, mask(entry.scope()))).collect()
}

/// An entry, with what the mask leaves of it where that is less.
fn with_effect(entry: &AclEntry, mask: i32) -> String {
    let masked = entry.name.is_some() || entry.r#type() == AclType::Group;
    let effective = entry.permissions & mask;
    match masked && effective != entry.permissions {
        true => format!("{}\t#effective:{}", entry_text(entry), action_text(effective)),
        false => entry_text(entry),
    }
}

struct Setfacl {
    recursive: bool,
    change: AclChange,
    entries: Vec<AclEntry>,
}

pub fn setfacl(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = SETFACL.parse(arguments)?;
    let illegal = |text: &str| Err(ShellError::Illegal(text.to_string()));
    let changes = [
        ("b", AclChange::RemoveAll),
        ("k", AclChange::RemoveDefault),
        ("m", AclChange::Modify),
        ("x", AclChange::Remove),
        ("-set", AclChange::Set),
    ];
    let mut chosen = changes.iter().filter(|(flag, _)| options.has(flag)).map(|(_, change)| *change);
    let Some(change) = chosen.next() else {
        return illegal(match options.arguments.len() {
            0 => "<path> is missing",
            _ => "Expected one of -b, -k, -m, -x or --set options",
        });
    };
    if chosen.next().is_some() {
        return illegal("Specified flags contains both remove and modify flags");
    }
    let mut paths = options.arguments.clone();
    let mut entries = Vec::new();
    if matches!(change, AclChange::Modify | AclChange::Remove | AclChange::Set) {
        match paths.len() {
            0 => return illegal("Missing arguments: <acl_spec> <path>"),
            1 => return illegal("Missing either <acl_spec> or <path>"),
            _ => {}
        }
        entries = parse_spec(&paths.remove(0), change != AclChange::Remove)?;
        if entries.is_empty() {
            return illegal("Missing <acl_spec> entry");
        }
    }
    match paths.len() {
        0 => return illegal("<path> is missing"),
        1 => {}
        _ => return illegal("Too many arguments"),
    }
    process(&mut Setfacl { recursive: options.has("R"), change, entries }, shell, &paths)
}

fn parse_spec(text: &str, with_permission: bool) -> Result<Vec<AclEntry>> {
    let entry = |entry: surus_types::AclEntry| AclEntry {
        r#type: entry.kind as i32,
        scope: i32::from(entry.is_default),
        permissions: entry.permission.into(),
        name: entry.name.map(|name| name.to_string()),
    };
    match parse_acl_spec(text, with_permission) {
        Ok(entries) => Ok(entries.into_iter().map(entry).collect()),
        Err(error) => Err(ShellError::Illegal(error.message)),
    }
}

impl Command for Setfacl {
    fn is_recursive(&self) -> bool {
        self.recursive
    }

    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let Some(client) = item.fs.client() else {
            return Err(ShellError::Message("the local file system has no ACLs".into()));
        };
        // Going down a tree, files get only what files can have.
        let entries: Vec<AclEntry> = self
            .entries
            .iter()
            .filter(|entry| !self.recursive || item.is_dir() || !is_default(entry))
            .cloned()
            .collect();
        if entries.is_empty() && !self.entries.is_empty() {
            return Ok(());
        }
        Ok(client.change_acl(&item.path, self.change, &entries)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_shows_what_the_mask_leaves() {
        let entries =
            parse_spec("user:bob:rwx,group::r-x,default:user::rwx,default:mask::r--,default:group:g:rw-", true)
                .unwrap();
        assert_eq!(
            acl_lines(FsPermission(0o754), &entries),
            [
                "user::rwx",
                "user:bob:rwx\t#effective:r-x",
                "group::r-x",
                "mask::r-x",
                "other::r--",
                "default:user::rwx",
                "default:mask::r--",
                "default:group:g:rw-\t#effective:r--"
            ]
        );
        assert_eq!(acl_lines(FsPermission(0o640), &[]), ["user::rw-", "group::r--", "other::---"]);
    }

    #[test]
    fn specs_that_are_none() {
        for bad in ["user:a", "usr:a:rwx", "user:a:rwq", "user:a:rw"] {
            assert!(parse_spec(bad, true).is_err(), "{bad}");
        }
        assert_eq!(parse_spec("user:a", false).unwrap().len(), 1);
        assert!(parse_spec("user:a:rwx", false).is_err());
    }
}
