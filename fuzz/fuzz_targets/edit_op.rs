//! libFuzzer over the target `edit_op` of `surus_testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| surus_testkit::fuzz::run("edit_op", data));
