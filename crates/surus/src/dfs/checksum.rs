//! `-checksum`. Source: `Display.Checksum`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};

const FORMAT: CommandFormat = CommandFormat::new(1, usize::MAX, &["v"]);

struct Checksum {
    verbose: bool,
}

pub fn run(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = FORMAT.parse(arguments)?;
    process(&mut Checksum { verbose: options.has("v") }, shell, &options.arguments)
}

impl Command for Checksum {
    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if item.is_dir() {
            return Err(ShellError::is_directory(&item.text));
        }
        let Some(client) = item.fs.client() else {
            shell.out.line(&format!("{}\tNONE\t", item.text));
            return Ok(());
        };
        let checksum = client.file_checksum(&item.path)?;
        let hex: String = checksum.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut line = format!("{}\t{}\t{hex}", item.text, checksum.algorithm);
        if self.verbose {
            line += &format!("\tBlockSize={}", item.status()?.block_size);
        }
        shell.out.line(&line);
        Ok(())
    }
}
