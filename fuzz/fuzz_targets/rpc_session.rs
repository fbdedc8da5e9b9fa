//! libFuzzer over the target `rpc_session` of `surus_testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| surus_testkit::fuzz::run("rpc_session", data));
