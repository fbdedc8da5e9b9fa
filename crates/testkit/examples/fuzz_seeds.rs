//! Writes the seeds of every fuzz target into `DIR/TARGET/N`, where libFuzzer starts from. `cargo xtask fuzz` calls it, and takes the
//! names of the targets from what it prints.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(std::io::Error::other("usage: fuzz_seeds DIR"));
    };
    for target in surus_testkit::fuzz::TARGETS {
        let dir = dir.join(target.name);
        std::fs::create_dir_all(&dir)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(dir.join(number.to_string()), seed)?;
        }
        println!("{}", target.name);
    }
    Ok(())
}
