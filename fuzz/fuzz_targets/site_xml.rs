//! libFuzzer over the target `site_xml` of `surus_testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| surus_testkit::fuzz::run("site_xml", data));
