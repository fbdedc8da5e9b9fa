//! A slice of every fuzz target. `SURUS_FUZZ_RUNS` makes it longer, `SURUS_FUZZ_SEED` plays one again.

use surus_testkit::fuzz::{Mutator, TARGETS};

const RUNS: u64 = 3_000;

#[test]
fn no_decoder_panics() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let runs = number("SURUS_FUZZ_RUNS").unwrap_or(RUNS);
    let first = number("SURUS_FUZZ_SEED").unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
    });
    for target in TARGETS {
        let seeds = (target.seeds)();
        for input in &seeds {
            (target.run)(input);
        }
        for run in 0..runs {
            let seed = first.wrapping_add(run);
            let input = Mutator::new(seed).mutate(&seeds);
            let done = std::panic::catch_unwind(|| (target.run)(&input));
            assert!(done.is_ok(), "{}: SURUS_FUZZ_SEED={seed} SURUS_FUZZ_RUNS=1, input {input:02x?}", target.name);
        }
    }
}
