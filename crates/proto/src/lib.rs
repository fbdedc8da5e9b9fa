//! Generated protobuf code for Hadoop's wire messages, fsimage sections and edit-log parts.
//! No hand-written logic: the messages are described in the `.proto` files of this crate.
#![allow(clippy::all, rustdoc::all, missing_docs)]
#![no_std]
extern crate alloc;

include!(concat!(env!("OUT_DIR"), "/all.rs"));
