//! Compiles every `.proto` file beside it with a pure-Rust compiler, so that no `protoc` is needed.

fn main() {
    let mut files: Vec<_> = std::fs::read_dir("proto")
        .expect("crates/proto/proto exists")
        .map(|entry| entry.expect("readable directory").path())
        .filter(|path| path.extension().is_some_and(|e| e == "proto"))
        .collect();
    files.sort();
    println!("cargo:rerun-if-changed=proto");
    let descriptors = protox::compile(&files, ["proto"]).expect("the .proto files are valid");
    prost_build::Config::new()
        .btree_map(["."])
        // `wire` finds the table of required fields of a message by its protobuf name.
        .enable_type_names()
        .bytes([
            ".hadoop.common.RpcRequestHeaderProto.clientId",
            ".hadoop.common.RpcResponseHeaderProto.clientId",
            ".hadoop.hdfs.datanode.StorageBlockReportProto.blocksBuffers",
        ])
        .include_file("all.rs")
        .compile_fds(descriptors)
        .expect("code generation succeeds");
}
