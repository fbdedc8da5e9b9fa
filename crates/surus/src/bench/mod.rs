//! `surus bench`: the floor that the RPC framing sets, and a load of metadata calls by our own client.

mod load;
mod null;

use crate::conf_files;
use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Bench {
    /// Serve the RPC protocol with empty answers and no file system: what every call costs at least
    Null {
        /// Address to listen on
        #[arg(long, default_value = "127.0.0.1:8020")]
        listen: String,
    },
    /// Load a NameNode with metadata calls
    Nn(load::LoadArgs),
}

/// Runs one benchmark.
///
/// # Errors
/// An address that cannot be bound or reached, an operation that fails.
pub fn run(config: Option<&str>, bench: &Bench) -> Result<u8> {
    match bench {
        Bench::Null { listen } => null::run(listen),
        Bench::Nn(arguments) => {
            let mut conf = conf_files::load(config)?;
            conf_files::prefer_local_file_system(&mut conf);
            load::run(&mut conf, arguments)
        }
    }
}
