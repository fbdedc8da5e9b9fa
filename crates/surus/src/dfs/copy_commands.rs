//! `-put`, `-get`, `-cp`, `-mv`, `-moveFromLocal`, `-moveToLocal`. Source: `CopyCommands.java`, `MoveCommands.java`,
//! Hadoop 3.5.0.

use super::copy::{Action, Copy, CopyOptions, Preserve, local_destination, remote_destination};
use super::error::{Result, ShellError};
use super::format::{CommandFormat, Options};
use super::fs::{Fs, PathData};
use super::shell::{Shell, expand_all};

const PUT: CommandFormat = CommandFormat::new(1, usize::MAX, &["f", "p", "l", "d"]).valued(&["t", "q"]);
const GET: CommandFormat = CommandFormat::new(1, usize::MAX, &["crc", "ignoreCrc", "p", "f"]).valued(&["t", "q"]);
const CP: CommandFormat = CommandFormat::new(2, usize::MAX, &["f", "d"]).valued(&["t", "q"]);
const MV: CommandFormat = CommandFormat::new(2, usize::MAX, &[]);
const MOVE_FROM_LOCAL: CommandFormat = CommandFormat::new(1, usize::MAX, &["f", "p", "l", "d"]).valued(&["t", "q"]);

/// Paths of the machine's own files; they are no patterns.
fn local_items(shell: &mut Shell<'_>, arguments: &[String]) -> Result<Vec<PathData>> {
    let mut items = Vec::new();
    for text in arguments {
        match PathData::look_up(&Fs::Local, text) {
            Ok(item) => items.push(item),
            Err(error) => shell.display(error)?,
        }
    }
    Ok(items)
}

fn put_options(options: &Options) -> CopyOptions {
    CopyOptions {
        overwrite: options.has("f"),
        direct: options.has("d"),
        lazy_persist: options.has("l"),
        preserve: if options.has("p") { Preserve::USUAL } else { Preserve::default() },
        ..CopyOptions::default()
    }
}

pub fn put(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = PUT.parse(arguments)?;
    let mut paths = options.arguments.clone();
    let dst = remote_destination(shell, &mut paths)?;
    let mut copy = Copy { dst, options: put_options(&options), action: Action::Copy };
    if paths == ["-"] {
        let target = copy.target_of(0, &PathData::new(&Fs::Local, "-", None))?;
        return copy.copy_stream(shell, &mut std::io::stdin().lock(), &target);
    }
    let items = local_items(shell, &paths)?;
    copy.run(shell, items)
}

pub fn move_from_local(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = MOVE_FROM_LOCAL.parse(arguments)?;
    let mut paths = options.arguments.clone();
    let dst = remote_destination(shell, &mut paths)?;
    let items = local_items(shell, &paths)?;
    Copy { dst, options: put_options(&options), action: Action::MoveFromLocal }.run(shell, items)
}

pub fn get(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = GET.parse(arguments)?;
    let mut paths = options.arguments.clone();
    let dst = local_destination(&mut paths)?;
    let copy_options = CopyOptions {
        overwrite: options.has("f"),
        verify: !options.has("ignoreCrc"),
        write_crc: options.has("crc"),
        preserve: if options.has("p") { Preserve::USUAL } else { Preserve::default() },
        ..CopyOptions::default()
    };
    let mut copy = Copy { dst, options: copy_options, action: Action::Copy };
    let items = expand_all(&mut copy, shell, &paths)?;
    copy.run(shell, items)
}

pub fn cp(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let (preserve, rest) = take_preserve(arguments)?;
    let options = CP.parse(&rest)?;
    let mut paths = options.arguments.clone();
    let dst = remote_destination(shell, &mut paths)?;
    let copy_options =
        CopyOptions { overwrite: options.has("f"), direct: options.has("d"), preserve, ..CopyOptions::default() };
    let mut copy = Copy { dst, options: copy_options, action: Action::Copy };
    let items = expand_all(&mut copy, shell, &paths)?;
    copy.run(shell, items)
}

/// Takes `-p` or `-p[topax]` out of the options before the first path.
fn take_preserve(arguments: &[String]) -> Result<(Preserve, Vec<String>)> {
    let mut preserve = Preserve::default();
    let mut rest = Vec::with_capacity(arguments.len());
    let mut in_options = true;
    for argument in arguments {
        in_options &= argument.starts_with('-') && argument != "-" && argument != "--";
        match argument.strip_prefix("-p").filter(|_| in_options) {
            Some("") => preserve = Preserve::USUAL,
            Some(letters) => {
                for letter in letters.chars() {
                    match letter.to_ascii_lowercase() {
                        't' => preserve.timestamps = true,
                        'o' => preserve.ownership = true,
                        'p' => preserve.permission = true,
                        'a' => preserve.acl = true,
                        'x' => preserve.xattrs = true,
                        other => {
                            return Err(ShellError::Illegal(format!(
                                "No enum constant org.apache.hadoop.fs.shell.CommandWithDestination.FileAttribute.{other}"
                            )));
                        }
                    }
                }
            }
            None => rest.push(argument.clone()),
        }
    }
    Ok((preserve, rest))
}

pub fn mv(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = MV.parse(arguments)?;
    let mut paths = options.arguments;
    let dst = remote_destination(shell, &mut paths)?;
    let mut copy = Copy { dst, options: CopyOptions::default(), action: Action::Rename };
    let items = expand_all(&mut copy, shell, &paths)?;
    copy.run(shell, items)
}

pub fn move_to_local(_: &mut Shell<'_>, _: &[String]) -> Result<()> {
    Err(ShellError::Message("Option '-moveToLocal' is not implemented yet.".to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preserve_takes_letters() {
        let take = |words: &[&str]| take_preserve(&words.iter().map(|w| w.to_string()).collect::<Vec<_>>());
        let (preserve, rest) = take(&["-f", "-pt", "a", "-p"]).unwrap();
        assert!(preserve.timestamps && !preserve.ownership);
        assert_eq!(rest, ["-f", "a", "-p"]);
        assert_eq!(take(&["-p", "a"]).unwrap().0, Preserve::USUAL);
        assert!(take(&["-pz", "a"]).is_err());
    }
}
