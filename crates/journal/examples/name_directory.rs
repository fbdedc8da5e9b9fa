//! Writes a name directory with a mixed load, for Hadoop's own tools to read: `name_directory DIR SEED STEPS`; prints the
//! namespace of a directory that Hadoop wrote: `name_directory DIR`.
//! `tests/java/check.sh` runs it.

#[path = "../tests/common.rs"]
#[allow(dead_code)]
mod common;
#[path = "../tests/load.rs"]
mod load;

use std::path::PathBuf;
use std::sync::Arc;
use surus_disk::RealDisk;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, dir] = arguments.as_slice() {
        let storage = common::open(Arc::new(RealDisk), &[PathBuf::from(dir)]).unwrap();
        let loaded = storage.load(common::config(), &mut ()).unwrap_or_else(|e| panic!("{e}"));
        eprintln!("image {} last {}", loaded.image_txid, loaded.last_txid);
        print!("{}", loaded.namespace.dump());
        return;
    }
    let [_, dir, seed, steps] = arguments.as_slice() else { panic!("usage: name_directory DIR SEED STEPS") };
    let (dirs, seed, steps) = ([PathBuf::from(dir)], seed.parse().unwrap(), steps.parse::<usize>().unwrap());
    common::format_dirs(&RealDisk, &dirs);
    let mut fs = common::Running::start(Arc::new(RealDisk), &dirs).unwrap();
    let mut load = load::MixedLoad::new(seed);
    for step in 0..steps {
        for op in load.step() {
            fs.run(op);
        }
        if step == steps / 3 {
            fs.log.roll();
        }
        if step == steps / 2 {
            println!("checkpoint at {}", fs.checkpoint().unwrap());
        }
    }
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    print!("{}", fs.namespace.dump());
    // As a killed NameNode leaves it: the last segment stays in progress.
    std::process::exit(0);
}
