//! `cargo xtask mutate-syncs`: turns each named sync call off in turn; a crash test must fail, or the call has its reason.

use anyhow::Result;

pub fn run() -> Result<()> {
    anyhow::bail!("no sync points are registered")
}
