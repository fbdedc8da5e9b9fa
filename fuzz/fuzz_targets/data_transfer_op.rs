//! libFuzzer over the target `data_transfer_op` of `surus_testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| surus_testkit::fuzz::run("data_transfer_op", data));
