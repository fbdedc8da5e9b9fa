//! libFuzzer over the target `pipeline_ack` of `surus_testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| surus_testkit::fuzz::run("pipeline_ack", data));
