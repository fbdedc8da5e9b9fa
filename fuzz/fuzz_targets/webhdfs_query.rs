//! libFuzzer over the target `webhdfs_query` of `surus_testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| surus_testkit::fuzz::run("webhdfs_query", data));
